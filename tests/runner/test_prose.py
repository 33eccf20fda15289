# SPDX-License-Identifier: BSD-2-Clause
"""scripts/prose.py: sentences are found, and so is what is wrong with them."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import prose  # noqa: E402

COMMENTS = '''\
// SPDX-License-Identifier: MIT
/*
 * The first sentence of it.  The second one has
 * two lines, e.g. these.
 *
 *	this is code that nobody reads
 *
 * a name	and what it stands for
 *
 * @size: of all that there is, or
 *	nothing at all
 * Return: 0 if all went well, -EINVAL if it is wrong; -ENOMEM
 */
int i;	/* a short one */
int j;	/* this one is longer */
'''

DOCUMENT = '''\
# A heading is not a sentence
Some text of four words. kTLS begins in lower case.

| a table | has no sentences in it |

- An item is a sentence, which
  goes on here.
```
code has no sentences either, who cares
```
**Bold ones end, too.** The next one is here.
'''


MANUAL = r"""
.\" SPDX-License-Identifier: MIT
.Sh SYNOPSIS
.Ft int
a synopsis has no sentences
.Sh DESCRIPTION
The call
.Fn ocf_run
waits for the result
.Pq see Xr ocf 9 .
This one follows it.
.Bd -literal -offset indent
code has no sentences either
.Ed
.It Fl \-wait
An item is a sentence.
"""

SCRIPT = '''\
#!/usr/bin/python3
"""The first sentence of it.

    this is how it is called
"""
# The second one has two
# lines that go on.
def one():
    """A docstring of one line."""
    two = "no comment, of this there is none"
    # a comment of five words
    three = """text that is not a docstring, and is not read"""
class Four:
    def five():
        """It is another docstring, which
        goes on here.
            an example of code in it
        """
'''


def test_comments():
    assert [(s.line, s.text) for s in prose.in_comments(COMMENTS)] == [
        (3, "The first sentence of it."),
        (3, "The second one has two lines, e.g. these."),
        (10, "@size: of all that there is, or nothing at all"),
        (12, "Return: 0 if all went well,"),
        (12, "-EINVAL if it is wrong;"),
        (15, "this one is longer")]


def test_document():
    assert [(s.line, s.text) for s in prose.in_document(DOCUMENT)] == [
        (2, "Some text of four words."), (2, "kTLS begins in lower case."),
        (6, "An item is a sentence, which goes on here."),
        (11, "**Bold ones end, too.**"), (11, "The next one is here.")]


def test_manual():
    assert [(s.line, s.text) for s in prose.in_manual(MANUAL)] == [
        (7, "The call `ocf_run` waits for the result (see ocf 9)."),
        (11, "This one follows it."), (16, "An item is a sentence.")]


def test_script():
    assert [(s.line, s.text) for s in prose.in_python(SCRIPT)] == [
        (2, "The first sentence of it."),
        (6, "The second one has two lines that go on."),
        (9, "A docstring of one line."), (11, "a comment of five words"),
        (15, "It is another docstring, which goes on here.")]
    assert [(s.line, s.text) for s in prose.in_shell(SCRIPT)] == [
        (6, "The second one has two lines that go on."),
        (11, "a comment of five words")]


def test_kinds_of_files():
    assert [prose.sentences_of(name, SCRIPT)[0] for name in (
        "a.c", "a.py", "tool", "docs/a.md", "docs/man/a.4")] == [
            "Comments"] * 3 + ["Documents"] * 2
    assert list(prose.sentences_of("VERSION", "one two three four five")[1]) == []


@pytest.mark.parametrize("text", [
    "Who reads it waits for the others.", "It waits for who reads.",
    "The task tells whoever reads it.", "A task reads what he wants.",
    "The two are opened anew.", "A copy is dearer than a pin.",
    "The second one is likewise.", "It is kept all the same.",
    "one two three " * 10 + "four."])
def test_faults(text):
    assert len(list(prose.faults(prose.Sentence(1, text)))) == 1


@pytest.mark.parametrize("text", [
    "The administrator decides who may use it.",
    'A message says "Who reads it anew?".', "The field `who` is a number.",
    "one two three " * 10])
def test_no_faults(text):
    assert not list(prose.faults(prose.Sentence(1, text)))
