package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"recuse/lab/bench"
	"recuse/lab/result"
	"recuse/lab/topology"
)

// standingDir holds a file for each lab that `up` raised. Who raised it holds
// the file's lock as long as it lives, so what cannot be locked stands.
const standingDir = "/run/recuse-lab/up"

// standing is a lab that `up` raised.
type standing struct {
	PID   int                 `json:"pid"`
	Setup result.Setup        `json:"setup"`
	Hosts map[string][]string `json:"hosts"` // what enters each host, by its short name: a command goes after it
}

// inside is a bench that has hosts which are no namespaces of this process.
type inside interface {
	// Inside is what enters each, by its short name.
	Inside() map[string][]string
}

// hostsOf are the hosts of the bench that this process has raised.
func hostsOf(b bench.Bench) (map[string][]string, error) {
	spaces, err := topology.NamespacesOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	hosts := map[string][]string{}
	for name, space := range spaces {
		hosts[name] = []string{"ip", "netns", "exec", space}
	}
	if b, ok := b.(inside); ok {
		maps.Copy(hosts, b.Inside())
	}
	return hosts, nil
}

// names are the hosts' names, sorted.
func (s standing) names() []string {
	var names []string
	for name := range s.Hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// stand says that this process has raised a lab. The returned function takes it
// back.
func stand(s standing) (func() error, error) {
	if err := os.MkdirAll(standingDir, 0o755); err != nil {
		return nil, fmt.Errorf("failed to say that a lab is up: %w", err)
	}
	path := filepath.Join(standingDir, strconv.Itoa(s.PID)+".json")
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("failed to say that a lab is up: %w", err)
	}
	err = errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), json.NewEncoder(f).Encode(s))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("failed to say that a lab is up: %w", err), os.Remove(path), f.Close())
	}
	return func() error { return errors.Join(os.Remove(path), f.Close()) }, nil
}

// allStanding are the labs that stand, by the number of their process. What a
// dead process left is removed.
func allStanding() ([]standing, error) {
	paths, err := filepath.Glob(filepath.Join(standingDir, "*.json"))
	if err != nil {
		return nil, err
	}
	var all []standing
	for _, path := range paths {
		s, ok, err := readStanding(path)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b standing) int { return a.PID - b.PID })
	return all, nil
}

// readStanding reads one file; not ok if its lab is gone.
func readStanding(path string) (s standing, ok bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("failed to look for labs: %w", err)
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return s, false, os.Remove(path)
	}
	if err := json.NewDecoder(f).Decode(&s); err != nil {
		return s, false, fmt.Errorf("failed to read %s: %w", path, err)
	}
	return s, true, nil
}

// oneStanding is the lab of a process, or with 0 the only one.
func oneStanding(pid int) (standing, error) {
	all, err := allStanding()
	if err != nil {
		return standing{}, err
	}
	if pid != 0 {
		i := slices.IndexFunc(all, func(s standing) bool { return s.PID == pid })
		if i < 0 {
			return standing{}, fmt.Errorf("no lab of process %d is up: there are %s", pid, pids(all))
		}
		return all[i], nil
	}
	switch len(all) {
	case 0:
		return standing{}, errors.New("no lab is up: recuse-lab up raises one")
	case 1:
		return all[0], nil
	}
	return standing{}, fmt.Errorf("%w: %d labs are up: choose with --pid: %s", errUsage, len(all), pids(all))
}

// pids lists labs for people.
func pids(all []standing) string {
	if len(all) == 0 {
		return "none"
	}
	var out []string
	for _, s := range all {
		out = append(out, strconv.Itoa(s.PID))
	}
	return join(out)
}
