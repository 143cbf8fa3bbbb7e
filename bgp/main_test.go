package bgp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// helperEnv makes the test binary a speaker that is driven over its standard
// input: sockets of a process started by "ip netns exec" are in that
// namespace whatever goroutine opens them.
const helperEnv = "RECUSE_BGP_HELPER"

// labsAtOnce is how many labs live beside each other.
const labsAtOnce = 6

func TestMain(m *testing.M) {
	if conf := os.Getenv(helperEnv); conf != "" {
		if err := helperMain(conf, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", strconv.Itoa(labsAtOnce)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// order is one line to the helper; reply is its answer, and a line without
// Reply is a log line for the test.
type order struct {
	Do     string // set, peers, close, hurry, reset, update, alive
	Config *Config
	Routes []Route
	Text   string
	Peer   string
}

// reply answers an order.
type reply struct {
	Err   string
	Peers []PeerState
	At    time.Time // just before the order was carried out
}

// helperMain runs a speaker with conf until its input ends.
func helperMain(conf string, in io.Reader, out io.Writer) error {
	var c Config
	if err := json.Unmarshal([]byte(conf), &c); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s, err := New(c, log, func() {})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			log.Error("Run failed", "error", err)
		}
	})
	answers := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		if err := answers.Encode(s.obey(ctx, o)); err != nil {
			return err
		}
	}
	return nil
}

// obey carries out an order.
func (s *Speaker) obey(ctx context.Context, o order) reply {
	r := reply{At: time.Now()}
	var err error
	switch o.Do {
	case "set":
		err = s.Set(o.Routes)
	case "close":
		err = s.Close(ctx, o.Text)
	case "hurry":
		at, cancel := context.WithCancel(ctx)
		cancel()
		if s.Close(at, o.Text) == nil {
			err = errors.New("closed in time, which nobody gave it")
		}
		<-s.done
	case "alive":
		alive := o.Text == "yes"
		s.SetAlive(func() bool { return alive })
	case "update":
		err = s.Update(*o.Config)
	case "reset":
		err = s.ResetPeer(s.peers[0].cfg.Address, o.Text)
	}
	if err != nil {
		r.Err = err.Error()
	}
	r.Peers = s.Peers()
	return r
}
