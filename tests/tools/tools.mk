# SPDX-License-Identifier: BSD-2-Clause
#
# ocfctl and ocfstat: against a tree of files, then in the machine under load.

.PHONY: unit-tools test-tools
unit-tools: deps
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/tools

unit: unit-tools

test-tools: modules machine unit-tools $(B)/demo/flow
	@$(VM) -- tests/tools/guest
