# SPDX-License-Identifier: BSD-2-Clause
#
# make install, tried out in folders of its own.

.PHONY: test-install
test-install: modules machine $(B)/selftests/linux_session
	@tests/install/run
