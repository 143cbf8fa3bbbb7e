package agent

import (
	"maps"
	"slices"
	"sync"
)

// alarms are what an operator should mend though no route hangs on it, by what
// it is about. Any goroutine may raise and end one.
type alarms struct {
	mu sync.Mutex
	by map[string]string
}

// set raises an alarm, or ends it where there is no text.
func (a *alarms) set(about, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]string{}
	}
	a.by[about] = text
	if text == "" {
		delete(a.by, about)
	}
}

// list gives the texts, in a fixed order.
func (a *alarms) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	texts := []string{}
	for _, about := range slices.Sorted(maps.Keys(a.by)) {
		texts = append(texts, a.by[about])
	}
	return texts
}
