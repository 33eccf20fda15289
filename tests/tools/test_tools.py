# SPDX-License-Identifier: BSD-2-Clause
"""The tools against a tree that is made here, without a kernel."""

import contextlib
import errno
import functools
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import pty
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
import types

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
TOOLS = TOP / "tools"
sys.path.insert(0, str(TOOLS))

from ocftools import alg, rates, sysfs, text, watch  # noqa: E402

COST = """\
aes-cbc encrypt 1500 250
aes-cbc decrypt 1200 100
sha256 encrypt 100000 100000
sha256 decrypt 900 0
"""
COUNTERS = {"operations": 100, "bytes": 123456789, "errors": 2, "inflight": 0,
            "waiting": 0, "blocks": 0, "spurious": 0, "replays": 1,
            "backlog": 2500, "evictions": 0, "full": 0}
FOLDERS = ("counters", "public_key_counters")

# A background job ignores SIGINT, and so would every program that is started
# here.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Tree:
    """A sysfs with devices in it."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.path = root / "class" / "ocf"
        self.path.mkdir(parents=True)

    def add(self, name: str, number: int, **facts: object) -> None:
        # make all files first and then rename: like the kernel, show a device
        # only when it is complete
        made = self.root / name
        made.mkdir()
        for key, value in {
                "kind": "hardware", "number": number, "state": "ready",
                "weight": 100, "forbid": "none", "depth": 64, "max_len": 0,
                "lag": 12345, "algorithms": "aes-cbc\nsha256",
                "modes": "cipher\ndigest", **facts}.items():
            (made / key).write_text(f"{value}\n")
        for folder in FOLDERS:
            (made / folder).mkdir()
        self.table(name, "cost", COST)
        self.table(name, "latency", "1024 4")
        made.rename(self.path / name)
        self.counters(name)

    def counters(self, name: str, **counters: int) -> None:
        for key, value in {**COUNTERS, **counters}.items():
            folder = FOLDERS[key.startswith("pk_")]
            self.set(name, f"{folder}/{key.removeprefix('pk_')}", value)

    def table(self, name: str, table: str, text: str) -> None:
        folder = self.root / "kernel/debug/ocf/devices" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / table).write_text(text.rstrip() + "\n")

    def set(self, name: str, fact: str, value: object) -> None:
        new = self.path / name / "new"
        new.write_text(f"{value}\n")
        new.rename(self.path / name / fact)

    def get(self, name: str, fact: str) -> str:
        return (self.path / name / fact).read_text()

    def remove(self, name: str) -> None:
        (self.path / name).rename(self.root / "removed")
        shutil.rmtree(self.root / "removed")

    def run(self, tool: str, *words: str, **kw) -> subprocess.CompletedProcess:
        return subprocess.run([TOOLS / tool, "--sysfs", self.root, *words],
                              text=True, capture_output=True, timeout=60, **kw)

    def says(self, tool: str, *words: str) -> str:
        done = self.run(tool, *words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def fails(self, status: int, tool: str, *words: str, **kw) -> str:
        done = self.run(tool, *words, **kw)
        assert done.returncode == status, done.stdout + done.stderr
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        return done.stderr


@pytest.fixture(name="tree")
def two_devices(tmp_path):
    tree = Tree(tmp_path)
    tree.add("sim10", 1, state="ready", forbid="sha256", weight=250)
    tree.add("cryptosoft0", 0, kind="software", depth=0,
             algorithms="aes-cbc\nsha256\ndeflate")
    return tree


# ocfctl --------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ["--user", "nosuchuser"], ["AES129-SHA"], ["aes-cbc", "0"],
    ["aes-cbc", "x"], ["aes-cbc", str(1 << 28)], ["aes-cbc", "1", "2"], ["-x"],
    ["--user"]])
def test_doctor_s_wrong_usage(tree, words):
    assert "ocfctl" in tree.fails(2, "ocfctl", "doctor", *words)


def test_list(tree):
    lines = [line.split() for line in
             tree.says("ocfctl", "list").splitlines()]
    assert lines[0] == ["DEVICE", "KIND", "STATE", "WEIGHT", "ALGS", "IN",
                        "WAIT", "OPS", "BYTES", "KEYS", "ERRORS", "REPLAYS"]
    assert lines[1] == ["cryptosoft0", "software", "ready", "100", "3", "0",
                        "0", "100", "123M", "-", "2", "1"]
    assert lines[2] == ["sim10", "hardware", "ready", "250", "2", "0", "0",
                        "100", "123M", "-", "2", "1"]
    assert len(lines) == 3


def test_list_counts_keys(tree):
    tree.counters("sim10", inflight=1, pk_operations=70, pk_errors=5,
                  pk_replays=3, pk_inflight=2, pk_waiting=4)
    line = tree.says("ocfctl", "list").splitlines()[2].split()
    assert line[5:] == ["3", "4", "100", "123M", "70", "7", "4"]


def test_list_some(tree):
    assert "cryptosoft0" not in tree.says("ocfctl", "list", "sim10")


def test_list_json(tree):
    found = json.loads(tree.says("ocfctl", "list", "--json"))
    assert [f["name"] for f in found] == ["cryptosoft0", "sim10"]
    assert found[1] == {
        "name": "sim10", "number": 1, "kind": "hardware", "state": "ready",
        "weight": 250, "forbid": ["sha256"], "modes": ["cipher", "digest"],
        "algorithms": ["aes-cbc", "sha256"], "depth": 64, "max_len": 0,
        "lag_ns": 12345, "public_key": {}, "counters": COUNTERS,
        "public_key_latency": [],
        "cost": {"aes-cbc": {"encrypt": {"base_ns": 1500, "ns_per_kib": 250},
                             "decrypt": {"base_ns": 1200, "ns_per_kib": 100}},
                 "sha256": {"encrypt": None,
                            "decrypt": {"base_ns": 900, "ns_per_kib": 0}}},
        "latency": [{"from_ns": 1024, "count": 4}]}


def test_show(tree):
    said = tree.says("ocfctl", "show", "sim10")
    for want in (r"^sim10$", r"^  state +ready$", r"^  weight +250 %$",
                 r"^  forbid +sha256$", r"^  depth +64$", r"^  lag +12\.3 us$",
                 r"^  max_len +no limit$", r"^  backlog +2\.5 us$",
                 r"^  latency +p50 1\.4 us, ",
                 r"^aes-cbc +1\.5 +3906 +1\.2 +9766$",
                 r"^sha256 +- +- +0\.9 +-$"):
        assert re.search(want, said, re.M), (want, said)
    assert json.loads(tree.says("ocfctl", "show", "--json", "sim10")) == \
        json.loads(tree.says("ocfctl", "list", "--json", "sim10"))[0]


def test_show_keys(tree):
    tree.table("sim10", "public_key_cost",
               "mod-exp 128 4567\nrsa-sign 256 1234567")
    tree.table("sim10", "public_key_latency", "1048576 3")
    tree.counters("sim10", pk_operations=3)
    said = tree.says("ocfctl", "show", "sim10")
    for want in (r"^  pk_latency +p50 148",
                 r"^PUBLIC KEY +BITS +us$", r"^mod-exp +1024 +4\.6$",
                 r"^rsa-sign +2048 +1234\.6$"):
        assert re.search(want, said, re.M), (want, said)
    said = json.loads(tree.says("ocfctl", "show", "--json", "sim10"))
    assert said["public_key"] == {"mod-exp": {"128": 4567},
                                  "rsa-sign": {"256": 1234567}}


def test_tables_that_may_not_be_read(tree):
    """As for the group adm, or without debugfs."""
    shutil.rmtree(tree.root / "kernel")
    done = tree.run("ocfctl", "show", "sim10")
    assert done.returncode == 0
    assert "  operations  100\n" in done.stdout
    assert "ALGORITHM" not in done.stdout
    assert "mount -t debugfs" in done.stderr
    said = json.loads(tree.says("ocfctl", "show", "--json", "sim10"))
    assert said["counters"] == COUNTERS
    assert not {"cost", "latency", "public_key"} & said.keys()
    assert "mount -t debugfs" in tree.fails(1, "ocfstat", "--prometheus")
    report = json.loads(tree.says("ocfstat", "--json", "--count", "1",
                                  "--interval", "0.1"))
    assert report["devices"][0]["p50_ns"] is None


def test_algorithms(tree):
    assert [re.split("  +", line) for line in
            tree.says("ocfctl", "algorithms").splitlines()] == [
        ["ALGORITHM", "DEVICES", "FORBIDDEN"],
        ["aes-cbc", "cryptosoft0 sim10"],
        ["sha256", "cryptosoft0", "sim10"],
        ["deflate", "cryptosoft0"]]
    assert json.loads(tree.says("ocfctl", "algorithms", "--json")) == {
        "aes-cbc": {"devices": ["cryptosoft0", "sim10"], "forbidden": []},
        "sha256": {"devices": ["cryptosoft0"], "forbidden": ["sim10"]},
        "deflate": {"devices": ["cryptosoft0"], "forbidden": []}}


@pytest.mark.parametrize("words, fact, want", [
    (["drain", "sim10"], "state", "drain\n"),
    (["resume", "sim10"], "state", "resume\n"),
    (["weight", "sim10", "1"], "weight", "1\n"),
    (["weight", "sim10", "10000"], "weight", "10000\n"),
    (["forbid", "sim10", "aes-cbc,sha256"], "forbid", "aes-cbc,sha256\n"),
    (["forbid", "sim10", "all"], "forbid", "all\n"),
])
def test_set(tree, words, fact, want):
    other = tree.get("cryptosoft0", fact)
    assert tree.says("ocfctl", *words) == ""
    assert tree.get("sim10", fact) == want
    assert tree.get("cryptosoft0", fact) == other


def test_forbidden_besides_others(tree):
    def forbidden(algorithms: str, *how: str) -> str:
        assert tree.says("ocfctl", "forbid", *how, "sim10", algorithms) == ""
        return tree.get("sim10", "forbid").strip()
    assert forbidden("aes-cbc", "--add") == "sha256,aes-cbc"
    assert forbidden("sha256", "--add") == "sha256,aes-cbc"
    assert forbidden("sha256", "--remove") == "aes-cbc"
    assert forbidden("aes-cbc", "--remove") == "none"
    assert forbidden("aes-cbc", "--add") == "aes-cbc"
    assert forbidden("all") == "all"
    assert forbidden("aes-cbc", "--remove") == "sha256"


def test_counters_have_a_column(tree):
    tree.counters("sim10", pk_operations=24)
    assert "  pk_operations  24\n" in tree.says("ocfctl", "show", "sim10")


def test_set_several(tree):
    done = tree.run("ocfctl", "drain", "sim10", "cryptosoft0")
    # nobody does anything any more
    assert done.returncode == 0 and "ENODEV" in done.stderr
    assert tree.get("sim10", "state") == "drain\n"
    assert tree.get("cryptosoft0", "state") == "drain\n"


def test_get(tree):
    assert tree.says("ocfctl", "weight", "sim10") == "250\n"
    assert tree.says("ocfctl", "forbid", "sim10") == "sha256\n"


CRYPTO = """\
name         : xts(aes)
driver       : ocf-xts-aes
priority     : 10
refcnt       : 3
internal     : no
type         : skcipher

