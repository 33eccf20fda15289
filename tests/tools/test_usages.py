# SPDX-License-Identifier: BSD-2-Clause
"""Wrong usages of the tools: usages.txt."""

import os
import pathlib
import shlex

import pytest
import test_tools

two_devices = test_tools.two_devices        # the fixture "tree"
HERE = pathlib.Path(__file__).resolve().parent
USAGES = [line.split(" | ", 1) for line in
          (HERE / "usages.txt").read_text().splitlines()
          if line and not line.startswith("#")]


def contents(tree: test_tools.Tree) -> dict[pathlib.Path, str]:
    return {path: path.read_text() for path in tree.path.rglob("*")
            if path.is_file()}


def test_there_are_enough():
    assert len(USAGES) >= 100


@pytest.mark.parametrize("command, message", USAGES,
                         ids=[command for command, _ in USAGES])
def test_usage(tree, command, message, capsys, monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    before = contents(tree)
    tool, *words = shlex.split(command)
    try:
        status = test_tools.program(tool).main(
            ["--sysfs", str(tree.root), *words])
    except SystemExit as end:       # of argparse
        status = end.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    # the last line is the tool's message; the lines before it are the usage
    last = said.err.splitlines()[-1]
    assert message in last
    assert last.startswith(tool)
    assert contents(tree) == before
