package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHarmlessSignals sends what would end a process that does not catch it.
func TestHarmlessSignals(t *testing.T) {
	hangups := harmlessSignals()
	for _, s := range []syscall.Signal{syscall.SIGPIPE, syscall.SIGHUP} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-hangups:
	case <-time.After(10 * time.Second):
		t.Error("a hangup does not arrive")
	}
}

func TestDrainForNothing(t *testing.T) {
	for _, span := range []string{"0s", "-5m", "30"} {
		if got := run([]string{"drain", "dns", "--for", span, "--socket",
			t.TempDir() + "/none"}); got != exitConfig {
			t.Errorf("--for %s: got exit code %d, want %d", span, got, exitConfig)
		}
	}
}

func TestUsage(t *testing.T) {
	for line, want := range map[string]int{
		"": exitOK, "help": exitOK, "--version": exitOK, "help drain": exitOK,
		"statsu": exitConfig, "--statsu": exitConfig, "status x": exitConfig,
		"status --socket /nowhere/x": exitNoDaemon,
	} {
		if got := run(strings.Fields(line)); got != want {
			t.Errorf("recuse %s: got exit code %d, want %d", line, got, want)
		}
	}
}
