"""The checks of a verification as a table: a row a check under the heading of its group, a cell a device."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import Text, counted, joined, text, verbatim
from gpuassist.model.verdict import Cause, DeviceVerdict, Verdict
from gpuassist.present.marks import Mark
from gpuassist.present.overview import short_name
from gpuassist.session.checks import CheckGroup, check_label, group_of
from gpuassist.session.verify import card_of
from gpuassist.session.verify_progress import CheckLine, CheckState, RunStage, VerifyProgress, limit_of, seconds_left
from gpuassist.verify.protocol import Device, Planned
from gpuassist.verify.runner import Level


class Standing(str, Enum):
    """How a check stands on a device, or the checks of a group: the worst of them."""

    FAILED = "failed"
    HUNG = "hung"
    ERROR = "error"
    RUNNING = "running"
    WAITING = "waiting"
    PASSED = "passed"
    SKIPPED = "skipped"
    NOT_RUN = "not run"


STANDING_WORDS: Mapping[Standing, Text] = {
    Standing.FAILED: text("failed"),
    Standing.HUNG: text("hung"),
    Standing.ERROR: text("error"),
    Standing.RUNNING: text("running"),
    Standing.WAITING: text("waiting"),
    Standing.PASSED: text("passed"),
    Standing.SKIPPED: text("skipped"),
    Standing.NOT_RUN: text("not run"),
}
STANDING_MARKS: Mapping[Standing, Mark] = {
    Standing.FAILED: Mark.PROBLEM,
    Standing.HUNG: Mark.PROBLEM,
    Standing.ERROR: Mark.PROBLEM,
    Standing.RUNNING: Mark.BUSY,
    Standing.WAITING: Mark.TODO,
    Standing.PASSED: Mark.RIGHT,
    Standing.SKIPPED: Mark.ABSENT,
    Standing.NOT_RUN: Mark.ABSENT,
}
BAD_STANDINGS = frozenset({Standing.FAILED, Standing.HUNG, Standing.ERROR})
_OF_VERDICT = {
    Verdict.PASS: Standing.PASSED,
    Verdict.FAIL: Standing.FAILED,
    Verdict.ERROR: Standing.ERROR,
    Verdict.SKIPPED: Standing.SKIPPED,
    Verdict.HUNG: Standing.HUNG,
}
_OF_STATE = {CheckState.WAITING: Standing.WAITING, CheckState.RUNNING: Standing.RUNNING, CheckState.LEFT: Standing.NOT_RUN}
# What nobody wanted or had the time for was not run; what could not be is skipped.
_NOT_RUN = frozenset({Cause.TIME, Cause.CANCELLED, Cause.LOST})
_OPEN_AT_MOST = 24  # rows of checks; more of them begin folded
_WORTH_TELLING_SECONDS = 2.0


class Column(Struct, frozen=True):
    """A device: torch's name for it, `GPU 0` by NVML's number, what it is, and everything that tells it from others."""

    device: str
    title: Text
    name: str = ""
    tip: Text = verbatim("")


class TableRow(Struct, frozen=True):
    """A check, or the heading of a group where `planned` is None; `lines` are its checks, of each device in turn (none where that
    does not go through it). `members` are the devices that did it together, which all show the same; empty where each is alone.
    """

    group: CheckGroup
    planned: Planned | None
    lines: tuple[tuple[CheckLine, ...], ...]
    open: bool = True
    members: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[CheckGroup, Planned | None, tuple[str, ...]]:
        """What it is, wherever it stands."""
        return self.group, self.planned, self.members


def column_of(device: Device | DeviceVerdict, gpus: tuple[Gpu, ...], asked: tuple[str, ...]) -> Column:
    """How a device is headed: two cards of a mixed machine are told apart."""
    if device.device == "cpu":
        return Column("cpu", text("CPU"), device.name, text("CPU {name}", name=device.name))
    uuid, gpu = card_of(device, gpus, asked)
    index = gpu.index if gpu is not None else getattr(device, "index", None)
    title = text("GPU {index}", index=index.value) if isinstance(index, Known) else verbatim(device.device)
    pci = device.pci or (value_or(gpu.pci_address, "") if gpu is not None else "")
    parts = (f"{device.device}: {device.name}", uuid, pci and f"PCI {pci}")
    return Column(device.device, title, short_name(device.name), joined(tuple(verbatim(part) for part in parts if part)))


def standing(line: CheckLine) -> Standing:
    """How a check stands."""
    if line.check is None:
        return _OF_STATE[line.state]
    if line.check.cause in _NOT_RUN:
        return Standing.NOT_RUN
    return _OF_VERDICT[line.check.verdict]


def worst(lines: Iterable[CheckLine]) -> Standing | None:
    """The worst of several, which is what still runs where nothing is bad; None of none."""
    found = {standing(line) for line in lines}
    return next((one for one in Standing if one in found), None)


def summary(lines: tuple[CheckLine, ...]) -> Text:
    """The checks of a group in a few words, their worst first."""
    found = [standing(line) for line in lines]
    state, done = worst(lines), sum(line.state is CheckState.DONE for line in lines)
    if state in BAD_STANDINGS:
        bad = sum(one in BAD_STANDINGS for one in found)
        return text("{bad} of {count}", bad=bad, count=len(lines))
    if state in {Standing.RUNNING, Standing.WAITING} and (done or state is Standing.RUNNING):
        return text("{done} of {count}", done=done, count=len(lines))
    passed = found.count(Standing.PASSED)
    if state is Standing.PASSED and passed < len(lines):
        return text("{done} of {count}", done=passed, count=len(lines))
    if state is Standing.PASSED:
        return text("{count} passed", count=passed)
    return STANDING_WORDS[state] if state is not None else verbatim("")


def in_short(lines: tuple[CheckLine, ...]) -> str:
    """The same as a number: `1/12` failed, `12` passed; empty where nothing is done."""
    found = [standing(line) for line in lines]
    state, done = worst(lines), sum(line.state is CheckState.DONE for line in lines)
    if state in BAD_STANDINGS:
        return f"{sum(one in BAD_STANDINGS for one in found)}/{len(lines)}"
    if state in {Standing.RUNNING, Standing.WAITING}:
        return f"{done}/{len(lines)}" if done else ""
    passed = found.count(Standing.PASSED)
    return "" if state is not Standing.PASSED else str(passed) if passed == len(lines) else f"{passed}/{len(lines)}"


def beside_passed(lines: tuple[CheckLine, ...]) -> Text:
    """`2 skipped · 1 not run` of a group in which others passed or failed; empty where it says of itself what it came to."""
    found = [standing(line) for line in lines]
    left = [one for one in (Standing.SKIPPED, Standing.NOT_RUN) if one in found]
    if len(left) == len(set(found)) == 1:
        return verbatim("")
    return joined(tuple(text("{count} {what}", count=found.count(one), what=STANDING_WORDS[one]) for one in left))


def counts(lines: tuple[CheckLine, ...]) -> Text:
    """`12 checks · 10 passed · 2 skipped`."""
    found = [standing(line) for line in lines]
    parts = [text("{count} {what}", count=found.count(one), what=STANDING_WORDS[one]) for one in Standing if found.count(one)]
    return joined((counted("{count} check", "{count} checks", len(lines)), *parts))


def rows_of(progress: VerifyProgress, chosen: Mapping[CheckGroup, bool]) -> tuple[TableRow, ...]:
    """The table: groups in the order in which they run; `chosen` are those that the user opened or folded."""
    alone = tuple(device.device for device in progress.devices if not device.members)
    members = {device.device: device.members for device in progress.devices}
    by_check: dict[_Place, dict[str, CheckLine]] = {}
    for line in progress.lines:
        together = tuple(dict.fromkeys(members.get(line.device, ()))) or (line.device,)
        place = (line.planned, together if len(together) > 1 else ())
        by_check.setdefault(place, {}).update(dict.fromkeys(together, line))
    groups: dict[CheckGroup, list[_Place]] = {}
    for place in by_check:
        groups.setdefault(group_of(place[0]), []).append(place)
    few = len(by_check) <= _OPEN_AT_MOST
    rows: list[TableRow] = []
    for group, places in groups.items():
        inside = [_row(group, place, by_check[place], alone) for place in places]
        whole = tuple(tuple(line for row in inside for line in row.lines[place]) for place in range(len(alone)))
        bad = any(worst(lines) in BAD_STANDINGS for lines in whole)
        is_open = chosen.get(group, few or bad)
        rows.append(TableRow(group, None, whole, is_open))
        rows.extend(inside if is_open else ())
    return tuple(rows)


_Place = tuple[Planned, tuple[str, ...]]  # a check, and the devices that do it together, if they do


def _row(group: CheckGroup, place: _Place, lines: Mapping[str, CheckLine], devices: tuple[str, ...]) -> TableRow:
    found = (lines.get(device) for device in devices)
    return TableRow(group, place[0], tuple(() if line is None else (line,) for line in found), members=place[1])


_NAMES = {"python": "Python", "cuda": "CUDA", "cudnn": "cuDNN", "hip": "HIP"}  # as their makers write them


def stack_words(environment: Iterable[tuple[str, str]]) -> str:
    """`Python 3.11.7 · torch 2.6.0+cu124 · CUDA 12.4`: what was verified."""
    return " · ".join(f"{_NAMES.get(name, name)} {version}" for name, version in environment if version)


# How far a run is, in words.


def progress_words(progress: VerifyProgress, level: Level, at: float) -> Text:
    """What is going on, for how long already, and how long it may take."""
    seconds, limit = f"{max(0.0, at - progress.since):.0f}", f"{limit_of(progress.stage, level):.0f}"
    if progress.stage is RunStage.IMPORTING:
        return text("importing torch, {seconds} s (limit {limit} s)", seconds=seconds, limit=limit)
    if progress.stage is RunStage.STARTING:
        return text("starting the driver, {seconds} s (limit {limit} s)", seconds=seconds, limit=limit)
    parts = [text("{done} of {count} checks", done=progress.done, count=len(progress.lines)), *_time(progress, level, at)]
    slowest = progress.slowest
    if slowest is not None and at - slowest.since >= _WORTH_TELLING_SECONDS:
        label, ran = check_label(slowest.planned), f"{at - slowest.since:.0f}"
        parts.append(text("{check} {format} for {seconds} s", check=label, format=slowest.planned.dtype, seconds=ran))
    return joined(tuple(parts))


def _time(progress: VerifyProgress, level: Level, at: float) -> Iterator[Text]:
    left = seconds_left(progress, level, at)
    if left is None:
        yield text("{seconds} s so far", seconds=f"{max(0.0, at - progress.since):.0f}")
    elif left > 0:
        limit = limit_of(RunStage.CHECKING, level)
        yield text("at most {seconds} s of {limit} s left", seconds=f"{left:.0f}", limit=f"{limit:.0f}")
    else:
        yield text("time is up, ending")
