"""The stops of the walk at pages that open files of others: before one is open, with each kind, with one that is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from gpuassist.model.estimate import EstimateSetting, Offload, Optimizer, Quantization, Sharding, Task
from gpuassist.session.navigation import GoTo, SideTool, ToEstimate, ToProfile, ToSnapshot
from gpuassist.session.opened_snapshot import ReadingOutlook
from gpuassist.ui.pages.profile.page import ProfilePage
from gpuassist.ui.pages.snapshot.page import SnapshotPage
from gpuassist.ui.pages.snapshot.snapshot_view import FINDINGS, GROWTH, MOMENT, OTHER, SEGMENTS, SETTINGS
from tests.formats.made_traces import steps, trace
from tests.formats.test_profile_tables import WITH_KERNELS
from tests.ui.made_snapshots import opened_snapshot, snapshot_bytes

if TYPE_CHECKING:
    from tools.window_stops import Stand

_NOT_ONE = b"\1\2"


def profile(stand: Stand) -> Iterator[str]:
    """Where time goes."""
    page = cast("ProfilePage", stand.go(GoTo(SideTool.PROFILE)))
    stand.until(lambda: bool(page.tools.advice))
    for place in range(page.tools.question.count()):
        page.tools.question.setCurrentIndex(place)
        yield f"asks{place}"
    folder = _folder()
    for name, content in (("trace.json", trace(steps(30))), ("table.txt", WITH_KERNELS.encode()), ("none.nsys-rep", _NOT_ONE)):
        (folder / name).write_bytes(content)
        stand.go(ToProfile(str(folder / name)))
        yield name.rpartition(".")[2]


def snapshot(stand: Stand) -> Iterator[str]:
    """Memory snapshot."""
    page = cast("SnapshotPage", stand.go(GoTo(SideTool.SNAPSHOT)))
    yield ""
    page.files.asked.emit(ReadingOutlook("/a/rather/long/place/of/big.pickle", 4 << 30, 5 << 30, 2 << 30, 3 << 30, 160.0))
    yield "large"
    page.nothing.show_reading("a-snapshot-with-a-rather-long-name.pickle", 0.4)
    page._show_only(page.nothing)
    yield "reading"
    folder = _folder()
    (folder / "none.pickle").write_bytes(_NOT_ONE)
    stand.go(ToSnapshot(str(folder / "none.pickle")))
    yield "none"
    (folder / "step.pickle").write_bytes(snapshot_bytes())
    stand.go(ToSnapshot(str(folder / "step.pickle")))
    assert page.view is not None
    page._take_other(opened_snapshot(step=12 << 20))
    stand.until(lambda: not page.busy)
    for place in (MOMENT, GROWTH, OTHER, SEGMENTS, FINDINGS, SETTINGS):
        page.view.show_tab(place)
        yield f"tab{place}"


def estimate(stand: Stand) -> Iterator[str]:
    """Will it fit?"""
    stand.go(GoTo(SideTool.ESTIMATE))
    yield ""
    stand.go(ToEstimate("7B", EstimateSetting(task=Task.TRAIN)))
    yield "trained"
    longest = EstimateSetting(task=Task.TRAIN, optimizer=Optimizer.ADAMW_8BIT, lora=16, quantization=Quantization.NF4, gpus=8)
    stand.go(ToEstimate("hidden=2048,layers=16,heads=32", replace(longest, offload=Offload.OPTIMIZER, sharding=Sharding.ZERO3)))
    yield "shared"
    stand.go(ToEstimate("70B", EstimateSetting(task=Task.INFER)))
    yield "answers"
    stand.go(ToEstimate("/a/rather/long/place/of/a/program/model.py:build", EstimateSetting()))
    yield "code"
    stand.go(ToEstimate("nonsense", EstimateSetting()))
    yield "nonsense"


def _folder() -> Path:
    folder = Path(os.environ["HOME"], "what-a-program-left")
    folder.mkdir(exist_ok=True)
    return folder
