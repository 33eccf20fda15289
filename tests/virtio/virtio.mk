# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that use virtio-crypto cards.

VIRTIO_DEPS := $(SELF_DEPS) $(wildcard tests/virtio/*.h) \
	       tests/selftests/differ.c tools/lib/ids_linux.c \
	       tools/lib/ids_bsd.c $(B)/linux-tools/version

$(B)/virtio/%: tests/virtio/%.c $(VIRTIO_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) $(SELF_CFLAGS) -o $@ $< tests/selftests/differ.c \
		tools/lib/ids_linux.c tools/lib/ids_bsd.c \
		tools/lib/oracle.c -lcrypto -lpthread

