package vm

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/lab/vm/guest"
)

func TestMachineCommand(t *testing.T) {
	tests := map[string]string{
		"amd64": "qemu-system-x86_64 -cpu max -accel tcg -m 512 -nographic -no-reboot -nic none" +
			" -kernel k -initrd i -append console=ttyS0 quiet panic=-1",
		"arm64": "qemu-system-aarch64 -M virt -cpu cortex-a57 -accel tcg -m 512 -nographic -no-reboot -nic none" +
			" -kernel k -initrd i -append console=ttyAMA0 quiet panic=-1",
	}
	for _, arch := range Arches() {
		got, err := Machine{Arch: arch, Kernel: "k", Image: "i"}.command()
		if err != nil {
			t.Fatalf("failed to make the command for %s: %v", arch, err)
		}
		if diff := cmp.Diff(tests[arch], strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: unexpected command (-want +got):\n%s", arch, diff)
		}
	}
	if _, err := (Machine{Arch: "riscv64"}).command(); err == nil || !strings.Contains(err.Error(), "known are arm64, amd64") {
		t.Errorf("got error %v for an unknown architecture", err)
	}
}

// TestMachineRun judges what programs in place of qemu print.
func TestMachineRun(t *testing.T) {
	tests := []struct {
		name   string
		script string
		want   guest.Totals
		error  string
		out    string
	}{
		{"passed", `printf 'boot\r\n--- PASS: TestX\r\nrecuse-vm-totals: 3 0 1.\r\n[ 1.0] Power down\r\n'`,
			guest.Totals{Passed: 3, Skipped: 1}, "", "boot\n--- PASS: TestX\n[ 1.0] Power down\n"},
		{"failed, whatever qemu says", `echo 'recuse-vm-totals: 3 1 0.'`, guest.Totals{Passed: 3, Failed: 1}, "", ""},
		{"qemu fails after all was said", `echo 'recuse-vm-totals: 3 0 0.'; exit 1`, guest.Totals{Passed: 3}, "", ""},
		{"kernel panic", `echo 'Kernel panic - not syncing'`, guest.Totals{}, "without totals", "Kernel panic - not syncing\n"},
		{"totals cut short", `printf 'recuse-vm-totals: 3 0'`, guest.Totals{}, "without totals", "recuse-vm-totals: 3 0\n"},
		{"qemu fails", `echo 'no such machine' >&2; exit 1`, guest.Totals{}, "exit status 1", "no such machine\n"},
		{"hangs", `echo booting; exec sleep 60`, guest.Totals{}, "not done in time", "booting\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			qemu := write(t, t.TempDir(), "qemu", "#!/bin/sh\n"+tt.script+"\n")
			var out bytes.Buffer
			got, err := Machine{Arch: "arm64", Qemu: qemu}.Run(ctx, &out)
			if (err == nil) != (tt.error == "") || err != nil && !strings.Contains(err.Error(), tt.error) {
				t.Fatalf("got error %v, want %q", err, tt.error)
			}
			if err == nil && got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if diff := cmp.Diff(tt.out, out.String()); diff != "" {
				t.Errorf("unexpected output (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (Machine{Arch: "arm64", Qemu: "/nonexistent"}).Run(t.Context(), &bytes.Buffer{}); err == nil {
		t.Error("unexpected success without qemu")
	}
}
