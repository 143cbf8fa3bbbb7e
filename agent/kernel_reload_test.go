package agent

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/netlinkx"
	"recuse/netlinkx/netlinktest"
	"recuse/netlinkx/netnstest"
)

// edit changes the agent's configuration file.
func (k *kernelRun) edit(old, now string) {
	k.t.Helper()
	path := k.agent.conf.Path
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.ReplaceAll(string(text), old,
			now)), 0o600)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

// reload asks for one, and gives its error.
func (k *kernelRun) reload(r control.Reload) error {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := k.agent.Reload(ctx, r)
	return err
}

// TestKernelReload gives another link to a service whose link is kept: what the
// old link bears is no conflict of the new settings, and the agent that is made
// anew in this process can have it all. Before that, a service that cannot have
// its link is refused for the same reason however often it is asked for.
func TestKernelReload(t *testing.T) {
	if !netnstest.Isolate(t) {
		return
	}
	k := newKernelRun(t)
	k.serve()
	k.waitFor("up", func() bool { return k.phase() == "serving" })
	other := netlinktest.NewBox(t, netlinkx.Config{Service: "web",
		Link: "anycast2", Kind: k.kind, Addresses: []prefix{prefixOf("192.0.2.80/32")}})
	other.AddLink(k.kind, "")
	const web = "services:\n  - name: web\n    addresses: [192.0.2.80/32]\n" +
		"    link: {name: anycast2, kind: KIND}\n" +
		"    checks: [{dns: {server: \"127.0.0.1:53\"}}]\n"
	added := strings.ReplaceAll(web, "KIND", k.kind)
	k.edit("services:\n", added)
	for range 2 {
		if err := k.reload(control.Reload{}); !errors.Is(err, netlinkx.ErrForeign) {
			t.Errorf("got error %v, want one of a foreign link", err)
		}
	}
	k.edit(added, "services:\n")
	k.edit("link: {kind", "link: {when_out: keep, kind")
	if err := k.reload(control.Reload{}); err != nil {
		t.Fatal(err)
	}
	k.edit("link: {when_out", "link: {name: anycast1, when_out")
	if err := k.reload(control.Reload{}); err == nil ||
		!strings.Contains(err.Error(), "--allow-withdraw") {
		t.Errorf("unexpected answer: %v", err)
	}
	if err := k.reload(control.Reload{AllowWithdraw: true}); err != nil {
		t.Fatal(err)
	}
	k.anew()
	k.waitFor("on the new link", func() bool { return k.phase() == "serving" })
	if got := k.box.String(); strings.Contains(got, "link anycast0") {
		t.Errorf("left behind:\n%s", got)
	}
	k.edit("asn: 65011", "asn: 65012")
	if err := k.reload(control.Reload{AllowWithdraw: true}); err != nil {
		t.Fatal(err)
	}
	k.anew()
	k.end()
}

// anew makes the agent that a Restart asks for.
func (k *kernelRun) anew() {
	k.t.Helper()
	var again *Restart
	select {
	case err := <-k.done:
		if !errors.As(err, &again) {
			k.t.Fatalf("unexpected end: %v", err)
		}
	case <-time.After(20 * time.Second):
		k.t.Fatal("the agent does not end")
	}
	log := NewLog(os.Stdout, config.Log{})
	k.t.Cleanup(log.Close)
	var err error
	if k.agent, err = New(again.Config, "test", log); err != nil {
		k.t.Fatal(err)
	}
	var stop context.Context
	stop, k.stop = context.WithCancel(context.Background())
	go func() { k.done <- k.agent.Run(stop, stop) }()
}
