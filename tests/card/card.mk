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

.PHONY: card

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

