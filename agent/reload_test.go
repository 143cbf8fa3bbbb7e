package agent

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"recuse/agent/config"
	"recuse/agent/control"
	"recuse/bgp"
	"recuse/probe"
	"recuse/probe/dnsx"
)

func TestHarms(t *testing.T) {
	base := func() *config.Config {
		return &config.Config{
			BGP: bgp.Config{ASN: 65011, Peers: []bgp.Peer{
				{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65000}}},
			Services: []config.Service{{Name: "dns",
				Addresses: []netip.Prefix{addr4, addr6},
				Link:      config.Link{Name: "anycast0", Kind: "dummy"}}}}
	}
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	tests := []struct {
		name      string
		change    func(*config.Config)
		announced func(string) bool
		want      []string
	}{
		{"nothing", func(*config.Config) {}, always, nil},
		{"asn", func(c *config.Config) { c.BGP.ASN = 65012 }, never,
			[]string{"bgp.asn: 65011 -> 65012: every session restarts"}},
		{"router id", func(c *config.Config) {
			c.BGP.RouterID = netip.MustParseAddr("192.0.2.11")
		}, never, []string{"bgp.router_id: changed: every session restarts"}},
		{"listen", func(c *config.Config) {
			c.BGP.Listen = netip.MustParseAddrPort("192.0.2.11:179")
		}, never, []string{"bgp.listen: changed: every session restarts"}},
		{"a peer removed", func(c *config.Config) { c.BGP.Peers = nil }, never,
			[]string{"bgp.peers[192.0.2.1]: removed"}},
		{"a peer added", func(c *config.Config) {
			c.BGP.Peers = append(c.BGP.Peers,
				bgp.Peer{Address: netip.MustParseAddr("192.0.2.2")})
		}, always, nil},
		{"a peer's password", func(c *config.Config) {
			c.BGP.Peers[0].Password = "x"
		}, never, []string{"bgp.peers[192.0.2.1]: its session restarts"}},
		{"a peer's attributes", func(c *config.Config) {
			c.BGP.Peers[0].Communities = []string{"65000:1"}
			c.BGP.Peers[0].NextHopV6 = netip.MustParseAddr("2001:db8::1")
			c.BGP.Communities = []string{"65000:2"}
			c.BGP.Deprefer.Prepend = 5
		}, always, nil},
		{"an address removed", func(c *config.Config) {
			c.Services[0].Addresses = c.Services[0].Addresses[:1]
		}, always, []string{"services[dns].addresses: 2001:db8:9::53/128 " +
			"removed while it is announced"}},
		{"an address removed, not announced", func(c *config.Config) {
			c.Services[0].Addresses = c.Services[0].Addresses[:1]
		}, never, nil},
		{"a link", func(c *config.Config) {
			c.Services[0].Link.Kind = "ifb"
		}, never, []string{
			"services[dns].link: anycast0 (dummy) -> anycast0 (ifb)"}},
		{"a service removed", func(c *config.Config) { c.Services = nil },
			always, []string{"services[dns]: removed while it is announced"}},
		{"a service removed, not announced", func(c *config.Config) {
			c.Services = nil
		}, never, nil},
		{"another name", func(c *config.Config) { c.Services[0].Name = "web" },
			never, []string{
				"services[web].link: anycast0 is that of services[dns]",
				"services[web].addresses: 192.0.2.53/32 is that of services[dns]",
				"services[web].addresses: 2001:db8:9::53/128 is that of services[dns]"}},
		{"host routes in place of covering ones", func(c *config.Config) {
			c.Services[0].Announce = []netip.Prefix{prefixOf("192.0.2.0/24")}
		}, always, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			after := base()
			tt.change(after)
			got := harms(base(), after, tt.announced)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unexpected harms (-want +got):\n%s", diff)
			}
		})
	}
}

// reloads gives the loop another configuration of its one service.
func (w *world) reloads(r control.Reload, change func(*config.Config)) (
	control.Reloaded, error) {
	next := *w.loop.conf
	next.Services = []config.Service{w.svc.conf}
	change(&next)
	var done control.Reloaded
	var err error
	if e := w.loop.call(context.Background(), func() {
		done, err = w.loop.reload(&next, r)
	}); e != nil {
		w.t.Fatal(e)
	}
	synctest.Wait()
	return done, err
}

