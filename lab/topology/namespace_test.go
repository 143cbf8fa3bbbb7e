package topology

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"recuse/netlinkx/netnstest"
)

// testNamespace makes a namespace that ends with the test.
func testNamespace(t *testing.T, name string) *Namespace {
	t.Helper()
	netnstest.Need(t)
	ns, err := newNamespace(fmt.Sprintf("%s%d-test-%s", prefix, os.Getpid(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ns.close(); err != nil && !errors.Is(err, errClosed) {
			t.Error(err)
		}
	})
	return ns
}

// TestNamespace opens the same port in two namespaces: a socket stays where it
// was opened, and what was asked of one is answered there.
func TestNamespace(t *testing.T) {
	a, b := testNamespace(t, "a"), testNamespace(t, "b")
	at := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5353}
	for _, ns := range []*Namespace{a, b} {
		server, err := ns.ListenUDP(at)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		client, err := ns.DialUDP(at)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.Write([]byte(ns.Name)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, from, err := server.ReadFromUDP(buf)
		if err != nil || string(buf[:n]) != ns.Name || from.String() != client.LocalAddr().String() {
			t.Errorf("the server in %s read %q from %v, %v", ns.Name, buf[:n], from, err)
		}
	}
}

// TestNamespaceThread shows that the namespace's thread is one for life, and
// never the main thread, by which others know this process.
func TestNamespaceThread(t *testing.T) {
	ns := testNamespace(t, "thread")
	ids := map[int]bool{}
	for range 20 {
		if err := ns.Do(func() error { ids[unix.Gettid()] = true; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if len(ids) != 1 || ids[os.Getpid()] {
		t.Errorf("ran on the threads %v of process %d", ids, os.Getpid())
	}
}

func TestNamespaceClosed(t *testing.T) {
	ns := testNamespace(t, "closed")
	if err := ns.close(); err != nil {
		t.Fatal(err)
	}
	if err := ns.Do(func() error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("error %v after the end, want %v", err, errClosed)
	}
	if err := ns.close(); !errors.Is(err, errClosed) {
		t.Errorf("error %v of a second close, want %v", err, errClosed)
	}
	if exists(filepath.Join(netnsDir, ns.Name)) {
		t.Error("its name is still there")
	}
}

func TestSysctl(t *testing.T) {
	ns := testNamespace(t, "sysctl")
	if err := ns.Sysctl("net/ipv4/ip_forward", "1"); err != nil {
		t.Fatal(err)
	}
	err := ns.Do(func() error {
		text, err := os.ReadFile("/proc/sys/net/ipv4/ip_forward")
		if strings.TrimSpace(string(text)) != "1" {
			t.Errorf("the setting reads %q", text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = ns.Sysctl("net/ipv4/no_such_thing", "1")
	if err == nil || !strings.Contains(err.Error(), "net/ipv4/no_such_thing to 1") {
		t.Errorf("error %v, want one that names the setting and the value", err)
	}
}
