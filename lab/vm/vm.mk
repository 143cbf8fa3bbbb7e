# Tests on kernels that this machine does not have. The kernels are fetched once
# into out/vm; a run takes some seconds for each architecture.

VM_ARCHES  ?= arm64 amd64
VM_TESTS   ?= ./netlinkx ./agent:TestKernel ./lab/vm/clock
VM_MODULES ?= dummy,ifb,bridge,veth,sch_netem
VM_ENV     ?= RECUSE_TEST_LINK_KIND=dummy,RECUSE_TEST_REQUIRE_ROOT=1

vm-empty :=
vm-space := $(vm-empty) $(vm-empty)
vm-comma := ,

.PHONY: test-vm vm-deps
test-vm: vm-deps $(VM_ARCHES:%=out/vm/%/complete)
	$(GO) run ./lab/vm/cmd/vmtest -kernels out/vm \
		-arch $(subst $(vm-space),$(vm-comma),$(strip $(VM_ARCHES))) \
		-modules $(VM_MODULES) -env $(VM_ENV) $(VM_TESTS)

out/vm/%/complete:
	lab/vm/fetch-kernel.sh $* out/vm/$*

vm-deps:
	@$(MAKE) --no-print-directory deps PACKAGES="qemu-system-arm qemu-system-x86 xz-utils"