name         : xts(aes)
driver       : xts-aes-aesni
priority     : 401
refcnt       : 1
internal     : no
type         : skcipher

name         : __xts(aes)
driver       : __xts-aes-aesni
priority     : 402
refcnt       : 1
internal     : yes
type         : skcipher

name         : gcm(aes)
driver       : ocf-gcm-aes
priority     : 10
refcnt       : 1
internal     : no
type         : aead
"""


def test_alg(tree, tmp_path):
    (tmp_path / "crypto").write_text(CRYPTO)
    words = ["ocfctl", "alg", "--crypto", str(tmp_path / "crypto")]
    assert [line.split() for line in tree.run(*words).stdout.splitlines()] == [
        ["IMPLEMENTATION", "PRIORITY", "USERS", "BY", "NAME"],
        ["ocf-gcm-aes", "10", "0", "this"],
        ["ocf-xts-aes", "10", "2", "xts-aes-aesni"]]
    assert json.loads(tree.run(*words, "--json").stdout)[1] == {
        "driver": "ocf-xts-aes", "name": "xts(aes)", "priority": 10,
        "users": 2, "by_name": "xts-aes-aesni"}


def test_alg_is_not_loaded(tree, tmp_path):
    (tmp_path / "crypto").write_text(CRYPTO.replace("ocf-", "own-"))
    for more in [], ["--priority", "10"]:
        assert "modprobe ocf_alg" in tree.fails(
            1, "ocfctl", "alg", "--crypto", str(tmp_path / "crypto"),
            "--config", str(tmp_path / "config"), *more)
    assert not (tmp_path / "config").exists()


def test_priority_is_kept(tmp_path):
    config = tmp_path / "ocf-alg.conf"
    alg.keep_priority(5, config)
    alg.keep_priority(7, config)
    lines = config.read_text().splitlines()
    assert lines[-1] == "options ocf_alg priority=7" and len(lines) == 2
    assert config.stat().st_mode & 0o777 == 0o644
    # what an administrator has written
    config.write_text("softdep ocf_alg pre: qat\n options ocf_alg priority=1\n")
    alg.keep_priority(8, config)
    assert config.read_text() == \
        "softdep ocf_alg pre: qat\noptions ocf_alg priority=8\n"
    assert os.listdir(tmp_path) == [config.name]


@pytest.mark.parametrize("words, what", [
    ([], "COMMAND"), (["flush"], "flush"), (["show"], "DEVICE"),
    (["alg", "--priority", "-1"], "not 0 to 2147483647"),
    (["alg", "--priority", "2147483648"], "not 0 to 2147483647"),
    (["alg", "--priority", "high"], "high"), (["alg", "ocf-xts-aes"], "ocf-xts"),
    (["show", "sim1"], "there is no such device; there are cryptosoft0, sim1"),
    (["show", "../ocf/sim10"], "no such device"),
    (["drain"], "DEVICE"), (["drain", "sim10", "sim9"], "sim9"),
    (["weight", "sim10", "0"], "not 1 to 10000"),
    (["weight", "sim10", "10001"], "not 1 to 10000"),
    (["weight", "sim10", "fast"], "fast"),
    (["forbid", "sim10", "a b"], "names with commas"),
    (["forbid", "sim10", ""], "names with commas"),
    (["drain", "sim10", "--wait", "-1"], "-1"),
    (["drain", "--wait", "soon"], "soon is neither a number of seconds nor a device"),
    (["drain", "--wait", "abc", "sim10"], "abc is neither a number of seconds"),
    (["forbid", "sim10", "aes-cbc,aes-gcm"],
     "does not have aes-gcm; it has aes-cbc, sha256"),
    (["forbid", "--add", "sim10"], "which algorithms?"),
    (["forbid", "--add", "sim10", "all"], "need names of algorithms, not all"),
    (["forbid", "--add", "--remove", "sim10", "sha256"], "not allowed with"),
    (["drain", "--wait=nan", "sim10"], "nan"),
])
def test_misuse(tree, words, what):
    before = tree.get("sim10", "state"), tree.get("sim10", "weight")
    assert what in tree.fails(2, "ocfctl", *words)
    assert before == (tree.get("sim10", "state"), tree.get("sim10", "weight"))


@pytest.mark.parametrize("tool, words", [
    ("ocfctl", ["list"]), ("ocfctl", ["drain", "sim0"]),
    ("ocfctl", ["algorithms"]), ("ocfctl", ["monitor"]), ("ocfstat", [])])
def test_not_loaded(tmp_path, tool, words):
    said = Tree.fails(Tree(tmp_path / "x"), 1, tool, "--sysfs",
                      str(tmp_path / "y"), *words)
    assert "is the module ocf loaded?" in said


def once_drained(tree: Tree, *steps) -> None:
    """Does @steps, one after the other, when sim10 has been told to drain."""
    def work():
        while tree.get("sim10", "state") != "drain\n":
            time.sleep(0.01)
        for step in steps:
            time.sleep(0.3)
            step()
    threading.Thread(target=work).start()


@pytest.mark.parametrize("words", [
    ["--wait", "sim10"], ["sim10", "--wait"], ["--wait", "20", "sim10"],
    ["--wait=20", "sim10"], ["sim10", "--wait", "20"]])
def test_wait_until_it_is_empty(tree, words):
    tree.counters("sim10", inflight=1, waiting=1)
    emptied = []
    once_drained(tree, lambda: tree.counters("sim10", inflight=1),
                 lambda: emptied.append(True),
                 lambda: tree.counters("sim10"))
    tree.says("ocfctl", "drain", *words)
    assert emptied


def test_wait_for_keys(tree):
    tree.counters("sim10", pk_inflight=1, pk_waiting=2)
    said = tree.fails(1, "ocfctl", "drain", "--wait", "0.3", "sim10")
    assert "sim10: is not empty yet: 3 requests" in said


def test_wait_ends(tree):
    tree.counters("sim10", waiting=7)
    said = tree.fails(1, "ocfctl", "drain", "--wait", "0.3", "sim10")
    assert "sim10: is not empty yet: 7 requests" in said


def test_wait_for_what_is_going(tree):
    """Its files go before its directory does."""
    tree.counters("sim10", inflight=1)
    once_drained(tree, lambda: (tree.path / "sim10/state").unlink(),
                 lambda: tree.remove("sim10"))
    tree.says("ocfctl", "drain", "--wait", "sim10")


def test_list_beside_what_is_going(tree):
    (tree.path / "sim10/state").unlink()
    threading.Timer(0.2, lambda: tree.remove("sim10")).start()
    assert "sim10" not in tree.says("ocfctl", "list")


def test_wait_for_what_goes(tree):
    tree.counters("sim10", inflight=1)
    once_drained(tree, lambda: tree.remove("sim10"))
    tree.says("ocfctl", "drain", "--wait", "sim10")


def test_wait_for_what_is_resumed(tree):
    tree.counters("sim10", inflight=1)
    once_drained(tree, lambda: tree.set("sim10", "state", "ready"))
    said = tree.fails(1, "ocfctl", "drain", "--wait", "sim10")
    assert "in use again" in said


def test_reader_has_seen_enough(tree):
    for n in range(60):
        tree.add(f"null{n}", n + 2)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c",
         f"{TOOLS}/ocfctl --sysfs {tree.root} list --json | head -1"],
        text=True, capture_output=True)
    assert (done.stdout, done.stderr) == ("[\n", "")


# Changes of state ----------------------------------------------------------


def test_monitor(tree):
    command = [TOOLS / "ocfctl", "--sysfs", tree.root, "monitor", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        # it is listening once it tells of something
        for n in range(100):
            tree.add("null0", 2) if n % 2 == 0 else tree.remove("null0")
            if select.select([run.stdout], [], [], 0.5)[0]:
                break
        tree.set("sim10", "state", "suspect")
        seen = []
        while not seen or seen[-1]["to"] != "absent":
            change = json.loads(run.stdout.readline())
            if change["device"] == "sim10":
                seen.append(change)
                tree.remove("sim10") if len(seen) == 1 else None
        run.send_signal(signal.SIGINT)
        assert run.wait(10) == 128 + signal.SIGINT
    assert [(c["from"], c["to"]) for c in seen] == [
        ("ready", "suspect"), ("suspect", "absent")]
    assert abs(seen[1]["time"] - time.time()) < 60


EVENT = (b"change@/devices/platform/sim0/ocf/sim0\0ACTION=change\0"
         b"DEVPATH=/devices/platform/sim0/ocf/sim0\0SUBSYSTEM=ocf\0"
         b"OCF_STATE=suspect\0SEQNUM=1234\0")


def test_events():
    assert watch.parse(EVENT) == ("change", "sim0", "suspect")
    assert watch.parse(EVENT.replace(b"change", b"remove").replace(
        b"OCF_STATE=suspect\0", b"")) == ("remove", "sim0", None)
    assert watch.parse(EVENT.replace(b"=ocf\0", b"=net\0")) is None
    assert watch.parse(EVENT.replace(b"=change", b"=bind")) is None
    assert watch.parse(b"libudev\0\xfe\xed\xca\xfe") is None


def test_events_and_looks_agree(tree):
    """Whatever is seen first, each change is told once."""
    seen = watch.Watch(sysfs.Devices(str(tree.root)))
    events: list = []
    seen._drain = lambda: [events.pop(0) for _ in range(len(events))]
    assert seen.known == {"sim10": "ready", "cryptosoft0": "ready"}

    def told() -> list:
        return [(c.device, c.old, c.new) for c in seen.changes()]
    assert told() == []
    # came and went between two looks
    events += [("change", "sim10", "suspect"), ("change", "sim10", "ready")]
    assert told() == [("sim10", "ready", "suspect"),
                      ("sim10", "suspect", "ready")]
    # seen before its event comes
    tree.set("sim10", "state", "suspect")
    assert told() == [("sim10", "ready", "suspect")]
    events.append(("change", "sim10", "suspect"))
    assert told() == []
    # a device that was added during the look; its event has no state
    events.append(("add", "null0", None))
    assert told() == []
    tree.add("null0", 7, state="testing")
    assert told() == [("null0", "absent", "testing")]
    tree.set("null0", "state", "ready")
    tree.set("sim10", "state", "ready")
    assert told() == [("null0", "testing", "ready"),
                      ("sim10", "suspect", "ready")]
    tree.remove("null0")
    events.append(("remove", "null0", None))
    assert told() == [("null0", "ready", "absent")]
    # all of them at once
    shutil.rmtree(tree.path)
    assert told() == [("cryptosoft0", "ready", "absent"),
                      ("sim10", "ready", "absent")]


# ocfstat -------------------------------------------------------------------


def sample(latency=None, state="ready", **counters) -> sysfs.Sample:
    return sysfs.Sample(state, {**COUNTERS, **counters}, latency or {})


def test_rates():
    old = {"a": sample({1024: 5}), "b": sample()}
    new = {"a": sample({1024: 5, 4096: 100}, operations=300, errors=12,
                       bytes=123456789 + 3000000, replays=4, waiting=9),
           "b": sample(bytes=123456789 + 1000000, state="drained"),
           "c": sample()}
    found = rates.rates(new, old, 2.0)
    assert found["a"] == {
        "state": "ready", "operations": 200, "bytes": 3000000, "errors": 10,
        "replays": 3, "operations_per_s": 100.0, "bytes_per_s": 1500000.0,
        "errors_per_s": 5.0, "inflight": 0, "waiting": 9, "share": 0.75,
        "pk_operations": 0, "pk_errors": 0, "pk_replays": 0,
        "pk_operations_per_s": 0.0, "pk_errors_per_s": 0.0,
        "pk_inflight": 0, "pk_waiting": 0,
        "p50_ns": pytest.approx(4096 * 2 ** 0.5),
        "p99_ns": pytest.approx(4096 * 2 ** 0.99),
        "pk_p50_ns": None, "pk_p99_ns": None}
    assert found["b"]["share"] == 0.25
    assert found["b"]["state"] == "drained"
    assert found["b"]["p50_ns"] is None
    # came just now: what it did before is nobody's business
    assert found["c"]["operations"] == 0


def test_rates_of_keys():
    old = sample(pk_operations=5, pk_errors=1, pk_replays=0)
    new = sample(pk_operations=25, pk_errors=2, pk_replays=3, pk_waiting=4)
    found = rates.rate(new, old, 2.0)
    assert (found["pk_operations"], found["pk_operations_per_s"],
            found["pk_errors"], found["pk_replays"], found["pk_waiting"]) == (
                20, 10.0, 1, 3, 4)
    assert found["operations"] == 0


def test_nothing_has_no_shares():
    same = {"a": sample()}
    assert rates.rates(same, same, 1)["a"]["share"] is None


def test_another_of_the_same_name():
    new = sample({1024: 3}, operations=7, bytes=50)
    found = rates.rate(new, sample({1024: 9}), 1)
    assert found["operations"] == 0 and found["p99_ns"] is None


def test_a_bucket_of_another_device():
    """The device was replaced between the two reads: the difference must not
    become 4 billion requests."""
    assert rates.between({8: 3, 16: 4}, {8: 5, 16: 1}) == {16: 3}


def test_percentiles_are_in_the_right_bucket():
    seed = int(os.environ.get("OCF_SEED") or random.randrange(1 << 32))
    print("SEED", seed)
    rnd = random.Random(seed)
    for _ in range(300):
        took = sorted(int(rnd.lognormvariate(10, rnd.random() * 3)) + 1
                      for _ in range(rnd.randrange(1, 200)))
        latency: dict[int, int] = {}
        for ns in took:
            start = 1 << (ns.bit_length() - 1)
            latency[start] = latency.get(start, 0) + 1
        for share in 0.5, 0.9, 0.99, 1.0:
            true = took[max(0, -(-len(took) * share // 1).__int__() - 1)]
            start = 1 << (true.bit_length() - 1)
            assert start <= rates.percentile(latency, share) <= 2 * start
    assert rates.percentile({}, 0.5) is None


def work(tree: Tree, n: int) -> None:
    """Three quarters of the bytes in sim10; @n rises."""
    tree.counters("sim10", operations=100 + 10 * n, inflight=3,
                  bytes=123456789 + 30000 * n)
    tree.counters("cryptosoft0", operations=100 + 10 * n,
                  bytes=123456789 + 10000 * n)


@contextlib.contextmanager
def stat(tree: Tree, *words: str):
    with subprocess.Popen([TOOLS / "ocfstat", "--sysfs", tree.root,
                           "--interval", "0.2", *words], text=True,
                          stdout=subprocess.PIPE) as run:
        yield run
        run.kill()


def operations(seen: list[dict]) -> int:
    return sum(d["operations"] for r in seen for d in r["devices"])


def test_stat_json(tree):
    seen = []
    with stat(tree, "--json") as run:
        seen.append(json.loads(run.stdout.readline()))
        for n in 1, 2, 3:
            work(tree, n)
            tree.set("sim10", "state", "drained") if n == 2 else None
            seen += [json.loads(run.stdout.readline()) for _ in range(3)]
        # if this test is late, the reports read so far do not contain the last
        # work yet: read on
        while operations(seen) < 60 and len(seen) < 1000:
            seen.append(json.loads(run.stdout.readline()))
    changes = sum((r["changes"] for r in seen), [])
    assert [(c["device"], c["from"], c["to"]) for c in changes] == [
        ("sim10", "ready", "drained")]
    for name, nth in ("cryptosoft0", 0), ("sim10", 1):
        devices = [r["devices"][nth] for r in seen]
        assert {d["name"] for d in devices} == {name}
        assert sum(d["operations"] for d in devices) == 30
        assert sum(d["bytes"] for d in devices) == 30000 * (1 + 2 * nth)
    assert seen[-1]["devices"][1]["inflight"] == 3
    for r in seen:
        assert 0.2 <= r["seconds"]
        for d in r["devices"]:
            assert d["operations_per_s"] == pytest.approx(
                d["operations"] / r["seconds"])
            assert d["p50_ns"] is None


def test_stat_lines(tree):
    lines = []
    with stat(tree, "sim10") as run:
        lines += [run.stdout.readline() for _ in range(2)]
        tree.set("sim10", "state", "suspect")
        while len(lines) < 24 or \
                ("suspect" not in lines[-1] and len(lines) < 1000):
            lines.append(run.stdout.readline())
    assert lines[0].split()[:4] == ["TIME", "DEVICE", "STATE", "OPS/s"]
    changes = [x for x in lines if x.endswith(" sim10: ready -> suspect\n")]
    # the header again
    assert [x for x in lines if x not in changes].index(lines[0], 1) == 21
    assert len(changes) == 1
    assert sum(x.split()[1:3] == ["sim10", "ready"] for x in lines) >= 1
    assert lines[-1].split()[1:3] == ["sim10", "suspect"]
    assert "cryptosoft0" not in "".join(lines)
    assert "\033" not in "".join(lines)


def test_stat_ends(tree):
    said = tree.says("ocfstat", "--interval", "0.1", "--count", "3", "--json")
    assert len(said.splitlines()) == 3


def test_stat_is_interrupted(tree):
    with stat(tree) as run:
        run.stdout.readline()
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 128 + signal.SIGINT


def read_until(fd: int, what: str, said: str = "") -> str:
    while what not in said:
        said += os.read(fd, 65536).decode().replace("\r\n", "\n")
    return said


def test_stat_on_a_terminal(tree):
    master, slave = pty.openpty()
    run = subprocess.Popen([TOOLS / "ocfstat", "--sysfs", tree.root,
                            "--interval", "0.2"], stdout=slave, stderr=slave,
                           env={**os.environ, "COLUMNS": "120"})
    os.close(slave)
    try:
        said = read_until(master, "sim10 ")
        tree.set("sim10", "state", "suspect")
        said = read_until(master, "sim10       suspect ", said)
    finally:
        run.kill()
        run.wait()
        os.close(master)
    # each report but the first is drawn over the one before
    assert said.startswith("\033[JDEVICE ") or said.startswith("\r\033[JDEVICE")
    assert said.count("\033[3A\033[J") == said.count("DEVICE") - 1 > 0
    # the change stays above
    assert re.search(r"\033\[3A\033\[J\d\d:\d\d:\d\d sim10: "
                     r"ready -> suspect\nDEVICE", said)


@functools.cache
def program(tool: str):
    """A tool as a module."""
    loader = importlib.machinery.SourceFileLoader(tool, str(TOOLS / tool))
    spec = importlib.util.spec_from_loader(tool, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[tool] = module
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("err, result", [
    (errno.EBUSY, "refused"), (errno.EDQUOT, "refused"),
    (errno.EOPNOTSUPP, "refused"), (errno.EBADMSG, "wrong"),
    (errno.EIO, "wrong")])
def test_check_tells_refused_from_wrong(err, result):
    """A device that is full, as by other users, has given no wrong answer."""
    check = program("ocfcheck")

    def once():
        raise check.ocf.Error(err)
    bench = types.SimpleNamespace(rnd=random.Random(), operations=0, bytes=0)
    args = types.SimpleNamespace(first=0, rounds=3, seed=1)
    row = check.repeat(bench, once, ("sim10", "cipher", "aes-cbc"), args)
    assert row.result == result


@pytest.fixture(name="screen")
def ocfstat_s_screen():
    return program("ocfstat").Screen()


def of_one(**counters) -> list[dict]:
    old = sample()
    new = sample({1 << 20: 5}, **{k: COUNTERS.get(k, 0) + n
                                  for k, n in counters.items()})
    found = rates.rates({"virtio0": new}, {"virtio0": old}, 1.0)
    return [{"name": "virtio0", **found["virtio0"]}]


def test_stat_hides_what_has_no_room(screen):
    keys = of_one(pk_operations=1234, pk_errors=3, pk_replays=2)
    wide = screen.lines(keys, 100)
    assert len(wide) == 2
    narrow = screen.lines(keys, 79)
    assert all(len(line) <= 79 for line in narrow)
    assert narrow[-1] == f"not shown: P50us; {len(wide[0]) + 1} columns show all"
    # at any width the columns remain that show whether the device works, and
    # works well
    for line, word in zip(screen.lines(keys, 20), ("KEYS/s", "1234")):
        assert word in line.split()
    row = dict(zip(wide[0].split(), wide[1].split()))
    assert (row["ERR/s"], row["REPLAYS"]) == ("3", "2")


def test_stat_columns_stay(screen):
    first = screen.lines(of_one(operations=10 ** 9, bytes=10 ** 12), 200)
    later = screen.lines(of_one(operations=1), 200)
    assert first[0] == later[0]
    assert len(first[1]) == len(later[1])


def test_stat_prometheus(tree):
    tree.counters("sim10", pk_operations=7, pk_errors=1, pk_replays=0,
                  pk_inflight=0, pk_waiting=0)
    tree.table("sim10", "latency", "1024 4\n4096 6\n2147483648 1")
    tree.table("sim10", "public_key_latency", "1048576 7")
    said = tree.says("ocfstat", "--prometheus")
    done = subprocess.run(
        [TOOLS.parent / "build/prometheus/usr/bin/promtool", "check",
         "metrics"], input=said, text=True, capture_output=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    for line in ('operations_total{device="sim10",kind="hardware"} 100',
                 'public_key_operations_total{device="sim10",kind="hardware"} 7',
                 'state{device="sim10",kind="hardware",state="ready"} 1',
                 'state{device="sim10",kind="hardware",state="suspect"} 0',
                 'latency_seconds_bucket{device="sim10",kind="hardware",'
                 'le="2.048e-06"} 4',
                 'latency_seconds_bucket{device="sim10",kind="hardware",'
                 'le="8.192e-06"} 10',
                 'latency_seconds_bucket{device="sim10",kind="hardware",'
                 'le="+Inf"} 11',
                 'latency_seconds_count{device="sim10",kind="hardware"} 11',
                 'public_key_latency_seconds_bucket{device="sim10",'
                 'kind="hardware",le="0.002097152"} 7'):
        assert f"ocf_{line}" in said.splitlines()
    assert 'public_key_latency_seconds_count{device="cryptosoft0"' not in said
    assert "cryptosoft0" not in tree.says("ocfstat", "--prometheus", "sim10")


@pytest.mark.parametrize("words, what", [
    (["--interval", "0"], "0.05 seconds or more"),
    (["--interval", "nan"], "0.05 seconds or more"),
    (["--interval", "x"], "x"), (["--count", "0"], "1 or more"),
    (["sim1"], "no such device"), (["--fast"], "--fast")])
def test_stat_misuse(tree, words, what):
    assert what in tree.fails(2, "ocfstat", *words)


# Completion ----------------------------------------------------------------


@pytest.mark.parametrize("words, want", [
    (["ocfctl", "dr"], ["drain"]),
    (["ocfctl", "--"], ["--sysfs"]),
    (["ocfctl", "re"], ["resume"]),
    (["ocfctl", "al"], ["algorithms", "alg"]),
    (["ocfctl", "alg", "--p"], ["--priority"]),
    (["ocfctl", "drain", "--"], ["--wait"]),
    (["ocfctl", "show", "--"], ["--json"]),
    (["ocfctl", "show", "s"], ["sim10"]),
    (["ocfctl", "drain", "sim10", "c"], ["cryptosoft0"]),
    (["ocfctl", "weight", "sim10", ""], []),
    (["ocfctl", "forbid", "s"], ["sim10"]),
    (["ocfctl", "forbid", "sim10", ""], ["all", "none", "aes-cbc", "sha256"]),
    (["ocfctl", "forbid", "sim10", "aes-cbc,s"], ["aes-cbc,sha256"]),
    (["ocfstat", "--c"], ["--count"]),
    (["ocfstat", "--count", ""], []),
    (["ocfstat", "--json", "s"], ["sim10"]),
    (["ocfspeed", "--de"], ["--device", "--decrypt", "--depth"]),
    (["ocfspeed", "--way", "linux"], ["linux", "linux-async"]),
    (["ocfspeed", "--way", "run,af"], ["run,afalg", "run,afalg-splice"]),
    (["ocfspeed", "--device", "any,s"], ["any,sim10"]),
    (["ocfspeed", "--mode", ""], ["eta", "mte", "chain"]),
    (["ocfspeed", "--size", ""], []),
    (["ocfspeed", "--json", "d"], ["dh", "deflate"]),
    (["ocfspeed", "--load", "/etc/hostna"], ["/etc/hostname"]),
    (["ocfspeed", "--sysfs", "/sy"], ["/sys"]),
    (["ocfcheck", "--m"], ["--mode", "--max"]),
    (["ocfcheck", "--device", "s"], ["sim10"]),
    (["ocfcheck", "--device", "sim10,c"], ["sim10,cryptosoft0"]),
    (["ocfcheck", "--mode", "cipher,c"], ["cipher,cipher", "cipher,chain",
                                          "cipher,compress"]),
    (["ocfcheck", "--seed", ""], []),
    (["ocfcheck", "--sysfs", "/sy"], ["/sys"]),
    (["ocfcheck", "d"], ["deflate"]),
    (["ocfcheck", "rsa"], ["rsa-sign"]),
])
def test_completion(tree, words, want):
    tree.set("sim10", "public_key_operations", "rsa-sign")
    script = (TOOLS / "completion" / words[0]).read_text()
    script = script.replace("/sys/class/ocf", str(tree.path))
    quoted = " ".join(f"'{w}'" for w in words)
    script += f"""
