package agent

import (
	"context"
	"os"
	"time"
)

// drainFileEvery is how often a drain_file is looked for.
const drainFileEvery = 250 * time.Millisecond

// watchDrainFile looks for a service's drain_file until ctx ends, and tells when
// it comes and goes. It has a goroutine of its own, since a look at a sick disk
// can take for ever.
func watchDrainFile(ctx context.Context, path string, tell func(exists bool)) {
	tick := time.NewTicker(drainFileEvery)
	defer tick.Stop()
	known := false
	for {
		_, err := os.Lstat(path)
		// A file that cannot be looked at changes nothing.
		if exists := err == nil; (exists || os.IsNotExist(err)) &&
			exists != known && ctx.Err() == nil {
			known = exists
			tell(exists)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
