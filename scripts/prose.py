# SPDX-License-Identifier: BSD-2-Clause
"""The sentences of comments, documents and manual pages, and what is not said in
them."""

import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

COMMENT = re.compile(r"/\*.*?\*/", re.S)
# not prose: code, tables, headings, pictures, licences
NOT_PROSE = re.compile(r"SPDX-|^\s*(?:\||#)|^\s{4,}\S|^(?:=|-)+$", re.M)
# the next sentence may begin with a name; a list of errors is no sentence
END = re.compile(r"(?:(?<=[.?!])|(?<=[.?!][)\"])|(?<=[.?!]\*\*))"
                 r"\s+(?=[A-Z@`\"\[(*0-9]|k?TLS|[a-z]\S*[_.(>]\S)|"
                 r"[;,]\s(?=-?E[A-Z0-9]{3})")
TABLE = re.compile(r"[^\s.?!:](?:\t|  )\s*\S")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+")
DOC_ITEM = re.compile(r"@[\w.]+:|\w+:|%?-?E[A-Z0-9]+:")
WORDS = 4       # fewer are a label
LONGEST = 30    # words of a sentence
QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"")
# (what is not said, what is said instead)
BANNED = [(re.compile(pattern, re.I), advice) for pattern, advice in (
    (r"(?:^|[,;:(*] ?|\b(?:and|as|behind|beside|by|for|from|if|is|long|of|or|than|"
     r"that|to|when|with) )who\b",
     "name it: the caller, the driver, the task, the queue"),
    (r"\bwhoever\b", "name it: the caller, the driver, the task"),
    (r"\b(?:he|him|his|himself)\b", "name it: the caller, the task"),
    (r"\blikewise\b", "say it again"),
    (r"\banew\b", "again"),
    (r"\bdear(?:er|est)?\b", "expensive"),
    (r"\bas it is for\b", "say it again"),
    (r"\ball the same\b", "still"),
    (r"\bbe it\b", "whether"),
)]


class Sentence(NamedTuple):
    line: int
    text: str


def sentences(lines: list[tuple[int, str]]) -> Iterator[Sentence]:
    """Of numbered lines, whose paragraphs an empty line separates."""
    words: list[tuple[int, str]] = []
    for number, line in [*lines, (0, "")]:
        words += [(number, word) for word in line.split()]
        if line.strip() or not words:
            continue
        begin = 0
        for i in range(1, len(words) + 1):
            two = f"{words[i - 1][1]} {words[i][1]}" if i < len(words) else ""
            if two and not END.search(two):
                continue
            if i - begin >= WORDS:
                yield Sentence(words[begin][0],
                               " ".join(word for _, word in words[begin:i]))
            begin = i
        words = []


def in_comments(text: str) -> Iterator[Sentence]:
    """Of a file in C."""
    for comment in COMMENT.finditer(text):
        number = text.count("\n", 0, comment.start()) + 1
        lines, item = [], False
        for i, line in enumerate(comment[0].splitlines(), number):
            line = re.sub(r"^[ \t]*/?\*+/?[ ]?|[ \t]*\*/$", "", line)
            begins = ITEM.match(line) or DOC_ITEM.match(line)
            item = bool(begins or item and line.strip())
            # what else is indented is code or a table
            if begins or line.startswith("\t") and not item:
                lines.append((i, ""))
            if item or not line.startswith("\t"):
                lines.append((i, "" if TABLE.search(line) and not begins
                              else line))
        yield from (s for s in sentences(lines) if not NOT_PROSE.search(s.text))


def in_document(text: str) -> Iterator[Sentence]:
    """Of a file in Markdown."""
    lines, code = [], False
    for i, line in enumerate(text.splitlines(), 1):
        fence = line.startswith("```")
        code ^= fence
        item = ITEM.match(line)
        if item:
            lines.append((i, ""))
        if code or fence or NOT_PROSE.match(line) and not item:
            line = ""
        lines.append((i, line[item.end():] if item and line else line))
    yield from sentences(lines)


