# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages are well-formed, links lead somewhere, and what the code has is
# in the reference.  That the table of algorithms is the code's is
# test_docs' business, that pages have libocf's calls calls-check's, that the
# examples work the test examples'.

.PHONY: docs-check html
docs-check: deps
	@mandoc -T lint -W warning docs/man/*
	@docs/check-links $(wildcard *.md docs/*.md docs/*/*.md)
	@docs/check-names

html: deps $(B)/linux-tools/version
	@docs/make-html
