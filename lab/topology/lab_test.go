package topology_test

import (
	"context"
	"testing"
	"time"

	"github.com/miekg/dns"

	"recuse/lab/authority"
	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

func TestLab(t *testing.T) {
	for _, router := range []string{topology.FRR, topology.BIRD} {
		t.Run(router, func(t *testing.T) {
			start := time.Now()
			lab := labtest.StartBare(t, topology.Options{Router: router})
			t.Log(time.Since(start))
			ctx := t.Context()
			for _, n := range lab.Nodes {
				for _, a := range []any{n.V4, n.V6} {
					_ = a
				}
				m, err := lab.Client.Ask(ctx, n.V4, "nas.lan", dns.TypeA)
				t.Log(m, err)
				m, err = lab.Client.Ask(ctx, n.V6, "x.fresh.internet.example.", dns.TypeAAAA)
				t.Log(m, err)
			}
			lab.Authority.SetFailure(ctx, "lan.", authority.ServFail)
			m, err := lab.Client.Ask(ctx, lab.Nodes[0].V4, "foo.lan", dns.TypeA)
			t.Log(m, err)
			lab.Authority.SetFailure(ctx, "lan.", authority.None)
			if err := lab.Nodes[0].Freeze(); err != nil {
				t.Fatal(err)
			}
			c, cancel := context.WithTimeout(ctx, time.Second)
			m, err = lab.Client.Ask(c, lab.Nodes[0].V4, "foo.lan", dns.TypeA)
			cancel()
			t.Log(m, err)
			if err := lab.Nodes[0].Thaw(); err != nil {
				t.Fatal(err)
			}
			m, err = lab.Client.Ask(ctx, lab.Nodes[0].V4, "foo.lan", dns.TypeA)
			t.Log(m, err)
			start = time.Now()
			t.Log(lab.Close(), time.Since(start))
		})
	}
}
