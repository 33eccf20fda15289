# SPDX-License-Identifier: BSD-2-Clause
#
# Virtio-crypto cards that are processes.  The part that speaks vhost-user is
# QEMU's own library, built from Debian's source package.

CARD := $(B)/card
CARD_LIB := $(CARD)/libvhost-user.fetched
CARD_SRC := $(wildcard tests/card/*.c)
CARD_CFLAGS := -O2 -g -std=gnu17 -Wall -Wextra -Werror \
	       -isystem $(CARD)/libvhost-user
CARD_SAN := -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: card test-card

$(CARD_LIB): tests/card/fetch | deps
	@tests/card/fetch
	@touch $@

# The library is GNU C of its own style, whose warnings are not ours.
$(CARD)/lib.o: $(CARD_LIB)
	$(Q)$(CC) -O2 -g -w -D_GNU_SOURCE -c -o $@ \
		$(CARD)/libvhost-user/libvhost-user.c

$(CARD)/lib-san.o: $(CARD_LIB)
	$(Q)$(CC) -O1 -g -w -D_GNU_SOURCE $(CARD_SAN) -c -o $@ \
		$(CARD)/libvhost-user/libvhost-user.c

$(CARD)/card: $(CARD)/lib.o $(CARD_SRC) tests/card/card.h
	$(Q)$(CC) $(CARD_CFLAGS) -o $@ $(CARD_SRC) $< -lcrypto -lpthread

$(CARD)/card-san: $(CARD)/lib-san.o $(CARD_SRC) tests/card/card.h
	$(Q)$(CC) $(CARD_CFLAGS) $(CARD_SAN) -o $@ $(CARD_SRC) $< \
		-lcrypto -lpthread

card: $(CARD)/card

CARD_VM := $(VM) $(if $(DEBUG),--debug --timeout 7200 \
	--append panic_on_warn=1,$(WATCHFUL))
# ms; the machine is late itself now and then
CARD_HASTY := $(CARD_VM) --env OCF_PATIENCE=3000 \
	--module-args ocf_virtio:patience=3000
CARD_CALM := $(CARD_VM) --module-args ocf_virtio:patience=60000

test-card: $(if $(DEBUG),debug-modules,modules) machine $(CARD)/card \
		$(CARD)/card-san $(B)/virtio/virtio_differ \
		$(B)/selftests/bsd_differ
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/card
	@$(CARD_HASTY) --card-process -- tests/card/ours.py Faults
	@$(CARD_CALM) --card-process -- tests/card/ours.py Sealed
	@$(CARD_HASTY) --card-process queues=2 -- tests/card/ours.py Queues
	@$(CARD_HASTY) --card-process -- tests/card/ours.py Killed
	@$(CARD_CALM) --card-process sessions=256 --card-process sessions=256 -- \
		tests/selftests/run $(B)/virtio/virtio_differ
