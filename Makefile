# recuse: build, test, demo. Everything runs on a fresh Debian with Go; what is
# missing comes with apt. Root is needed for that, for the namespace tests and
# for the demo.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X main.version=$(VERSION)

# Debian packages that the tests and the demo drive.
PACKAGES := frr bird2 unbound nftables tcpdump iproute2 procps cpio xz-utils \
	bind9-dnsutils bind9 knot-resolver dnsmasq-base dnsdist exabgp keepalived dnsperf stress-ng

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: all build test test-go lint deps demo lab lab-quick compare lab-ready \
	soak bench-bfd bench-load clean ci

all: build

# Static binaries, arm64 first.
build:
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/recuse-linux-arm64 ./cmd/recuse
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/recuse-linux-amd64 ./cmd/recuse
	CGO_ENABLED=0 GOOS=linux GOARCH=arm GOARM=7 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/recuse-linux-armv7 ./cmd/recuse

# The binary for this machine, which the lab uses.
bin/recuse: FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/recuse
bin/recuse-authority: FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./lab/authority/recuse-authority
bin/recuse-lab: FORCE
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/recuse-lab
FORCE:

# All tests under the race detector; as root also the namespace tests against
# real routers and resolvers, none of which may then be skipped.
test: deps lint test-go

test-go: bin/recuse bin/recuse-authority
	@if [ "$$(id -u)" = 0 ]; then export RECUSE_TEST_REQUIRE_ROOT=1; \
	else echo "not root: the namespace tests are skipped"; fi; \
	RECUSE_TEST_BIN=$(CURDIR)/bin $(GO) test -race -p 2 -parallel 4 -timeout 20m ./...

lint:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# Installs what is missing, and nothing when nothing is.
deps:
	@missing=""; for p in $(PACKAGES); do \
		dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' \
			|| missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then \
		echo "installing$$missing"; \
		if [ "$$(id -u)" != 0 ]; then sudo=sudo; fi; \
		$$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			$$sudo apt-get install -y -qq --no-install-recommends $$missing; fi

# The main job in one command: a lab, a fault, what the client felt.
demo: deps bin/recuse bin/recuse-authority bin/recuse-lab
	bin/recuse-lab demo --recuse bin/recuse

# Where results go that took hours: no run is written over another.
STAMP := $(shell date +%Y%m%d-%H%M%S)

# Every scenario on every design, at full length, with the report: hours.
lab: lab-ready
	@status=0; for what in "--design baseline,relay,anycast" "all-dead --last-resort floating,policy,redirect"; do \
		bin/recuse-lab run $$what --out out/lab-$(STAMP) || status=$$?; done; exit $$status

# One run of each scenario of the anycast design, as short as its fault allows.
lab-quick: lab-ready
	rm -rf out/lab-quick
	bin/recuse-lab run --scale 0.1 --jobs 3 --out out/lab-quick

# This project beside the agents that others run, with their defaults and as
# fast as their settings go.
COMPARE := run node-frozen resolver-stopped no-lan-cached slow-200ms all-no-lan drain \
	--agent recuse,exabgp,frr-script,bird-script,keepalived --out out/compare-$(STAMP)
compare: lab-ready
	@status=0; for tuned in "" --tuned; do bin/recuse-lab $(COMPARE) $$tuned || status=$$?; done; exit $$status

lab-ready: deps bin/recuse bin/recuse-authority bin/recuse-lab

# The load generator beside dnsperf at 20,000 questions a second.
bench-load: deps
	$(GO) test -run - -bench "Dnsperf|Outstanding" -benchtime 1x -timeout 30m ./lab/load

# What takes minutes to see: ten minutes without an UPDATE, a resolver that stalls
# once a minute, and the like; two hours. One of them: SOAK=Soak/steady/frr.
SOAK ?= Soak
soak: deps bin/recuse bin/recuse-authority
	RECUSE_TEST_BIN=$(CURDIR)/bin $(GO) test -v -run - -bench $(SOAK) -benchtime 1x -timeout 4h ./lab

# False BFD downs at 50 ms x 3 beside FRR's bfdd, under load. BENCH_BFD is how
# many seconds; 1800 is the long run.
BENCH_BFD ?= 60
bench-bfd:
	$(GO) test -run - -bench FalseDowns -benchtime $(BENCH_BFD)x -timeout 2h ./bgp/bfd

ci: test build test-vm demo lab-quick lab-incus-quick

# Not out/: it holds the kernels of test-vm, which are fetched.
clean:
	rm -rf bin

-include lab/vm/vm.mk
-include lab/incus/incus.mk
