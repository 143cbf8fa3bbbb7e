package lab_test

import (
	"testing"
	"time"

	"recuse/lab/topology"
	"recuse/lab/topology/labtest"
)

func TestDoctor(t *testing.T) {
	lab := labtest.Start(t, topology.Options{Nodes: 2, BFD: &topology.BFD{Interval: 300 * time.Millisecond, Multiplier: 3}})
	ctx := t.Context()
	if err := lab.WaitAnnounced(ctx, time.Minute, lab.Nodes...); err != nil {
		t.Fatal(err)
	}
	if err := lab.WaitBFD(ctx, time.Minute, lab.Nodes...); err != nil {
		t.Fatal(err)
	}
	n := lab.Nodes[0]
	out, err := n.Run(ctx, labtest.Build(t)+"/recuse", "doctor", "-c", n.Path(topology.ConfigFile))
	t.Log(err, "\n"+out)
}
