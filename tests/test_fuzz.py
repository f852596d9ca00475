"""The fuzzer's own inputs for a few seconds: everything that reads what others wrote, with one seed.

`make fuzz` runs it for longer, in processes that are watched.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.fuzz import Judge, main, raw_controls
from tools.fuzz_mutate import LARGEST, Mutator
from tools.fuzz_targets import TARGETS, Target

SECONDS = 1.5  # at most, for each way in
RUNS = 150
SEED = 20261121


@pytest.fixture
def kept() -> list[tuple[str, str, bytes, str]]:
    return []


def _judge(target: Target, scratch: Path, kept: list[tuple[str, str, bytes, str]]) -> Judge:
    return Judge(target.name, target.make(scratch), lambda *told: kept.append(told))


@pytest.mark.parametrize("target", TARGETS, ids=lambda one: one.name)
def test_hostile_input_is_no_fault_of_ours(target: Target, home: Path, kept: list[tuple[str, str, bytes, str]]) -> None:
    corpus = target.corpus()
    mutator, judge = Mutator(corpus, SEED), _judge(target, home, kept)
    until = time.monotonic() + SECONDS  # a bound of what it costs, not of what is right: a slow machine tries less
    for _ in range(RUNS):
        judge.take(mutator.next())
        if time.monotonic() > until:
            break
    assert judge.tally.runs
    assert [(what, words, data) for _, what, data, words in kept if what == "fault"] == []


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_honest_input_is_taken(target: Target, home: Path, kept: list[tuple[str, str, bytes, str]]) -> None:
    judge = _judge(target, home, kept)
    for data in random.Random(SEED).sample(target.corpus(), min(4, len(target.corpus()))):
        judge.take(data)
    assert kept == []


def test_the_same_seed_makes_the_same() -> None:
    corpus = [b'{"a": [1, {"b": "x"}]}', b"one\ntwo\n3\n"]

    def first(seed: int) -> Iterator[bytes]:
        mutator = Mutator(corpus, seed)
        return (mutator.next() for _ in range(200))

    made = list(first(1))
    assert made == list(first(1))
    assert made != list(first(2))
    assert len(set(made)) > 150
    assert max(map(len, made)) <= LARGEST


def _raises(data: bytes) -> str:
    return str(1 // len(data))


def _prints(data: bytes) -> str:
    return data.decode()


def test_faults_and_escapes_are_kept_and_counted(kept: list[tuple[str, str, bytes, str]]) -> None:
    judge = Judge("x", _raises, lambda *told: kept.append(told))
    for _ in range(9):
        judge.take(b"")
    judge.take(b"1")
    assert (judge.tally.runs, judge.tally.faults) == (10, 9)
    assert [what for _, what, _, _ in kept] == ["fault"] * 3
    assert "ZeroDivisionError" in kept[0][3]
    shown = Judge("x", _prints, lambda *told: kept.append(told))
    shown.take(b"\x1b[2J")
    assert (shown.tally.faults, shown.tally.escapes) == (0, 1)


@pytest.mark.parametrize("words", ["\x1b[31m", "\x07", "\r", "\x9b", "\u202e", "\x7f"])
def test_what_steers_a_terminal_is_seen(words: str) -> None:
    assert raw_controls(f"a{words}b")
    assert not raw_controls("a\tb\n¼ ✓ …")


def test_a_run_of_the_tool_tells_and_ends(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = main(["--target", "children", "--seconds", "1", "--escapes", "record", "--results", str(tmp_path)])
    out = capfd.readouterr().out
    assert (status, "children: " in out, ", 0 faults, " in out, out.rstrip().endswith("0 hangs")) == (0, True, True, True)
    assert "children: 0 runs" not in out


def test_an_input_that_is_kept_can_be_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b'{"type": "end"}')
    assert main(["--target", "children", "--replay", str(kept)]) == 0
