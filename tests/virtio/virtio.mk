# SPDX-License-Identifier: BSD-2-Clause
#
# virtio-crypto cards, QEMU's builtin ones: `make test-virtio`, and
# `make test-virtio DEBUG=1` on the debug kernel.

VIRTIO_BUILT := $(B)/virtio/virtio_differ $(B)/virtio/virtio_life
VIRTIO_DEPS := $(SELF_DEPS) $(wildcard tests/virtio/*.h) \
	       tests/selftests/differ.c tools/lib/ids_linux.c \
	       tools/lib/ids_bsd.c $(B)/linux-tools/version

$(B)/virtio/%: tests/virtio/%.c $(VIRTIO_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -o $@ $< tests/selftests/differ.c \
		tools/lib/ids_linux.c tools/lib/ids_bsd.c \
		tools/lib/oracle.c -lcrypto -lpthread

# An emulated card has the host's main loop, and that has others to serve.
VIRTIO_VM := $(VM) --cards 2 --module-args ocf_virtio:patience=5000

.PHONY: test-virtio test-virtio-stock test-virtio-debug
test-virtio: test-virtio-$(if $(DEBUG),debug,stock)

# VIRTIO_RING_F_INDIRECT_DESC (28) is not agreed upon, VIRTIO_F_RING_PACKED (34) is
RING_BITS := ^.{28}0.{5}1

# Linux's own driver tests its RSA when it is loaded, and fails.
test-virtio-stock: modules machine $(VIRTIO_BUILT) $(B)/virtio/virtio_plug \
		   $(B)/pk/rsa2048.pem
	@$(VIRTIO_VM) $(WATCHFUL) -- \
		tests/selftests/run $(VIRTIO_BUILT)
	@$(VIRTIO_VM) --card-properties indirect_desc=off,packed=on -- sh -ec ' \
		grep -qE "$(RING_BITS)" /sys/class/ocf/virtio0/device/features; \
		tests/selftests/run $(B)/virtio/virtio_differ'
	@$(VIRTIO_VM) --allow "virtio_crypto|alg: akcipher" -- \
		tests/selftests/run tests/virtio/takeover
	@$(VM) $(WATCHFUL) --module-args ocf_virtio:patience=3000 -- \
		tests/virtio/vcard
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/virtio

# That kernel has no driver of its own, nor ACPI's hot plug.
test-virtio-debug: debug-modules machine $(VIRTIO_BUILT)
	@$(VIRTIO_VM) --debug --timeout 7200 --append panic_on_warn=1 \
		--env OCF_ROUNDS=$(or $(OCF_ROUNDS),10%) -- \
		tests/selftests/run $(VIRTIO_BUILT)
