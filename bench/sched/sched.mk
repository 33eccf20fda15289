# SPDX-License-Identifier: BSD-2-Clause
#
# The choice of cards, on cards in software: docs/bench.md.
#
#	make bench-sched	the figures, as tables and build/sched.json

.PHONY: bench-sched
$(B)/bench/sched: bench/sched/sched.c $(wildcard include/uapi/*/*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CFLAGS) -o $@ $< -luring -lpthread

bench-sched: modules machine $(B)/bench/sched
	@bash -o pipefail -c '$(VM) --icount --timeout 3600 -- \
		bench/sched/run $(FIGURES) | tee $(B)/sched.json | \
		bench/sched/table'
