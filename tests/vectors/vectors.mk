# SPDX-License-Identifier: BSD-2-Clause
#
# The program that asks for known answers of others: see tests/vectors/README.

VEC_SRCS := $(addprefix tests/vectors/,run_vectors.c algs.c parse.c check.c \
	monte.c linux.c bsd.c) tools/lib/ids_linux.c tools/lib/ids_bsd.c

$(B)/vectors/run_vectors: $(VEC_SRCS) $(wildcard tests/vectors/*.h) \
			  $(SELF_DEPS)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -g -O2 $(TEST_WARN) -Iinclude/uapi -o $@ \
		$(VEC_SRCS)
