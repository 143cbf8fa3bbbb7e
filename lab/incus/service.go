package incus

import (
	"context"
	"fmt"

	"recuse/lab/topology"
)

// service is a unit of a container's systemd.
type service struct {
	box  *box
	unit string
}

// Name is what the lab calls it.
func (s service) Name() string { return s.box.name + " " + s.unit }

// Running reports whether the unit is active by systemd's word; one whose
// processes are paused is.
func (s service) Running() bool {
	_, err := s.box.run(context.Background(), "systemctl", "is-active", "--quiet", s.unit)
	return err == nil
}

// Start starts it and waits until it says that it is ready. That it has failed
// often before is no reason not to.
func (s service) Start(ctx context.Context) error {
	return s.systemctl(ctx, "start")
}

// Stop stops it in order and waits.
func (s service) Stop(ctx context.Context) error { return s.systemctl(ctx, "stop") }

// Kill kills all its processes and waits.
func (s service) Kill(ctx context.Context) error {
	if err := s.systemctl(ctx, "kill", "--signal", "KILL"); err != nil {
		return err
	}
	return topology.WaitFor(ctx, s.Name()+" end", func() (bool, string) { return !s.Running(), "it runs" })
}

// Pause stops its processes where they stand.
func (s service) Pause() error {
	return s.systemctl(context.Background(), "kill", "--signal", "STOP")
}

// Continue lets them go on.
func (s service) Continue() error {
	return s.systemctl(context.Background(), "kill", "--signal", "CONT")
}

// systemctl runs systemctl on the unit.
func (s service) systemctl(ctx context.Context, args ...string) error {
	if args[0] == "start" {
		if _, err := s.box.run(ctx, "systemctl", "reset-failed", s.unit); err != nil {
			return fmt.Errorf("failed to forget what became of %s: %w", s.Name(), err)
		}
	}
	if _, err := s.box.run(ctx, append(append([]string{"systemctl"}, args...), s.unit)...); err != nil {
		return fmt.Errorf("failed to %s %s: %w", args[0], s.Name(), err)
	}
	return nil
}
