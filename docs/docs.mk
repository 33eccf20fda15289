# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages are well-formed, and links lead somewhere.  That the table of
# algorithms is the code's is test_docs' business, that the examples work is
# make examples'.

.PHONY: docs-check
docs-check: deps
	@mandoc -T lint -W warning docs/man/*
	@docs/check-links $(wildcard *.md docs/*.md)
