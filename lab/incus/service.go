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

// Start starts it, as its unit is again, and waits until it says that it is
// ready. That it has failed often before is no reason not to.
func (s service) Start(ctx context.Context) error {
	script := fmt.Sprintf("rm -f %s && systemctl daemon-reload && systemctl reset-failed %s && systemctl start %s",
		s.dropIn(), s.unit, s.unit)
	return s.shell(ctx, "start", script)
}

// Stop stops it in order and waits.
func (s service) Stop(ctx context.Context) error { return s.systemctl(ctx, "stop") }

// Kill kills all its processes and waits. Until the next Start nobody starts it
// again: the unit's own restart would undo the fault. Whatever else ends it, the
// unit does as it is made to.
func (s service) Kill(ctx context.Context) error {
	script := fmt.Sprintf("mkdir -p $(dirname %[1]s) && printf '[Service]\\nRestart=no\\n' >%[1]s && systemctl daemon-reload && systemctl kill --signal KILL %[2]s",
		s.dropIn(), s.unit)
	if err := s.shell(ctx, "kill", script); err != nil {
		return err
	}
	return topology.WaitFor(ctx, s.Name()+" end", func() (bool, string) { return !s.Running(), "it runs" })
}

// dropIn is the path of what makes the unit not restart.
func (s service) dropIn() string {
	return "/run/systemd/system/" + s.unit + ".service.d/dead.conf"
}

// shell runs a script in the container.
func (s service) shell(ctx context.Context, verb, script string) error {
	if _, err := s.box.run(ctx, "sh", "-c", script); err != nil {
		return fmt.Errorf("failed to %s %s: %w", verb, s.Name(), err)
	}
	return nil
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
	if _, err := s.box.run(ctx, append(append([]string{"systemctl"}, args...), s.unit)...); err != nil {
		return fmt.Errorf("failed to %s %s: %w", args[0], s.Name(), err)
	}
	return nil
}
