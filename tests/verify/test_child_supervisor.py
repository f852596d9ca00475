"""How the supervisor tells a hang from slowness: nothing runs here, its workers are told what they have done."""

from __future__ import annotations

import os
import struct
import time
from typing import Any

import pytest

from gpuassist.verify.child import forks
from gpuassist.verify.child.supervisor import Supervisor, Worker
from gpuassist.verify.runner import LIMITS, Level
from tests.rows import for_each

CHECK = {"device": "cuda:0", "name": "sort", "dtype": "fp32"}


def made(level: Level = Level.QUICK) -> Supervisor:
    limits = LIMITS[level]
    seconds = {"start": limits.start, "gpu": limits.gpu, "cpu": limits.cpu, "compiling": limits.compiling, "all": limits.checks}
    one = Supervisor(-1, {"limits": seconds, "level": level.value}, None)
    one._planned = {"cuda:0": [{"name": "matmul", "dtype": "fp32"}, {"name": "sort", "dtype": "fp32"}]}
    one._count = {"cuda:0": 1}
    return one


def at_its_check(silent: float, *, pages: int = 0) -> Worker:
    worker = Worker("cuda:0")
    worker.running, worker.pages = dict(CHECK), pages
    struct.pack_into("d", worker.pulse, 0, time.monotonic() - silent)
    return worker


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is said of the check that a worker was at when it was ended."""
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(Supervisor, "_end", lambda _self, _one, patience=0.0: True)
    monkeypatch.setattr(Supervisor, "_say", lambda _self, line: told.append(line))
    monkeypatch.setattr(Supervisor, "_fork", lambda _self, _one: None)
    monkeypatch.setattr(forks, "pages_loaded", lambda _pid: 7)
    return told


def verdicts(told: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(line["verdict"], line.get("cause", "")) for line in told if line["type"] == "check" and line["name"] == "sort"]


@for_each("level", [Level.QUICK, Level.FULL])
def test_a_new_process_may_start_the_gpu_anew(level: Level) -> None:
    one, worker = made(level), at_its_check(0.0)
    assert one._limit(worker) >= LIMITS[level].start
    worker.started = True
    assert one._limit(worker) == LIMITS[level].gpu


@for_each(
    ("silent", "pages", "over", "verdict"),
    [
        (20.0, 7, 15.0, []),  # silent since before the end of the time: it may be slow, or hang
        (31.0, 7, 15.0, [("hung", "")]),
        (31.0, 6, 15.0, [("skipped", "time")]),  # it loads something, and the time is over
        (31.0, 6, -5.0, []),
        (1.0, 7, 5.0, [("skipped", "time")]),  # a sign of life after the end
        (1.0, 7, -5.0, []),
    ],
)
def test_only_what_gives_no_sign_hangs(
    silent: float, pages: int, over: float, verdict: list[tuple[str, str]], ended: list[dict[str, Any]]
) -> None:
    ended.clear()
    one, worker = made(), at_its_check(silent, pages=pages)
    one._until = time.monotonic() - over
    worker.started = True
    one._look_at(worker)
    assert verdicts(ended) == verdict


def test_the_kernel_tells_for_which_pages_a_process_waited() -> None:
    assert forks.pages_loaded(1 << 30) == 0
    assert forks.pages_loaded(os.getpid()) >= 0
