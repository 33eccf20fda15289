# SPDX-License-Identifier: BSD-2-Clause
#
# make run: the main job, shown.

# A real file that scripts/deps has installed.
DEMO_FILE ?= /usr/src/linux-source-6.12.tar.xz

$(B)/demo/cryptfile: demo/cryptfile.c $(wildcard include/uapi/bsd/crypto/*.h) \
		     | deps
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 $(TEST_WARN) -Iinclude/uapi -o $@ $<

run: modules machine $(B)/demo/cryptfile
	@$(VM) --memory 2G -- demo/show $(DEMO_FILE)
