# SPDX-License-Identifier: BSD-2-Clause
#
# Linux's own test of IPsec, which is not written for our warnings.

$(B)/alg/ipsec: $(B)/linux-tools/version
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -w -o $@ $(B)/linux-tools/tools/testing/selftests/net/ipsec.c