// dnsCheck is a check of a server that does not exist; what matters is when it
// counts.
func dnsCheck(name string) config.Check {
	server, err := dnsx.ParseServer("127.0.0.1:1")
	if err != nil {
		panic(err)
	}
	c := testCheck(name)
	return config.Check{Check: c, Kind: config.CheckDNS,
		DNS: &dnsx.Config{Server: server, Name: "{random}.lan", Type: 1,
			Rcodes: []int{0}}}
}

func TestReloadChangesRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		done, err := w.reloads(control.Reload{}, func(c *config.Config) {
			c.Services[0].On.Sick = config.Withdraw
			c.Services[0].Checks = nil
			c.BGP.Communities = []string{"65000:53"}
		})
		if err != nil || len(done.Harms) != 0 {
			t.Fatalf("unexpected answer: %+v, %v", done, err)
		}
		w.expect("4.1s bgp update: communities [65000:53]") // and no route moved
		if w.svc.rules.Sick != Withdraw {
			t.Errorf("unexpected rules: %+v", w.svc.rules)
		}
	})
}

// TestReloadKeepsTheRouteForANewCheck proves that a check that came with a
// reload, and never passed, costs nothing.
func TestReloadKeepsTheRouteForANewCheck(t *testing.T) {
	s := &service{policy: Policy{}, checks: []*check{
		{name: "old", prime: true, last: probe.Report{Verdict: probe.Verdict{Level: probe.OK}}},
		{name: "new", fresh: true, last: probe.Report{Verdict: probe.Verdict{Level: probe.Sick}}},
	}}
	if o := Combine(s.policy, s.evidence()); o.Level != probe.OK || !o.Ready {
		t.Errorf("a check that never passed counts: %+v", o)
	}
	l := newLoop(nil, nil, nil, About{})
	l.log = NewLog(&strings.Builder{}, config.Log{}).Logger
	s.checks[1].take(l, s, probe.Report{Result: probe.Result{Cause: probe.Passed},
		Verdict: probe.Verdict{Level: probe.Sick}})
	if o := Combine(s.policy, s.evidence()); o.Level != probe.Sick {
		t.Errorf("a check that has passed does not count: %+v", o)
	}
}

func TestReloadRefusesWhatCostsRoutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		drop := func(c *config.Config) {
			c.Services[0].Addresses = c.Services[0].Addresses[:1]
		}
		_, err := w.reloads(control.Reload{}, drop)
		if err == nil || !strings.Contains(err.Error(), "2001:db8:9::53/128") ||
			!strings.Contains(err.Error(), "--allow-withdraw") {
			t.Errorf("unexpected answer: %v", err)
		}
		w.expect()
		done, err := w.reloads(control.Reload{DryRun: true,
			AllowWithdraw: true}, drop)
		if err != nil || !done.Restarts {
			t.Errorf("unexpected answer: %+v, %v", done, err)
		}
		w.expect()
		if done, err = w.reloads(control.Reload{AllowWithdraw: true},
			drop); err != nil || !done.Restarts {
			t.Errorf("unexpected answer: %+v, %v", done, err)
		}
		select {
		case next := <-w.loop.again:
			if len(next.Services[0].Addresses) != 1 {
				t.Errorf("unexpected configuration: %+v", next.Services[0])
			}
		default:
			t.Error("no restart was asked for")
		}
	})
}

func TestReloadAddsAnAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		extra := prefixOf("192.0.2.54/32")
		w.say(extra.Addr().String(), probe.Passed)
		w.until(5500 * time.Millisecond)
		if _, err := w.reloads(control.Reload{}, func(c *config.Config) {
			c.Services[0].Addresses = []netip.Prefix{addr4, addr6, extra}
			c.Services[0].Checks = nil
		}); err != nil {
			t.Fatal(err)
		}
		w.expect("5.5s addresses [192.0.2.53/32 2001:db8:9::53/128 192.0.2.54/32]",
			"5.5s raise", "5.5s routes [192.0.2.53/32 2001:db8:9::53/128 192.0.2.54/32]")
	})
}

// TestReloadIsAllOrNothing proves that a part that fails takes back the parts
// before it.
func TestReloadIsAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.setErr = errTest
		_, err := w.reloads(control.Reload{}, func(c *config.Config) {
			c.Services[0].Addresses = []netip.Prefix{addr4, addr6,
				prefixOf("192.0.2.54/32")}
			c.BGP.Communities = []string{"65000:53"}
		})
		if err == nil {
			t.Error("a failure is not reported")
		}
		w.setErr = nil
		w.expect("4.1s addresses [192.0.2.53/32 2001:db8:9::53/128 192.0.2.54/32]",
			"4.1s bgp update: communities [65000:53]",
			"4.1s addresses [192.0.2.53/32 2001:db8:9::53/128]")
		if got := len(w.svc.conf.Addresses); got != 2 {
			t.Errorf("the refused configuration is in force: %d addresses", got)
		}
	})
}

