# SPDX-License-Identifier: BSD-2-Clause
"""scripts/cached: what checkouts share is made once, or not at all."""

import os
import pathlib
import subprocess

import pytest

CACHED = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "cached"


@pytest.fixture(name="start")
def starter(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def start(key: str, script: str, link: str = "link") -> subprocess.Popen:
        return subprocess.Popen(
            [CACHED, "thing", key, tmp_path / link, "sh", "-ec", script, "sh"],
            env=os.environ, stderr=subprocess.DEVNULL)
    return start


MAKE = 'echo made >> "$1/../count"; sleep 0.3; echo it > "$1/file"'


def test_two_checkouts_make_it_once(tmp_path, start):
    both = [start("1", MAKE, link) for link in ("one", "two")]
    assert [p.wait() for p in both] == [0, 0]
    assert (tmp_path / "cache/ocf/count").read_text() == "made\n"
    for link in "one", "two":
        assert (tmp_path / link / "file").read_text() == "it\n"


def test_another_key_is_another_folder(tmp_path, start):
    assert start("1", 'echo 1 > "$1/file"').wait() == 0
    assert start("2", 'echo 2 > "$1/file"').wait() == 0
    assert (tmp_path / "link/file").read_text() == "2\n"
    assert start("1", "exit 9").wait() == 0
    assert (tmp_path / "link/file").read_text() == "1\n"


def test_what_fails_is_made_again(tmp_path, start):
    assert start("1", 'echo half > "$1/file"; exit 3').wait() == 3
    assert not (tmp_path / "link").exists()
    assert start("1", 'test ! -e "$1/file"; echo whole > "$1/file"').wait() == 0
    assert (tmp_path / "link/file").read_text() == "whole\n"


def test_a_folder_from_before_makes_way(tmp_path, start):
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "old").touch()
    assert start("1", 'touch "$1/new"').wait() == 0
    assert (tmp_path / "link" / "new").exists()
