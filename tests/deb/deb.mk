# SPDX-License-Identifier: BSD-2-Clause
#
# Debian's packages, installed on a clean Debian.
#
#	make deb		build/packages/*.deb

.PHONY: deb
deb: deps
	@scripts/deb $(B)/packages
