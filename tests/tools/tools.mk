# SPDX-License-Identifier: BSD-2-Clause
#
# Against a tree of files; ocfcheck and ocfspeed in the machine; and ocfctl and
# ocfstat in the machine under load.

.PHONY: unit-tools test-measure test-tools
unit-tools: deps
	@$(PYTHON) -m pytest -q -p no:cacheprovider tests/tools

unit: unit-tools

test-measure: modules machine tools
	@$(VM) $(WATCHFUL) --memory 2G -- tests/tools/measure

test-tools: modules machine unit-tools $(B)/demo/flow
	@$(VM) -- tests/tools/guest
