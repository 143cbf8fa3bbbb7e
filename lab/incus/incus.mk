# The lab on Incus: Debian containers in place of namespaces. The image is made
# once into out/incus. The machine must be Debian, and the user root.

.PHONY: lab-incus lab-incus-quick incus-deps

INCUS_TEST := RECUSE_TEST_BIN=$(CURDIR)/bin $(GO) test -tags incus -count=1 -v -timeout 20m ./lab/incus

# One scenario, as short as it goes.
lab-incus-quick: incus-deps bin/recuse bin/recuse-authority
	$(GO) vet -tags incus ./lab/incus
	$(INCUS_TEST) -run 'TestScenario'

# What scenarios do to a node, a router that is not Incus's, then every scenario
# at full length, and its report.
lab-incus: incus-deps bin/recuse bin/recuse-authority bin/recuse-lab
	$(INCUS_TEST)
	bin/recuse-lab run --backend incus --recuse bin/recuse --out out/lab-incus-$(STAMP)

incus-deps:
	@lab/incus/install.sh
