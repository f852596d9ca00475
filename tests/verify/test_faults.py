"""Every fault that the stand-in CUDA driver can script gets the right verdict and exit status, with a real CUDA build of torch;
and, from what the child said then, wherever this runs.

The stand-in is no part of this project. `GPUASSIST_FAKE_CUDA` names the folder with its libcuda.so.1 and libnvidia-ml.so.1 (and
`math`, its layer for right results), `GPUASSIST_CUDA_TORCH` an interpreter with a CUDA torch; `GPUASSIST_RECORD=1` records anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.verdict import Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import exit_of
from gpuassist.present.verification_document import verification_document
from gpuassist.session.verify import explained, judged
from gpuassist.session.verify_report import VerifyReport
from gpuassist.system.streams import Ended, NotStarted, Quiet, Stream
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.runner import Limits, RunRequest, run
from tests.cli.made_session import live_session
from tests.verify.faults import FAULTS, SCENARIOS, Fault

STAND_IN, CUDA_TORCH = os.environ.get("GPUASSIST_FAKE_CUDA", ""), os.environ.get("GPUASSIST_CUDA_TORCH", "")
RECORDED = Path(__file__).parent.parent / "cases" / "verify"
_LIMITS = Limits(start=60.0, gpu=60.0, cpu=600.0, checks=600.0)  # right on a busy machine, where nothing hangs
_HANGING = Limits(start=30.0, gpu=45.0, cpu=600.0, checks=600.0)
_MIB = 1 << 20


class _Recorded:
    """A stream that says again what a child once said."""

    def __init__(self, lines: Sequence[str], ended: Ended) -> None:
        self._lines, self._ended = list(lines), ended

    def line(self, *, seconds: float) -> bytes | Quiet:
        return self._lines.pop(0).encode() if self._lines else Quiet.CLOSED

    def end(self, *, patience: float = 0.0) -> Ended:
        return self._ended


class _Recording:
    """A real stream, all of whose lines are kept."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.lines: list[str] = []

    def line(self, *, seconds: float) -> bytes | Quiet:
        line = self._stream.line(seconds=seconds)
        if isinstance(line, bytes):
            self.lines.append(line.decode())
        return line

    def end(self, *, patience: float = 0.0) -> Ended:
        return self._stream.end(patience=patience)


class _Streams:
    """Streams of one run, of which the last is kept."""

    def __init__(self, real: Any = None, recorded: _Recorded | None = None) -> None:
        self._real, self._recorded = real, recorded
        self.last: _Recording | None = None

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/", given: bytes = b"") -> Any:
        if self._recorded is not None:
            return self._recorded
        stream = self._real.start(command, environment=environment, directory=directory, given=given)
        if isinstance(stream, NotStarted):
            return stream
        self.last = _Recording(stream)
        return self.last


def cards(fault: Fault) -> tuple[Gpu, ...]:
    """What NVML says of the machine that the fault happens on."""
    lines = dict(line.split(" = ") for line in SCENARIOS[fault.scenario].splitlines() if " = " in line)
    return tuple(
        Gpu(
            name=Known(lines["name"], "NVML"),
            index=Known(number, "NVML"),
            uuid=Known(lines["uuid"].replace("%x", f"{number:02x}"), "NVML"),
        )
        for number in range(fault.gpus)
    )


def verify(fault: Fault, world: World, variables: Mapping[str, str], limits: Limits) -> Verification:
    request = RunRequest(CUDA_TORCH or "/python", variables, fault.devices, limits=limits)
    result = run(world, request, on_event=lambda _: None, cancelled=lambda: False)
    result = judged(result, cards(fault), variables, fault.devices)
    return explained(live_session(), result, Machine(gpus=Known(cards(fault), "NVML")))


def told(result: Verification) -> dict[str, Verdict]:
    return {f"{device.device} {check.name} {check.dtype}": check.verdict for device in result.devices for check in device.checks}


