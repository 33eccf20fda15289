# SPDX-License-Identifier: BSD-2-Clause
#
# make run: the main job, shown.

# A real file: the test machine's kernel with its modules.
DEMO_FILE ?= $(B)/demo/kernel.tar

$(B)/demo/kernel.tar: $(B)/stock/release
	@mkdir -p $(@D)
	@tar -cf $@ --sort=name -C $(B)/kernel/ .

$(B)/demo/cryptfile: demo/cryptfile.c $(wildcard include/uapi/bsd/crypto/*.h) \
		     | deps
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(TEST_WARN) -Iinclude/uapi -o $@ $<

$(B)/demo/flow: demo/flow.c $(wildcard include/uapi/crypto/*.h) | deps
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -D_GNU_SOURCE $(TEST_WARN) -Iinclude/uapi \
		-o $@ $<

run: modules machine $(B)/demo/cryptfile $(B)/demo/flow $(B)/examples/https \
     provider $(DEMO_FILE)
	@demo/run $(DEMO_FILE)