COMP_WORDS=({quoted}) COMP_CWORD={len(words) - 1}
_{words[0]}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-euc", script], text=True,
                          capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == want


# Text ----------------------------------------------------------------------


def test_sizes():
    for count, want in ((0, "0"), (999, "999"), (1000, "1k"), (1234, "1.23k"),
                        (12345, "12.3k"), (999499, "999k"), (999500, "1M"),
                        (99960, "100k"), (5 * 10 ** 15, "5P")):
        assert text.size(count) == want


def test_tables():
    assert text.table(("A", "N"), [("long", 1), ("b", 200)]) == [
        "A       N", "long    1", "b     200"]


# ocfspeed ------------------------------------------------------------------


def result(way: str, device: str, size: int, rate: float, **more) -> dict:
    return {"algorithm": "aes-cbc", "mode": "cipher", "decrypt": False,
            "way": way, "device": device, "bytes": size,
            "operations_per_s": rate, "bytes_per_s": rate * size, **more}


RESULTS = [
    result("run", "any", 64, 1e6), result("run", "any", 4096, 1e5),
    result("uring", "sim10", 64, 2e6),
    {"algorithm": "aes-cbc", "mode": "cipher", "decrypt": False,
     "way": "uring", "device": "sim10", "bytes": 4096, "error": "E2BIG",
     "reason": "too big"},
    {"algorithm": "aes-cbc", "mode": "-", "decrypt": False, "way": "afalg",
     "device": "any", "bytes": 64, "error": "EOPNOTSUPP", "reason": ""},
    {"algorithm": "aes-cbc", "mode": "-", "decrypt": False, "way": "afalg",
     "device": "any", "bytes": 4096, "error": "EOPNOTSUPP", "reason": ""},
    result("run", "any", 4096, 1e5) | {"algorithm": "aes-cbc+hmac-sha1",
                                       "mode": "mte", "decrypt": True},
    result("run", "any", 0, 1234.5) | {"algorithm": "rsa-sign",
                                       "mode": "public"},
]


