package guest

import (
	"encoding/json"
	"fmt"
	"os"
)

// PlanPath is where the plan lies in the image.
const PlanPath = "/plan.json"

// A Plan says what to do inside.
type Plan struct {
	Modules []string // files of kernel modules, in the order of loading
	Env     []string // KEY=VALUE, for every test
	Tests   []Test
}

// A Test is one test binary.
type Test struct {
	Name string   // for people
	Path string   // the binary
	Dir  string   // where it runs, with its testdata
	Args []string // after -test.v
}

// loadPlan reads the plan of the image.
func loadPlan() (Plan, error) {
	var p Plan
	data, err := os.ReadFile(PlanPath)
	if err != nil {
		return p, fmt.Errorf("failed to read plan: %w", err)
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, fmt.Errorf("failed to parse plan: %w", err)
	}
	return p, nil
}