def _wrongs(fault: Fault, result: Verification) -> Iterator[str]:
    """What the result gets wrong, one by one."""
    if (result.verdict, exit_of(result.verdict)) != (fault.verdict, fault.exit):
        yield f"came to {result.verdict.value} and not {fault.verdict.value}"
    found = told(result)
    named: dict[str, Verdict | None] = {
        name: wanted for name in found for start, wanted in fault.checks.items() if name.startswith(start)
    }
    for start in fault.checks:
        if not any(name.startswith(start) for name in found):
            yield f"no check {start}"
    if fault.verdict is Verdict.FAIL and fault.checks:
        # One wrong element is in one of several formats.
        for start, wanted in fault.checks.items():
            if wanted not in {found[name] for name in found if name.startswith(start)}:
                yield f"{start} is never {wanted.value}"
        named = dict.fromkeys(named)
    expected: dict[str, Verdict | None] = {**dict.fromkeys(found, fault.others), **named}
    for name, due in expected.items():
        left_out = due is Verdict.PASS and found[name] is Verdict.SKIPPED  # what this torch or this GPU does not have
        if due not in {None, found[name]} and not left_out:
            yield f"{name}: {found[name].value} and not {due.value if due else ''}"
    if fault.finding and fault.finding not in {one.answer.id for one in result.explained}:
        yield f"explained by {sorted(one.answer.id for one in result.explained)} and not {fault.finding}"
    words = json.dumps(verification_document([VerifyReport(result)], ENGLISH), ensure_ascii=False)
    if fault.words and fault.words not in words:
        yield f"nothing said of {fault.words!r}"


def _variables(fault: Fault, folder: Path) -> dict[str, str]:
    script = folder / fault.scenario
    script.write_text(SCENARIOS[fault.scenario], "utf-8")
    found = {**os.environ, "LD_LIBRARY_PATH": STAND_IN, "FAKE_NVML_SCENARIO": str(script), "OMP_NUM_THREADS": "1", **fault.script}
    found.pop("PYTHONPATH", None)
    if fault.math:
        found.update(FAKE_CUDA_MATH="1", PYTHONPATH=f"{STAND_IN}/math")
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_its_verdict_on_the_stand_in(fault: Fault, tmp_path: Path) -> None:
    if not (STAND_IN and CUDA_TORCH):
        pytest.skip("NOT RUN: needs the stand-in driver (GPUASSIST_FAKE_CUDA) and a torch for CUDA (GPUASSIST_CUDA_TORCH)")
    variables = _variables(fault, tmp_path)
    world = World(Surroundings.current())
    streams = _Streams(world.streams)
    world = World(Surroundings.current(), streams=streams)
    limits = _HANGING if "hang" in fault.name else _LIMITS
    result = verify(fault, world, variables, limits)
    if os.environ.get("GPUASSIST_RECORD") and streams.last is not None:
        record(fault, streams.last, result)
    assert list(_wrongs(fault, result)) == []


def record(fault: Fault, stream: _Recording, result: Verification) -> None:
    """The conversation as a file, without what the machine that it was recorded on is called."""
    RECORDED.mkdir(exist_ok=True)
    ended = stream.end()
    hidden = {name: value for name, value in fault.script.items() if name == "CUDA_VISIBLE_DEVICES"}
    head = {"fault": fault.name, "status": ended.status, "signal": ended.signal, "by_us": ended.ended_by_us, "variables": hidden}
    lines = [json.dumps(head), *map(_anywhere, stream.lines)]
    (RECORDED / f"{fault.name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def _anywhere(line: str) -> str:
    """As if it had been recorded on a user's machine."""
    environment, installed = str(Path(CUDA_TORCH).parent.parent), str(Path(CUDA_TORCH).resolve().parent.parent)
    places = ((environment, "/home/ada/train/.venv"), (STAND_IN, "/opt/stand-in"), (installed, "/usr"))
    for place, shown in places:
        line = line.replace(place, shown)
    return line


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_recorded_fault_keeps_its_verdict(fault: Fault) -> None:
    head, *lines = (RECORDED / f"{fault.name}.jsonl").read_text("utf-8").splitlines()
    about = json.loads(head)
    ended = Ended(about["status"], about["signal"], "", about["by_us"])
    world = World(Surroundings.current(), streams=_Streams(recorded=_Recorded(lines, ended)))
    result = verify(fault, world, about["variables"], replace(_LIMITS))
    assert list(_wrongs(fault, result)) == []


def test_each_recording_has_its_fault() -> None:
    assert {path.stem for path in RECORDED.glob("*.jsonl")} == {fault.name for fault in FAULTS}