@pytest.fixture(name="measured")
def what_was_measured(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))
    return str(path)


def test_speed_shows(tree, measured):
    assert tree.says("ocfspeed", "--load", measured) == """
aes-cbc: MiB/s
WAY    DEVICE      64    4096
run    any      61.04  390.62
uring  sim10   122.07   E2BIG

aes-cbc+hmac-sha1, mte, decryption: MiB/s
WAY  DEVICE    4096
run  any     390.62

rsa-sign: operations/s
WAY  DEVICE
run  any     1234.5
"""


def test_speed_repeats(tree, measured):
    assert json.loads(tree.says("ocfspeed", "--json", "--load",
                                measured)) == RESULTS


@pytest.mark.parametrize("kind, begins", [
    ("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_speed_draws(tree, measured, tmp_path, kind, begins):
    path = tmp_path / f"speed.{kind}"
    tree.says("ocfspeed", "--load", measured, "--plot", str(path))
    assert path.read_bytes().startswith(begins)


def test_speed_of_a_wrong_result(tree, measured, tmp_path):
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps([RESULTS[3] | {"error": "EBADMSG"}]))
    done = tree.run("ocfspeed", "--load", str(path))
    assert done.returncode == 1
    assert "uring sim10: the result is wrong" in done.stderr


def test_speed_of_nothing(tree, tmp_path):
    path = tmp_path / "nothing.json"
    path.write_text(json.dumps([RESULTS[3] | {"error": "EACCES"}]))
    done = tree.run("ocfspeed", "--load", str(path))
    assert done.returncode == 1
    assert "nothing was measured: EACCES" in done.stderr


def test_speed_lists(tree):
    said = tree.says("ocfspeed", "--list")
    assert "algorithms: aes-cbc sha256 deflate all" in said
    assert "devices: any cryptosoft0 sim10" in said


@pytest.mark.parametrize("words, what", [
    (["--load", "/nonexistent"], "No such file"),
    (["--load", "/etc/hostname"], "nothing that ocfspeed --json"),
    (["--plot", "speed.nonsense"], "nonsense"),
    (["aes-cbc/x"], "x is no number of bits"),
    (["+sha1"], "ALGORITHM[/BITS]"),
    (["--size", "0"], "is not between 1 and"),
    (["--seconds", "nan"], "is not between"),
    (["--way", "carrier-pigeon"], "carrier-pigeon is none of"),
])
def test_speed_of_nonsense(tree, measured, tmp_path, words, what):
    if "--plot" in words:
        words = ["--plot", str(tmp_path / words[1]), "--json", "--load",
                 measured]
    done = tree.run("ocfspeed", *words)
    assert done.returncode in (1, 2)
    assert what in done.stderr and "Traceback" not in done.stderr


def test_speed_without_the_device(tree):
    if os.path.exists("/dev/crypto"):
        pytest.skip("there is one")
    assert "modprobe ocf" in tree.fails(1, "ocfspeed", "aes-cbc")
