"""`--ssh HOST` on the command line: what looks is done for the other machine, what acts is refused with what to type there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.cli import main as cli
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.navigation import GoTo, WizardStep
from tests.rows import for_each
from tests.session.made_ssh import MadeHost


@pytest.fixture
def host(tmp_path: Path) -> MadeHost:
    return MadeHost(tmp_path)


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(host: MadeHost, capsys: pytest.CaptureFixture[str]) -> Run:
    def gpuassist(*words: str, open_window: Callable[..., Exit] | None = None) -> tuple[int, str, str]:
        def no_window(*_: object, **__: object) -> Exit:
            raise AssertionError

        status = cli.main(words, compose=lambda _: host.session(), open_window=open_window or no_window)
        told = capsys.readouterr()
        return status, told.out, told.err

    return gpuassist


def test_the_other_machine_is_judged_in_the_place_of_this_one(host: MadeHost, run: Run) -> None:
    half = ("--ssh", "box", "--remote-half", str(host.half))
    recorded = run("--machine", str(host.folder / "machine.json"), "doctor", "--json")
    assert run(*half, "doctor", "--json") == recorded
    status, out, _ = run("detect", "--json", *half)
    assert status == Exit.HEALTHY
    assert json.loads(out)["gpus"] == json.loads((host.folder / "machine.json").read_text())["gpus"]
    assert not host.left(), "and nothing stays there"
    _, out, _ = run(*half, "doctor")
    assert out.startswith("box, over SSH\n")


def test_a_text_and_an_estimate_are_joined_with_the_other_machine(host: MadeHost, run: Run) -> None:
    (host.folder / "error").write_text("RuntimeError: No CUDA GPUs are available\n")
    there = ("--ssh", "box", "--remote-half", str(host.half))
    document = json.loads(run(*there, "explain", "--json", str(host.folder / "error"))[1])
    assert "box" in document["basis"]["reason"]
    assert [one["name"] for one in json.loads(run(*there, "estimate", "7B", "--json")[1])["gpus"]] == ["NVIDIA GeForce RTX 4090"]


def test_its_samples_are_those_of_headless(host: MadeHost, run: Run) -> None:
    status, out, _ = run("--ssh", "box", "--remote-half", str(host.half), "monitor", "--headless", "--count", "1")
    assert status == Exit.HEALTHY
    (sample,) = [json.loads(line) for line in out.splitlines()]
    assert sample["gpus"][0]["memory_total_bytes"] == 100
    assert host.ran()[0][1] == ["--read-only", "monitor", "--headless", "--hz", "1"]
    assert not host.left()


ACTS = (
    (("use", "cuda", "12.8"), "ssh -t box 'gpuassist use cuda 12.8'"),
    (("undo",), "ssh -t box 'gpuassist undo'"),
    (("shell", "--clean"), "ssh -t box 'gpuassist shell --clean'"),
    (("plan", "torch", "--run"), "ssh -t box 'gpuassist plan torch --run'"),
    (("plan", "--back"), "ssh -t box 'gpuassist plan --back'"),
    (("verify",), "ssh -t box 'gpuassist verify'"),
    (("holders", "--stop", "5"), "ssh -t box 'gpuassist holders --stop 5'"),
    (("setup", "--forget"), "ssh -t box 'gpuassist setup --forget'"),
    (("monitor", "--headless", "--export", "9401"), "ssh -t box 'gpuassist monitor --headless --export 9401'"),
    (("changes",), "ssh -t box 'gpuassist changes'"),
    (("run", "--", "python", "a.py"), "ssh -t box 'gpuassist run -- python a.py'"),
)


def test_whatever_acts_is_refused_with_what_to_type_there(host: MadeHost, run: Run) -> None:
    for words, line in ACTS:
        status, out, told = run("--ssh", "box", *words)
        assert (status, out) == (Exit.USAGE, ""), words
        assert line in told, words
    assert not host.asked.exists(), "ssh was never started"


@for_each("words", [("--ssh", "box", "--machine", "x"), ("--ssh=-oProxyCommand=x",), ("--ssh", ""), ("--remote-half", "x")])
def test_what_cannot_be_is_wrong_usage(words: tuple[str, ...], host: MadeHost, run: Run) -> None:
    status, out, told = run(*words, "doctor")
    assert (status, out) == (Exit.USAGE, "")
    assert told.startswith("gpuassist: ")
    assert not host.asked.exists()


def test_a_machine_that_cannot_be_reached_is_not_determined(host: MadeHost, run: Run) -> None:
    host.answer(says="\x1b]0;title\x07ssh: connect to host box port 22: Connection refused")
    for words in (("doctor", "--json"), ("monitor", "--headless"), ("explain", "--json", str(host.folder / "machine.json"))):
        status, out, told = run("--ssh", "box", *words)
        assert (status, out) == (Exit.UNDETERMINED, ""), words
        assert "no SSH server answers" in told
        assert "\x1b" not in told


def test_the_window_is_given_the_other_machine(host: MadeHost, run: Run) -> None:
    opened: list[tuple[object, ...]] = []

    def open_window(session: Session, machine_file: str, wanted: object, *, other: object) -> Exit:
        opened.append((machine_file, wanted, getattr(other, "host", "")))
        assert session.words is ENGLISH
        return Exit.HEALTHY

    half = ("--ssh", "box", "--remote-half", str(host.half))
    assert run(*half, open_window=open_window)[0] == Exit.HEALTHY
    assert run(*half, "monitor", "--window", open_window=open_window)[0] == Exit.HEALTHY
    assert opened == [("", None, "box"), ("", GoTo(WizardStep.LIVE), "box")]
