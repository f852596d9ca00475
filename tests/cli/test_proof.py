"""The proof as it is shown: shells in which the same changed together, slow ones, and kernels that failed."""

from __future__ import annotations

import io
from pathlib import Path

from gpuassist.changes.kernels import KernelProof
from gpuassist.changes.library_path import LoaderChoice
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Expected, ToolkitChoice
from gpuassist.changes.shells import ShellChange, ShellSeen
from gpuassist.changes.wishes import UseCuda
from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.cli.shell_change import proof_json, show_kernels, show_shells
from gpuassist.context import Session
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.plan import Outcome, Plan, Result
from gpuassist.model.shell import Terminal as Held
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.terminal import Opening
from gpuassist.verify.kernel import KernelCheck, KernelVerdict
from tests.fakes import world_under
from tests.values import knowledge

CHOSEN = ToolkitChoice(
    UseCuda("12.4"),
    Toolkit("/cuda"),
    LoaderChoice(on=False, reason=text("not needed")),
    Expected("/cuda/bin/nvcc", "/cuda", ""),
    Dialect.BASH,
)
PLAN = ChangePlan(UseCuda("12.4"), Plan("1", text("a toolkit"), ()), "use cuda 12.4", cuda=CHOSEN)
MOVED = text("nvcc: none before, now {after}", after="/cuda/bin/nvcc")


def context(tmp_path: Path) -> tuple[Context, io.StringIO]:
    out = io.StringIO()
    session = Session(world_under(tmp_path), knowledge(), ENGLISH)
    return Context(session, TerminalStreams(out, io.StringIO(), colour=False, interactive=False)), out


def seen(opening: Opening, seconds: float = 0.2, *, answers: bool = True) -> ShellSeen:
    held = Known(Held("/bin/bash", (), ()), "bash") if answers else Unknown(text("too late"))
    return ShellSeen(opening, held, seconds)


def change(opening: Opening, *differences: Text, answers: bool = True) -> ShellChange:
    return ShellChange(seen(opening), seen(opening, answers=answers), differences)


def applied(*shells: ShellChange, slow: ShellSeen | None = None) -> ChangeOutcome:
    outcome = Outcome(Result.MODIFIED, text("changed"))
    return ChangeOutcome(outcome, shells=shells, slow=slow)


def kernel(verdict: KernelVerdict, said: str = "") -> KernelProof:
    command = ("/cuda/bin/nvcc", "-arch=sm_89", "-o", "kernel", "kernel.cu")
    return KernelProof("sm_89", ("RTX 4090", "RTX 4090"), KernelCheck(verdict, text("as it came"), command, said, 1.5))


def test_shells_in_which_the_same_changed_stand_together(tmp_path: Path) -> None:
    shown, out = context(tmp_path)
    show_shells(shown, applied(change(Opening.TERMINAL, MOVED), change(Opening.LOGIN, MOVED), change(Opening.COMMAND)))
    assert out.getvalue().splitlines() == [
        "  new terminal; login shell (SSH, console):",
        "    nvcc: none before, now /cuda/bin/nvcc",
        "  unchanged: script, cron without a terminal",
    ]


def test_nothing_that_was_asked_is_nothing_to_show(tmp_path: Path) -> None:
    shown, out = context(tmp_path)
    show_shells(shown, applied())
    assert out.getvalue() == ""


def test_slow_start_is_told_with_its_time(tmp_path: Path) -> None:
    shown, out = context(tmp_path)
    show_shells(shown, applied(slow=seen(Opening.LOGIN, 3.21)))
    assert "ready only after 3.2 s (login shell (SSH, console))" in out.getvalue()


def test_kernel_that_failed_shows_what_was_said(tmp_path: Path) -> None:
    shown, out = context(tmp_path)
    show_kernels(shown, (kernel(KernelVerdict.COMPILED), kernel(KernelVerdict.NOT_COMPILED, "nvcc fatal: no\nsecond line")))
    assert out.getvalue().splitlines() == [
        "✓ a kernel for sm_89 (RTX 4090): as it came",
        "✗ a kernel for sm_89 (RTX 4090): as it came",
        "    /cuda/bin/nvcc -arch=sm_89 -o kernel kernel.cu",
        "    nvcc fatal: no",
        "    second line",
        "  `gpuassist explain` says what such a message means: paste it there",
    ]


def test_wrong_number_is_nothing_to_explain(tmp_path: Path) -> None:
    shown, out = context(tmp_path)
    show_kernels(shown, (kernel(KernelVerdict.WRONG),))
    assert out.getvalue().splitlines() == ["✗ a kernel for sm_89 (RTX 4090): as it came"]


def test_document_tells_shells_and_kernels() -> None:
    one = applied(change(Opening.TERMINAL, MOVED), change(Opening.COMMAND, answers=False))
    document = proof_json(PLAN, one, (kernel(KernelVerdict.RAN),), ENGLISH)
    assert document["proof"] is None
    assert document["shells"] == [
        {
            "opening": "terminal",
            "nvcc_before": None,
            "nvcc_after": None,
            "asked": True,
            "seconds": 0.2,
            "differences": ["nvcc: none before, now /cuda/bin/nvcc"],
        },
        {"opening": "command", "nvcc_before": None, "nvcc_after": None, "asked": False, "seconds": 0.2, "differences": []},
    ]
    assert document["kernels"] == [
        {
            "architecture": "sm_89",
            "gpus": ["RTX 4090", "RTX 4090"],
            "verdict": "ran",
            "passed": True,
            "message": "as it came",
            "command": ["/cuda/bin/nvcc", "-arch=sm_89", "-o", "kernel", "kernel.cu"],
            "said": "",
            "seconds": 1.5,
        }
    ]
