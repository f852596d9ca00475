"""`gpuassist snapshot`: a file is opened in a child, told, compared; what is none is refused."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.cli import snapshot
from gpuassist.cli.context import UsageError
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.present.marks import Exit
from gpuassist.session import use
from gpuassist.session.navigation import ToSnapshot
from gpuassist.session.opened_recording import NotWantedError
from gpuassist.session.torch_snapshot import opening
from tests.cli.made_session import live_session, run_live
from tests.rows import for_each
from tests.snapshots import KEPT, MIB, MadeSnapshot, training


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[MadeSnapshot, str], str]:
    def keep(made: MadeSnapshot, name: str) -> str:
        (tmp_path / name).write_bytes(pickle.dumps(made.told))
        return str(tmp_path / name)

    return keep


def test_document_has_what_its_contract_says(kept: Callable[[MadeSnapshot, str], str]) -> None:
    done = run_live(snapshot, kept(training(16, leaks=True), "a.pickle"), "--json", "--between", "8:120")
    assert done.exit is Exit.WARNINGS
    told = json.loads(done.out)
    (device,) = told["devices"]
    assert (told["schema"], device["device"], device["peak_bytes"]) == (1, 0, device["stacks"][0]["bytes"] + 96 * MIB + 48 * MIB)
    assert device["stacks"][0]["frames"][1] == {"file": "/home/me/train.py", "line": 10, "function": "step"}
    assert told["growth"][0]["lines"][0]["line"] == KEPT[1]
    (grows,) = [one for one in told["findings"] if one["id"] == "snapshot-grows"]
    assert grows["severity"] == "warning"
    assert grows["remedies"][0]["text"]


def test_two_files_are_compared_and_an_address_is_looked_for(kept: Callable[[MadeSnapshot, str], str]) -> None:
    first, second = kept(training(2), "a"), kept(training(3, leaks=True), "b")
    done = run_live(snapshot, first, second, "--address", "0x7f3000000010")
    assert "+9.00 MiB  /home/me/train.py:20 remember" in done.out
    assert "\n1 segment: " in done.out
    assert done.out.rstrip().endswith("/home/me/model.py:5 __init__")
    assert "lies in 8.00 MiB of /home/me/model.py:5 __init__, allocated by event 1" in done.out
    for address, said in (("0x7f3019000000", "nothing is allocated there"), ("0x10", "No segment")):
        assert said in run_live(snapshot, first, "--address", address).out
    told = json.loads(run_live(snapshot, first, "--address", "0x7f3000000010", "--json").out)["owner"]
    assert (told["bytes"], told["event"], told["frames"][0]["line"]) == (8 * MIB, 1, 5)
    with pytest.raises(UsageError):
        run_live(snapshot, first, "--between", "99998:99999")


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pickle"
    bad.write_bytes(b"cos\nsystem\n(Vtouch /x\ntR.")
    for path in (str(bad), "/dev/zero"):
        done = run_live(snapshot, path)
        assert done.exit is Exit.UNDETERMINED
        assert "could not be read" in done.err
    for path in (str(tmp_path), str(tmp_path / "none")):
        with pytest.raises(UsageError):
            run_live(snapshot, path)


def test_a_file_that_memory_is_too_little_for_is_refused(
    kept: Callable[[MadeSnapshot, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept(training(1), "a")
    monkeypatch.setattr(opening, "memory_free", lambda _session: 1 << 20)
    assert "MiB are free here" in run_live(snapshot, path).err


def test_nobody_waits_for_one_that_is_not_wanted(kept: Callable[[MadeSnapshot, str], str]) -> None:
    with pytest.raises(NotWantedError):
        opening.open_snapshot(live_session(), kept(training(1), "a"), ends=lambda: True)


@for_each(
    "words",
    ((), ("f", "--events", "9:3"), ("f", "--events", "x"), ("f", "--last", "0"), ("f", "--address", "x"), ("f", "--of", "1"),
     ("--of", "1", "--seconds", "-1")),
)  # fmt: skip
def test_wrong_usage(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run_live(snapshot, *words)


def test_a_program_that_cannot_be_asked(tmp_path: Path) -> None:
    done = run_live(snapshot, "--of", "1", "--out", str(tmp_path / "x"))
    assert (done.exit, "cannot be asked" in done.err) == (Exit.UNDETERMINED, True)


def test_several_programs_below_a_run_are_named(tmp_path: Path) -> None:
    base = tmp_path / "gpuassist"
    run = base / f"run-{os.getpid()}-{inside.started_ticks('self')}"
    run.mkdir(parents=True)
    for pid in (os.getpid(), os.getppid()):
        (run / f"{pid}-{inside.started_ticks(pid)}{inside.SUFFIX}").touch()
    session = live_session({"XDG_RUNTIME_DIR": str(tmp_path)})
    done = run_live(snapshot, "--of", str(os.getpid()), "--out", str(tmp_path / "x"), session=session)
    assert done.exit is Exit.UNDETERMINED
    assert str(os.getppid()) in done.err
    (run / f"{os.getpid()}-{inside.started_ticks('self')}{inside.SUFFIX}").unlink()
    done = run_live(snapshot, "--of", str(os.getpid()), "--out", str(tmp_path / "none" / "x"), session=session)
    assert "nothing can be written" in done.err  # there is one to ask


def test_a_total_above_this_machines_card_is_said(
    kept: Callable[[MadeSnapshot, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept(training(2), "a")
    for gpus, expected in (((Gpu(memory_total_bytes=Known(100 * MIB, "nvml")),), True), ((), False)):
        monkeypatch.setattr(use, "look_at_gpus", lambda _session, gpus=gpus: Machine(gpus=Known(gpus, "nvml")))
        found = {one["id"] for one in json.loads(run_live(snapshot, path, "--json").out)["findings"]}
        assert ("snapshot-above-card" in found) is expected


def test_the_window_is_opened_with_one_file_and_nothing_else(tmp_path: Path) -> None:
    wanted: list[object] = []

    def opened(destination: object) -> Exit:
        wanted.append(destination)
        return Exit.HEALTHY

    (tmp_path / "a.pickle").touch()
    assert run_live(snapshot, str(tmp_path / "a.pickle"), "--window", open_window=opened).exit is Exit.HEALTHY
    assert wanted == [ToSnapshot(str(tmp_path / "a.pickle"))]
    for more in (("--json",), ("other.pickle",), ("--between", "1:5"), ("--address", "0x10")):
        with pytest.raises(UsageError):
            run_live(snapshot, "a.pickle", *more, "--window", open_window=opened)
