# SPDX-License-Identifier: BSD-2-Clause
#
#	make run		see it work
#	make test		tiers 1 and 2: all that one change needs
#	make test-debug		tier 3: the same on a kernel that finds mistakes
#	make test-machine	the test machine; make test-install: make install
#	make check		tier 1: style, static checks, unit tests
#	make bench		figures; make budgets: instructions, compared
#	make install		on this host, with DKMS; make deb: packages

SHELL	:= /bin/bash
B	:= build
VM	:= tests/vm/run
JOBS	?= $(shell nproc)

KDIR	= /lib/modules/$(shell cat $(B)/stock/release)/build

# What checkouts share is below $XDG_CACHE_HOME/ocf: see scripts/cached.
CACHE	:= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/ocf
ifneq ($(shell mkdir -p $(CACHE)/ccache 2>/dev/null && \
	test -w $(CACHE)/ccache && echo yes),)
export CCACHE_DIR := $(CACHE)/ccache
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export PATH := /usr/lib/ccache:$(PATH)
endif

PYTHON	:= python3 -B
Q	:= $(if $(V),,@)

# The kernel's own selftest harness; its macros are what the -Wno are for.
HARNESS	:= -I$(B)/linux-tools/tools/testing/selftests
TEST_WARN := -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare \
	     -Wno-clobbered -Wno-pointer-to-int-cast

.PHONY: all deps modules debug-kernel debug-modules machine \
	run test test-debug check unit selftests bench budgets clean \
	install uninstall help

all: modules

help:
	@sed -n '3,/^$$/{s/^# *$$//;s/^#\t/  /;s/^# //;p}' Makefile

# What is installed is what the targets need that were asked for.  A package's
# build says itself what it needs, and has DEPS empty.
BUILDING := all modules lib provider tools install uninstall
DEPS := scripts/deps --for $(if $(filter-out $(BUILDING),$(or $(MAKECMDGOALS),all)),$\
	$(if $(filter-out $(BUILDING) run,$(MAKECMDGOALS)),test,run),build)

deps:
	@$(DEPS)

$(B)/stock/release:
	@scripts/deps

modules: deps
	@scripts/modules $(KDIR) $(B)/stock -s -j$(JOBS) W=1

debug-kernel: deps
	@scripts/debug-kernel

debug-modules: debug-kernel
	@scripts/modules $(B)/debug/linux $(B)/debug -s -j$(JOBS)

machine: $(B)/vm/init

$(B)/vm/init: tests/vm/init.c | deps
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -static -o $@ $<

$(B)/linux-tools/version: | deps
	@scripts/linux-tools

include demo/demo.mk
include tests/unit/unit.mk
include tests/selftests/selftests.mk
include tests/vectors/vectors.mk
include tests/virtio/virtio.mk
include tests/bridge/bridge.mk
include tests/install/install.mk
include tests/deb/deb.mk
include lib/lib.mk
include provider/provider.mk
include examples/examples.mk
include tests/vm/machine.mk
include tests/thirdparty/thirdparty.mk
include tests/card/card.mk
include tools/tools.mk
include tests/tools/tools.mk
include bench/bench.mk
include bench/sched/sched.mk
include tests/pk/pk.mk
include tests/random/random.mk
include tests/socrypt/socrypt.mk
include tests/libocf/libocf.mk
include tests/provider/provider.mk
include tests/soak/soak.mk
include docs/docs.mk

install: lib provider tools
install uninstall:
	@PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' KVER='$(KVER)' \
		$(if $(filter undefined,$(origin DKMS)),,DKMS='$(DKMS)') \
		scripts/install $@

check: deps $(B)/linux-tools/version unit docs-check
	@scripts/check

test: check selftests test-sim test-virtio test-bridge test-card test-random test-pk \
      test-socrypt test-libocf test-tools test-measure \
      test-provider vectors thirdparty examples budgets test-machine \
      test-install test-deb

test-debug: selftests-debug test-random-debug test-pk-debug

# What it shares with test
.PHONY: debug-programs
debug-programs: modules machine $(SELF_BUILT) $(SELF_FAILING) $(PK_KEYS)

clean:
	rm -rf $(B)

clean-cache:
	rm -rf $(CACHE)