func TestDraftKeepsWhatIsTheSame(t *testing.T) {
	l := newLoop(nil, nil, &config.Config{}, About{})
	s := &service{conf: config.Service{Name: "dns"}}
	first, err := l.maker.check(s, dnsCheck("a"), true)
	if err != nil {
		t.Fatal(err)
	}
	s.checks = []*check{first}
	same, err := l.keepOrMake(s, dnsCheck("a"), true)
	if err != nil || same != first || same.fresh {
		t.Errorf("the same check is made anew: %v", err)
	}
	changed := dnsCheck("a")
	changed.Timeout = time.Minute
	other, err := l.keepOrMake(s, changed, true)
	if err != nil || other == first || !other.fresh {
		t.Errorf("a changed check is kept: %v", err)
	}
}

// commits puts another configuration of the service in force.
func (w *world) commits(change func(*draft)) {
	w.t.Helper()
	w.inLoop(func() {
		d := draft{service: w.svc, conf: w.svc.conf, checks: w.svc.checks,
			path: w.svc.path}
		change(&d)
		d.commit(w.loop)
	})
}

// TestReloadEndsAndBeginsTheServicePath proves that a reload without a service
// path leaves no probe behind, and that one which begins a service path costs
// no route, even if the path never passes.
func TestReloadEndsAndBeginsTheServicePath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		var path pathMaker
		w.commits(func(d *draft) { path, d.path, d.asksAnew = d.path, nil, true })
		if n := w.asked(); n != 0 {
			t.Errorf("%d addresses are still asked", n)
		}
		w.say(addr4.Addr().String(), probe.Refused)
		w.commits(func(d *draft) { d.path, d.asksAnew = path, true })
		if n := w.asked(); n != 2 {
			t.Errorf("%d addresses are asked, want 2", n)
		}
		w.until(20 * time.Second)
		w.expect()
		w.say(addr4.Addr().String(), probe.Passed)
		w.until(25 * time.Second)
		w.say(addr4.Addr().String(), probe.Refused)
		w.until(30 * time.Second)
		if got := w.read(); !strings.Contains(got, "routes []") {
			t.Errorf("a path that has passed does not count: %s", got)
		}
	})
}

func TestReloadForgetsARemovedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.commits(func(d *draft) { d.conf.Addresses = d.conf.Addresses[:1] })
		if n := w.asked(); n != 1 {
			t.Errorf("%d addresses are asked, want 1", n)
		}
	})
}

func TestReloadIsRefusedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := up(t, nil)
		defer w.finish()
		w.loop.send(stopEvent{})
		if _, err := w.reloads(control.Reload{}, func(*config.Config) {}); err == nil ||
			!strings.Contains(err.Error(), "stopping") {
			t.Errorf("unexpected answer: %v", err)
		}
	})
}

// TestLettingGo states what becomes of a link at the end of an agent.
func TestLettingGo(t *testing.T) {
	next := func(change func(*config.Service)) *config.Config {
		s := config.Service{Name: "dns", Addresses: []netip.Prefix{addr4},
			Link: config.Link{Name: "anycast0", Kind: config.KindDummy}}
		change(&s)
		return &config.Config{Services: []config.Service{s}}
	}
	for _, tt := range []struct {
		name, whenOut string
		next          *config.Config
		want          string
	}{
		{"down", config.WhenOutDown, nil, "remove"},
		{"kept", config.WhenOutKeep, nil, "release"},
		{"kept, without an address", config.WhenOutKeep,
			next(func(*config.Service) {}), "addresses [192.0.2.53/32], release"},
		{"kept until now", config.WhenOutKeep, next(func(s *config.Service) {
			s.Link.Name = "anycast1"
		}), "remove"},
		{"of a service that goes", config.WhenOutKeep, &config.Config{}, "remove"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(c *config.Service) { c.Link.WhenOut = tt.whenOut })
			if err := w.svc.letGo(tt.next); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range strings.Split(w.read(), "\n") {
				_, what, _ := strings.Cut(line, " ")
				got = append(got, what)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("unexpected steps (-want +got):\n%s", diff)
			}
		})
	}
}
