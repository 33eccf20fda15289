# SPDX-License-Identifier: BSD-2-Clause
#
# Public-key operations: on the CPU, on cards, and on cards that fail.

PK_SIM := /sys/bus/platform/drivers/ocf_sim/add
# CRYPTO_FLAG_HARDWARE
PK_HARDWARE := CRID=16777216

# in `openssl genrsa -traditional`'s form
PK_BITS := 1024 2048 3072 4096 8192
PK_KEYS := $(PK_BITS:%=$(B)/pk/rsa%.pem)
# ms until a card is late that is right, on a machine that stands still at times
PK_PATIENCE := 5000
PK_VIRTIO = --cards 2 --module-args ocf_virtio:patience=$(PK_PATIENCE)

# those that are not about results; all of them if it is set to nothing
PK_VIRTIO_DEBUG ?= Virtio.test_many_sign Virtio.test_drained_and_back \
		   Virtio.test_more_keys_than_it_keeps

$(B)/pk/rsa%.pem:
	@mkdir -p $(@D)
	$(Q)openssl genrsa -traditional -out $@ $* 2>/dev/null

.PHONY: test-pk test-pk-debug
test-pk: modules machine $(PK_KEYS)
	@scripts/pk-vectors | cmp - kernel/core/pk_vectors.h
	@$(VM) $(WATCHFUL) -- tests/pk/differ.py
	@$(VM) $(WATCHFUL) --env WAY=native -- tests/pk/differ.py
	@$(VM) -- tests/pk/wycheproof.py
	@$(VM) -- tests/pk/cavp.py
	@$(VM) -- sh -c 'echo public_key=1 algs=null bounce=1 patience=20000 \
		> $(PK_SIM) && $(PK_HARDWARE) tests/pk/differ.py'
	@$(VM) $(WATCHFUL) -- tests/pk/cards.py $(B)/pk Cards \
		Bouncing.test_late Bouncing.test_stall
	@$(VM) $(WATCHFUL) $(PK_VIRTIO) -- tests/pk/virtio.py $(B)/pk

# A card that is a work item of the debug kernel is late if there are many to
# sign for; what it is asked when it is dead is waited for twice as long.
test-pk-debug: PK_PATIENCE := 8000
test-pk-debug: debug-modules machine $(PK_KEYS)
	@$(VM) --debug --append panic_on_warn=1 --env ROUNDS=4 -- \
		tests/pk/differ.py
	@$(VM) --debug --append panic_on_warn=1 --timeout 7200 \
		--env PATIENCE=$(PK_PATIENCE) --env SIGNERS=4 \
		--env ROUNDS=3 -- tests/pk/cards.py $(B)/pk \
		Bouncing.test_death Bouncing.test_unplugged \
		Bouncing.test_double Bouncing.test_killed
	@$(VM) --debug --append panic_on_warn=1 $(PK_VIRTIO) \
		--env SIGNERS=4 -- tests/pk/virtio.py $(B)/pk $(PK_VIRTIO_DEBUG)
