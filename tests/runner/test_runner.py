# SPDX-License-Identifier: BSD-2-Clause
"""The runner's parts that need no machine."""

import contextlib
import dataclasses
import fcntl
import os
import pathlib
import subprocess
import sys
import textwrap
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests"), str(TOP / "tests" / "runner")]
sys.dont_write_bytecode = True

import state  # noqa: E402
from runner import reads, report, slots, table  # noqa: E402

CALM = table.Machine("calm", ("--memory=2G",))
QUIET = table.Machine("quiet", ("--cpus=1",))


def a_test(name: str = "a", machine=None, run: str = "true", **keys):
    return table.Test(name=name, run=run, machine=machine,
                      **{"build": (), "reads": (), "timeout": 60, "allow": (),
                         "dirty": "", **keys})


class Durations:
    def of(self, test) -> float:
        return 20.0

    def save(self) -> None:
        pass


# Tables ----------------------------------------------------------------------


@pytest.mark.parametrize("tier", [*table.TIERS, "every"])
def test_every_table_can_be_read(tier):
    assert len(table.read(tier)) > 10


def test_what_is_read_is_there():
    for test in table.read("every"):
        assert len(reads.fingerprint(test)) == 64, test.name


@pytest.mark.parametrize("text, says", [
    ('[[test]]\nnames = ["x"]\nrum = "true"', "unknown key rum"),
    ('[[test]]\nrun = "true"', "without names"),
    ('[tests]\nnames = ["x"]', "unknown table tests"),
    ('[[test]]\nnames = ["x", "x"]', "x is there twice"),
    ('[[test]]\nnames = ["x"]\nmachine = "none"', "no machine none"),
    ('[[test]]\nnames = ["x"]\ntest = false', "x is in no tier"),
    ('[[test]]\nnames = ["x"]\nsmp = ["tset"]', "unknown tier tset"),
])
def test_a_mistake_in_a_table(tmp_path, monkeypatch, text, says):
    path = tmp_path / "tests.toml"
    path.write_text(text)
    monkeypatch.setattr(table, "_tables", lambda: [path])
    monkeypatch.setattr(table, "_place", lambda _: "here")
    with pytest.raises(table.Bad, match=says):
        table.read("every")


def test_tiers_and_defaults(tmp_path, monkeypatch):
    path = tmp_path / "tests.toml"
    path.write_text(textwrap.dedent("""
        [defaults]
        build = ["build/{}"]
        [[test]]
        names = ["pk_one", "pk_two"]
        run = "{} of {tail}"
        quick = "{} soon"
        debug = true
        [[test]]
        names = ["long"]
        test = false
        all = true
        """))
    monkeypatch.setattr(table, "_tables", lambda: [path])
    monkeypatch.setattr(table, "_place", lambda _: "here")
    runs = {tier: {t.name: t.run for t in table.read(tier)}
            for tier in (*table.TIERS, "every")}
    both = {"pk_one": "pk_one of one", "pk_two": "pk_two of two"}
    assert runs == {"quick": {"pk_one": "pk_one soon", "pk_two": "pk_two soon"},
                    "test": both, "debug": both,
                    "all": {**both, "long": "build/long"},
                    "every": {**both, "long": "build/long"}}
    debug, stock = table.read("debug")[0], table.read("test")[0]
    assert debug.machine.debug and not stock.machine.debug
    assert debug.timeout > stock.timeout
    assert stock.build == ("build/pk_one",) and stock.reads == ("here",)


def test_a_part_of_the_rounds(tmp_path, monkeypatch):
    path = tmp_path / "tests.toml"
    path.write_text(textwrap.dedent("""
        [[test]]
        names = ["x"]
        run = "echo $OCF_ROUNDS"
        test = "5%"
        debug = "30%"
        all = true
    """))
    monkeypatch.setattr(table, "_tables", lambda: [path])
    monkeypatch.setattr(table, "_place", lambda _: "here")
    said = {tier: subprocess.run(
        ["sh", "-ec", table.read(tier)[0].run], capture_output=True, text=True,
        check=True, env={}).stdout for tier in ("test", "debug", "all")}
    assert said == {"test": "5%\n", "debug": "30%\n", "all": "\n"}


def test_two_processors(tmp_path, monkeypatch):
    path = tmp_path / "tests.toml"
    path.write_text(textwrap.dedent("""
        [defaults]
        quick = true
        debug = true
        [[test]]
        names = ["one"]
        [[test]]
        names = ["two"]
        smp = ["test"]
        [[test]]
        names = ["cards"]
        machine = "virtio"
    """))
    monkeypatch.setattr(table, "_tables", lambda: [path])
    monkeypatch.setattr(table, "_place", lambda _: "here")
    machines = {tier: [t.machine.name for t in table.read(tier)]
                for tier in table.TIERS}
    one = ["one-cpu", "one-cpu", "virtio-one"]
    assert machines == {
        "quick": one, "test": ["one-cpu", "watchful", "virtio-one"],
        "debug": [f"{name}-debug" for name in one],
        "all": ["watchful", "watchful", "virtio"]}
    assert all(("--cpus=1" in t.machine.options) == ("one" in t.machine.name)
               for tier in table.TIERS for t in table.read(tier))