# Literal text, and macros of mdoc(7) between which no sentence goes on
LITERAL = re.compile(r"\.Bd .*-(?:literal|unfilled)")
BREAKS = {"Sh", "Ss", "Pp", "It", "Bl", "El", "Bd", "Ed", "Nd", "Dd", "Dt", "Os",
          "In", "Ft", "Vt", "Rs", "Re"}
MACRO = re.compile(r"[A-Z][a-z]")


def of_macro(words: list[str]) -> str:
    """Returns the text that mdoc(7) prints for a line with a macro, with names
    in quotes."""
    if words[0] in BREAKS:
        return ""
    rest = [w for w in words[1:] if not MACRO.fullmatch(w)]
    end = ""
    while rest and re.fullmatch(r"[.,:;!?()]", rest[-1]):
        end = rest.pop() + end
    said = " ".join(rest)
    return (f"({said})" if words[0] == "Pq" else f"`{said}`") + end


def prose_of(lines: list[tuple[int, str]]) -> Iterator[Sentence]:
    """Of numbered lines of comments, without tables and licences."""
    yield from (s for s in sentences([
        (i, "" if TABLE.search(said) else said) for i, said in lines])
        if not NOT_PROSE.search(s.text))


def in_manual(text: str) -> Iterator[Sentence]:
    """Of a manual page in mdoc(7), but for its synopsis."""
    lines, literal, synopsis = [], False, False
    for i, line in enumerate(text.splitlines(), 1):
        if LITERAL.match(line):
            literal = True
        if line.startswith(".Sh"):
            synopsis = "SYNOPSIS" in line
        if line.startswith('.\\"') or literal or synopsis:
            lines.append((i, ""))
        elif line.startswith("."):
            lines.append((i, of_macro(line[1:].split())))
        else:
            lines.append((i, re.sub(r"\\(?:[&-]|f[A-Z])", "", line)))
        if line == ".Ed":
            literal = False
    yield from sentences(lines)


def in_shell(text: str) -> Iterator[Sentence]:
    """Of the comments of a script.  What is indented inside them is code or a
    table."""
    comments = [re.match(r"\s*#+(?!!) ?(?!\s)(.*)", line)
                for line in text.splitlines()]
    yield from prose_of([(i, c[1] if c else "")
                         for i, c in enumerate(comments, 1)])


def in_python(text: str) -> Iterator[Sentence]:
    """The same, and of docstrings."""
    lines = dict.fromkeys(range(1, text.count("\n") + 2), "")
    for kind, said, (i, column), *_, line in tokenize.generate_tokens(
            io.StringIO(text).readline):
        alone = not line[:column].strip()
        if kind == tokenize.COMMENT and alone and not said.startswith("#!"):
            lines[i] = said.lstrip("#")[1:]
        if kind == tokenize.STRING and alone and said.startswith('"""'):
            for k, words in enumerate(said.strip('"').splitlines(), i):
                lines[k] = words if k == i else words[column:]
    yield from prose_of([(i, "" if said.startswith("  ") else said)
                         for i, said in lines.items()])


def sentences_of(name: str, text: str) -> tuple[str, Iterator[Sentence]]:
    """The kind of a file, Comments or Documents, and its sentences."""
    if name.endswith((".c", ".h")):
        return "Comments", in_comments(text)
    if name.endswith(".md"):
        return "Documents", in_document(text)
    if "/man/" in name:
        return "Documents", in_manual(text)
    if name.endswith(".py") or re.match("#!.*python", text):
        return "Comments", in_python(text)
    if name.endswith(".sh") or text.startswith("#!"):
        return "Comments", in_shell(text)
    return "", iter(())


def faults(sentence: Sentence) -> Iterator[str]:
    """What is wrong with it.  Names and quotations may be as they are."""
    said = QUOTED.sub('""', sentence.text)
    for pattern, advice in BANNED:
        if found := pattern.search(said):
            yield f'"{found[0]}": {advice}'
    if (n := len(said.split())) > LONGEST:
        yield f"{n} words, {LONGEST} at most"
