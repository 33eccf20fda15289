# SPDX-License-Identifier: BSD-2-Clause
"""The judgement of bench/budgets, on counts that are made up."""

import importlib.machinery
import importlib.util
import pathlib

import pytest

PATH = pathlib.Path(__file__).resolve().parent / "budgets"
NATIVE = PATH.parents[1] / "docs" / "native.md"
LOADER = importlib.machinery.SourceFileLoader("budgets", str(PATH))
budgets = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("budgets", LOADER))
LOADER.exec_module(budgets)

ROW = budgets.Row("a path", budgets.count("x"), budgets.fixed(100),
                  budgets.fixed(50))


@pytest.mark.parametrize("measured, says", [
    (101, "MISSED"), (100, "met"), (51, "met"), (50, "met, and the aim"),
])
def test_a_budget_is_the_most_that_is_allowed(measured, says):
    assert budgets.verdict(ROW, {"x": measured}) == says


def test_overhead_is_a_difference():
    over = budgets.over("a", "b")
    assert over({"a": 816, "b": 640}) == 176


@pytest.mark.parametrize("now, bad", [
    (1000, 0), (1001, 1), (999, 1),
])
def test_exact_means_to_the_instruction(now, bad):
    assert len(budgets.differences({"x": now}, {"x": 1000}, 0.0)) == bad


@pytest.mark.parametrize("now, bad", [
    (1020, 0), (980, 0), (1021, 1), (979, 1),
])
def test_two_per_cent_with_other_tools(now, bad):
    assert len(budgets.differences({"x": now}, {"x": 1000}, 0.02)) == bad


def test_a_count_that_is_gone_or_new_is_a_difference():
    assert budgets.differences({"new": 1}, {"old": 1}, 0.02) == [
        "new: new", "old: gone"]


def test_what_varies_has_its_bound_and_no_more():
    name, bound = "devcrypto/hmac-sha256/64", 4
    assert not budgets.differences({name: 1000 + bound}, {name: 1000}, 0.0)
    assert budgets.differences({name: 1000 + bound + 1}, {name: 1000}, 0.0)


def test_the_baseline_is_read_as_it_is_written():
    tools, counts = {"kernel": "6.12 #1: x"}, {"a/64": 12, "b": 3}
    assert budgets.parse(budgets.render(tools, counts)) == (tools, counts)


def test_an_update_keeps_what_chance_has_changed():
    old = {"devcrypto/hmac-sha256/64": 1000, "a/64": 1000, "gone": 1}
    new = {"devcrypto/hmac-sha256/64": 1004, "a/64": 1001, "new": 1}
    assert budgets.settled(new, old) == {
        "devcrypto/hmac-sha256/64": 1000, "a/64": 1001, "new": 1}


def test_an_update_writes_the_documents_table():
    _, counts = budgets.parse(budgets.BASELINE.read_text())
    text = budgets.DOCUMENT.read_text()
    other = budgets.documented(text, counts | {"getpid": 1234567})
    assert "| getpid | | | | 1,234,567 | | | |\n" in other
    assert budgets.documented(other, counts) == text


def test_every_row_of_the_table_is_in_the_baseline():
    _, counts = budgets.parse(budgets.BASELINE.read_text())
    assert budgets.table(counts).count("\n") == len(budgets.ROWS)
    for row in budgets.ROWS:
        assert all(name in counts or "splice" in name for name in row.afalg)
    for part, _ in budgets.VARIES:
        assert any(part in name for name in counts)


def test_the_documents_have_the_baselines_counts():
    _, counts = budgets.parse(budgets.BASELINE.read_text())
    text = budgets.DOCUMENT.read_text()
    assert budgets.documented(text, counts) == text
    costs = NATIVE.read_text().split("## Costs")[1]
    for name in "native/vector", "native/uring", "devcrypto", "afalg":
        assert f"{counts[name + '/null/64']:,}" in costs
