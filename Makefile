# SPDX-License-Identifier: BSD-2-Clause
#
# Use
#	make run		see it work
#	make			build the modules: for Debian's 6.12, or KDIR=TREE
#	make install		on this host, with DKMS
#	make uninstall		take that away
#	make html		the documents, the man pages and the headers', to read
#
# Check; tests/README.md says how
#	make t T=NAME		one test, or some
#	make quick		what finds most mistakes soonest
#	make test		what one change needs
#	make test-debug		the same on a kernel that finds mistakes
#	make test-all		the long tests as well
#	make test-mutations	that tests notice what is broken on purpose
#	make test-list		the names of all tests
#	make check		static checks and unit tests
#	make unit		unit tests
#	make docs-check		manual pages, links, names in the documents
#
# Measure; docs/bench.md says what
#	make budgets		instructions against budgets
#	make bench		throughput over size beside AF_ALG and OpenSSL
#	make bench-ablate	what each constant of the choice of devices is worth
#	make bench-choice	the choice between the CPU and a real card
#	make bench-copies	what each way copies of an operation's data
#	make bench-ipsec	files by HTTP, by HTTPS, and by HTTP over IPsec
#	make bench-provider	the provider beside OpenSSL
#	make bench-public-key	public-key operations
#	make bench-route	the choice of devices, simulated
#	make bench-sched	the choice of cards, on cards in software
#	make bench-socket	instructions for each byte sent, beside kTLS
#	make bench-users	a disk and a tunnel, on four cards and beside stock
#
# Ship
#	make deb		Debian's packages, in build/packages
#
# Parts, which the others call
#	make deps		install what is missing to build and test
#	make modules		the modules
#	make lib		libocf
#	make provider		the provider for OpenSSL
#	make tools		what of the tools is compiled
#	make card		the card that is a process
#	make machine		the test machine
#	make debug-kernel	the kernel that finds mistakes
#	make debug-modules	the modules for it
#	make rt-kernel		Debian's PREEMPT_RT kernel, not installed
#	make rt-modules		the modules for it
#	make unit-built		the unit tests, built
#	make unit-run		and run
#	make examples-built	the examples, built
#	make provider-tests	the provider's tests, built
#	make thirdparty-built	programs of others, built
#	make clean		remove build/
#	make clean-cache	remove what checkouts share, $XDG_CACHE_HOME/ocf
#	make help		this list

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

.PHONY: all deps modules debug-kernel debug-modules rt-kernel rt-modules \
	machine run check unit t quick test test-debug test-all test-list test-mutations \
	bench budgets clean clean-cache install uninstall help

all: modules

help:
	@sed -n '3,/^$$/{s/^# *$$//;s/^#\t/  /;s/^# //;p}' Makefile

# What is installed is what the targets need that were asked for.  A package's
# build says itself what it needs, and has DEPS empty.
BUILDING := all modules lib provider tools install uninstall
GOALS := $(filter-out $(BUILDING),$(or $(MAKECMDGOALS),all))
DEPS := scripts/deps --for $(or $(if $(GOALS),,build),$\
	$(filter run html,$(if $(filter 1,$(words $(GOALS))),$(GOALS))),test)

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

rt-kernel: deps
	@scripts/rt-kernel

rt-modules: rt-kernel
	@scripts/modules $(B)/rt/kernel/usr/src/linux-headers-*-rt-amd64 $(B)/rt \
		-s -j$(JOBS)

machine: $(B)/vm/init $(B)/vm/tsc

$(B)/vm/init $(B)/vm/tsc: $(B)/vm/%: tests/vm/%.c | deps
	@mkdir -p $(@D)
	$(CC) -O2 -Wall -Wextra -Werror -static -o $@ $<

$(B)/linux-tools/version: | deps
	@scripts/linux-tools
# those that are there were taken by another version of the script
ifeq ($(filter %-$(shell sha256sum scripts/linux-tools | cut -c 1-12), \
	$(shell readlink $(B)/linux-tools)),)
$(B)/linux-tools/version: FORCE
FORCE:
endif

include demo/demo.mk
include tests/unit/unit.mk
include tests/selftests/selftests.mk
include tests/vectors/vectors.mk
include tests/virtio/virtio.mk
include tests/deb/deb.mk
include lib/lib.mk
include provider/provider.mk
include examples/examples.mk
include tests/vm/machine.mk
include tests/thirdparty/thirdparty.mk
include tests/card/card.mk
include tools/tools.mk
include bench/bench.mk
include bench/sched/sched.mk
include tests/pk/pk.mk
include tests/alg/alg.mk
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

# Tests stand in tables, tests.toml in their folders: tests/README.md.
#
#	T=NAME...	which: names, and patterns of names
#	ARGS=WORDS	more words for their command, as a test in them
#	SEED=N		of what is random
#	TIER=debug	as that tier has it; DEBUG=1: on the debug kernel
#	FRESH=1		also what is known to pass on the same inputs
RUN_TESTS = @tests/run $(if $(FRESH),--fresh) $(if $(SEED),--seed $(SEED)) \
	$(if $(DEBUG),--debug) $(if $(ARGS),--args '$(ARGS)')

t: deps
	$(if $(T),,$(error make t T=NAME: make test-list has the names))
	$(RUN_TESTS) $(or $(TIER),every) $(T)

quick test: deps
	$(RUN_TESTS) $@

test-debug: deps debug-kernel
	$(RUN_TESTS) debug

test-all: deps debug-kernel
	$(RUN_TESTS) all

test-list:
	@tests/run --list $(or $(TIER),every)

test-mutations: deps
	@tests/mutations/run $(if $(TIER),--tier $(TIER)) $(T)

check: deps
	$(RUN_TESTS) every check check_docs unit unit-machine libocf_calls tools

clean:
	rm -rf $(B)

clean-cache:
	rm -rf $(CACHE)