def test_names_and_patterns():
    tests = [a_test("one"), a_test("two"), a_test("three")]
    assert table.choose(tests, ["t*", "two"]) == tests[1:]
    with pytest.raises(table.Bad, match="no test tw; there is two"):
        table.choose(tests, ["tw"])


# What is read -----------------------------------------------------------------


def test_the_hash_is_of_all_that_matters():
    seen = {reads.fingerprint(t) for t in (
        a_test(), a_test("b"), a_test(run="false"), a_test(machine=CALM),
        a_test(machine=QUIET), a_test(reads=("docs",)),
        a_test(build=("modules",)))}
    assert len(seen) == 7
    assert reads.fingerprint(a_test()) in seen


@pytest.mark.parametrize("source, bare", [
    ("int a; /* b\n * c\n */\nint d;\n", "int a;\nint d;"),
    ("int a; // b\n\n\nint c;", "int a;\nint c;"),
    ('char *a = "/* no */ // one"; /* "one" */', 'char *a = "/* no */ // one";'),
    (r"""char a = '"', b = '\''; /* ' */ char c = '/';""",
     r"""char a = '"', b = '\'';   char c = '/';"""),
    (r'char *a = "\"/*"; int b; /* c */ int d;',
     r'char *a = "\"/*"; int b;   int d;'),
    ("a = b /*c*/ / d;", "a = b   / d;"),
    ("#define A \\\n\tb\n", "#define A \\\n\tb"),
])
def test_comments_are_no_code(source, bare):
    assert reads.code(source.encode()).decode() == bare


def test_what_is_checked_on_the_host_has_comments(tmp_path, monkeypatch):
    source = tmp_path / "kernel/a.c"
    source.parent.mkdir()
    monkeypatch.setattr(reads, "TOP", tmp_path)
    monkeypatch.setattr(reads, "files", lambda: ["kernel/a.c"])
    seen = []
    for text in "int a;\n", "/* b */\nint a;\n", "int b;\n":
        source.write_text(text)
        reads._hash_file.cache_clear()
        reads._hash_below.cache_clear()
        seen.append([reads._hash_below("kernel", c) for c in (False, True)])
    reads._hash_file.cache_clear()
    reads._hash_below.cache_clear()
    assert len({s[0] for s in seen}) == 2
    assert len({s[1] for s in seen}) == 3


def test_a_result_is_known_by_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert reads.known("k" * 64) is None
    reads.remember("k" * 64, 1.5, 7)
    assert reads.known("k" * 64)["seed"] == 7


# Judging ----------------------------------------------------------------------

WARNING = "[    1.000000] WARNING: CPU: 0 PID: 1 at a.c:1\n"


@pytest.mark.parametrize("status, output, kernel, left, why", [
    (0, "ok 1\n", "[    1.0] fine\n", [], ""),
    (3, "", "", [], "status 3"),
    (-9, "", "", [], "signal 9"),
    (slots.TIMED_OUT, "", "", [], "not done after 60 s"),
    (0, "ok 1\nnot ok 2 x\n", "", [], 'a line says "not ok"'),
    (0, "# PASSED: 0 / 0 tests passed.\n", "", [], "no test ran"),
    (0, "# PASSED: 10 / 10 tests passed.\n", "", [], ""),
    (0, "Ran 0 tests in 0.0s\n\nOK\n", "", [], "no test ran"),
    (0, "", WARNING, [], "a report in the kernel's log"),
    (0, "", "", ["file /tmp/x: there, new"], "it leaves something behind"),
])
def test_a_test_is_judged(status, output, kernel, left, why):
    got = slots.Result(a_test(), output=output, kernel=kernel)
    assert slots.judge(got, status, left) == why


def test_what_is_allowed():
    got = slots.Result(a_test(allow=("at a.c",)), kernel=WARNING)
    assert slots.judge(got, 0, []) == ""


def test_differences_are_told():
    assert state.differences({"a": "1", "b": "2"}, {"a": "1", "b": "3", "c": "4"}) \
        == ["b: 3, was 2", "c: 4, new"]
    assert state.differences({"a": "1"}, {}) == ["a: 1, gone"]


