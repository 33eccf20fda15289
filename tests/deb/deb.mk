# SPDX-License-Identifier: BSD-2-Clause
#
# Debian's packages, installed on a clean Debian.
#
#	make deb		build/packages/*.deb
#	make test-deb

.PHONY: deb test-deb
deb: deps
	@scripts/deb $(B)/packages

test-deb: modules machine
	@tests/deb/run
