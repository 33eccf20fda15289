# SPDX-License-Identifier: BSD-2-Clause
#
# Implementations of the crypto API as devices: `make test-bridge`, and
# `make test-bridge DEBUG=1` on the debug kernel.

BRIDGE_DIFFERS := $(addprefix $(B)/selftests/,linux_differ linux_differ_auth \
		    bsd_differ)
BRIDGE_VM := $(VM) $(if $(DEBUG),--debug --timeout 7200 \
	--append panic_on_warn=1 --env OCF_ROUNDS=$(or $(OCF_ROUNDS),10%),\
	$(WATCHFUL) --env OCF_ROUNDS=$(or $(OCF_ROUNDS),15%))
# for what is not silent, however late the machine is
BRIDGE_CALM := $(BRIDGE_VM) \
	--module-args "ocf_bridge:patience=60000 buffer=131072"

.PHONY: test-bridge
test-bridge: $(if $(DEBUG),debug-modules,modules) machine $(BRIDGE_DIFFERS) \
	     $(B)/pk/rsa1024.pem
	@$(BRIDGE_VM) -- tests/bridge/test_faults.py
	@$(BRIDGE_VM) -- tests/bridge/test_pk.py $(B)/pk Rsa Silent
	@$(BRIDGE_CALM) -- tests/bridge/test_pk.py $(B)/pk Kernel
	@$(BRIDGE_CALM) -- tests/bridge/run_differ.py cryptd $(BRIDGE_DIFFERS)
	@# Linux's virtio driver always warns of its RSA; the debug kernel is
	@# without it
	@$(if $(DEBUG),,$(BRIDGE_CALM) --cards 1 --allow "virtio_crypto|alg: akcipher" -- \
		tests/bridge/run_differ.py virtio $(BRIDGE_DIFFERS))