@pytest.mark.parametrize("run, why", [
    ("echo out; exit 0", ""), ("exit 4", "status 4"),
    ("sleep 100", "not done after 1 s"),
    ("touch $TMPDIR/x", "it leaves something behind"),
    ("setsid -f sleep 1000; sleep 1", "it leaves something behind"),
    ("test $OCF_SEED = 5", ""),
])
def test_on_the_host(run, why, monkeypatch):
    monkeypatch.setattr(slots, "LEAVE_S", 1)
    test = dataclasses.replace(a_test(run=run), timeout=1 if "100" in run and
                               "setsid" not in run else 60)
    got = slots.run_on_host(test, {"OCF_SEED": "5"})
    while subprocess.run(["pgrep", "-f", "^sleep 1000$"], check=False,
                         stdout=subprocess.DEVNULL).returncode == 0:
        time.sleep(0.1)     # it is killed, and will be gone
    assert got.why == why
    assert ("out" in got.output) == ("echo" in run)


def test_a_failure_is_told_at_the_very_end(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(report, "TOP", tmp_path)
    (tmp_path / "build").mkdir()
    run = report.Report("none", 5, tmp_path / "build", Durations())
    run.tell(slots.Result(a_test(), output="early\n" * 100 + "the reason\n",
                          why="status 1"))
    capsys.readouterr()
    assert run.end(None) == 1
    said = capsys.readouterr().out
    assert "FAIL a: status 1, its last lines:\n    early\n" in said
    assert "    the reason\n" in said and len(said.splitlines()) < 20


# Scheduling -------------------------------------------------------------------


def test_the_time_of_some_processors():
    stat = ("cpu  99 99 99 99 99 99 99 99 0 0\n"
            "cpu0 100 20 30 900 50 1 2 47 3 0\n"
            "cpu1 1000 0 0 0 0 0 0 0 0 0\n"
            "cpu12 5 0 0 0 0 0 0 0 0 0\n"
            "intr 1 2\n")
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert report.busy_s(stat, {0}) == 200 * tick
    assert report.busy_s(stat, {0, 12}) == 205 * tick


@pytest.mark.parametrize("lost, status", [(0, 1), (20, 1), (60, 0)])
def test_others_do_not_use_up_the_budget(tmp_path, monkeypatch, capsys, lost,
                                         status):
    """A budget of 40 s, a run of 100, of which others have had @lost."""
    (tmp_path / "build").mkdir()
    monkeypatch.setattr(report, "TOP", tmp_path)
    monkeypatch.setattr(report, "budgets", lambda: {
        "yardstick_s": 2.0, "seconds": {"test": 40}})
    monkeypatch.setattr(report, "others_s", lambda: 1000.0)
    run = report.Report("test", 5, tmp_path / "build", Durations())
    run.begun -= 100
    monkeypatch.setattr(report, "others_s", lambda: 1000.0 + lost)
    assert run.end(2.0) == status
    said = capsys.readouterr().out
    assert ("is too much" in said) == bool(status)
    assert (f"{lost} s of it for other programs" in said) == bool(lost)


def test_groups_share_machines_and_are_joined():
    tests = [a_test("a", CALM), a_test("b", CALM), a_test("c", CALM),
             a_test("d", CALM), a_test("e", QUIET), a_test("f")]
    plan = slots.Schedule(tests, Durations(), ["f"])
    assert plan.group() == "host f"
    assert plan.group() == "calm"
    assert plan.group() == "quiet"
    assert plan.test("host f").name == "f"
    # worth a second machine, until too little of it is left
    assert plan.group() == "calm"
    assert [plan.test("calm").name for _ in range(3)] == ["a", "b", "c"]
    assert plan.group() is None
    plan.stop()
    assert plan.test("calm") is None and plan.test("quiet") is None


def test_what_comes_first():
    tests = [a_test("a", CALM), a_test("b", CALM)]
    plan = slots.Schedule(tests, Durations(), ["b"])
    assert plan.test("calm").name == "b"


def test_an_error_of_the_runners_own(tmp_path, monkeypatch):
    """A test without a result is no test that has passed."""
    def lost(*_):
        raise FileNotFoundError("its log")

    told = []
    monkeypatch.setattr(slots, "run_on_host", lost)
    runner = slots.Runner([a_test(c) for c in "abc"], 2, {}, tmp_path,
                          told.append, Durations(), [])
    with pytest.raises(FileNotFoundError, match="its log"):
        runner.run()
    assert not told and runner.schedule.group() is None


def test_one_run_at_a_time():
    """Two would write to the same logs."""
    path = TOP / "build" / "log" / "quick.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii") as lock:
        with contextlib.suppress(BlockingIOError):      # a real one has it
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        done = subprocess.run([TOP / "tests/run", "quick"], text=True,
                              capture_output=True, check=False, env=os.environ)
    assert done.returncode == 2
    assert "another run of quick is under way" in done.stderr


def test_a_name_that_is_not_there():
    done = subprocess.run([TOP / "tests/run", "test", "no_such_test"], text=True,
                          capture_output=True, check=False, env=os.environ)
    assert done.returncode == 2
    assert "no test no_such_test" in done.stderr
