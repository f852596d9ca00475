"""The proof on the page: shells in which the same changed stand together, and kernels with their way to an explanation."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from gpuassist.changes.kernels import KernelProof
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.shells import ShellChange, ShellSeen
from gpuassist.model.fact import Known
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.system.terminal import Opening
from gpuassist.ui.pages.repair.proof import KernelRow, KernelsCard, ShellsCard
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.verify.kernel import KernelCheck, KernelVerdict
from tests.ui.showing import Show

EMPTY = Known(Terminal("/bin/bash", (), ()), "made up")


def said(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel)]


def seen(opening: Opening, seconds: float = 0.1) -> ShellSeen:
    return ShellSeen(opening, EMPTY, seconds)


def change(opening: Opening, *differences: Text) -> ShellChange:
    return ShellChange(seen(opening), seen(opening), differences)


def applied(*changes: ShellChange, slow: ShellSeen | None = None) -> ChangeOutcome:
    done = Outcome(Result.MODIFIED, text("done"))
    return ChangeOutcome(done, shells=changes, slow=slow)


def kernel(verdict: KernelVerdict, printed: str = "", architecture: str = "sm_89") -> KernelProof:
    check = KernelCheck(verdict, text("{verdict}", verdict=verdict.value), ("/opt/nvcc", "-arch=sm_89"), printed)
    return KernelProof(architecture, ("RTX 4090",), check)


@pytest.fixture
def shells(show: Show) -> ShellsCard:
    return show(ShellsCard(ENGLISH), 600, 300)


@pytest.fixture
def kernels(show: Show) -> KernelsCard:
    return show(KernelsCard(ENGLISH), 600, 300)


def test_shells_in_which_the_same_changed_stand_together(shells: ShellsCard) -> None:
    moved = text("PATH: moved")
    shells.show_applied(applied(change(Opening.TERMINAL, moved), change(Opening.LOGIN, moved), change(Opening.COMMAND)))
    words = said(shells)
    assert words.count("PATH: moved") == 1
    assert words[1:3] == ["New terminal", "Login shell (SSH, console)"]
    assert words[-2:] == ["Script, cron without a terminal", "unchanged"]


def test_shells_of_a_change_that_was_taken_back_are_told_as_such(shells: ShellsCard) -> None:
    shells.show_applied(applied(change(Opening.TERMINAL, text("nvcc: none"))))
    stands = said(shells)[0]
    shells.show_applied(replace(applied(change(Opening.TERMINAL, text("nvcc: none"))), rolled_back=text("it lost nvcc")))
    assert shells.isVisible()
    assert said(shells)[0] != stands


def test_without_a_change_there_is_no_card(shells: ShellsCard) -> None:
    shells.show_applied(applied())
    assert not shells.isVisible()


def test_a_slow_shell_is_named_with_its_time(shells: ShellsCard) -> None:
    shells.show_applied(applied(change(Opening.TERMINAL), slow=seen(Opening.TERMINAL, 2.4)))
    assert any("2.4 s to start (new terminal)" in words for words in said(shells))


def test_while_compiling_it_can_be_cancelled_by_key(kernels: KernelsCard) -> None:
    told: list[bool] = []
    kernels.cancel_wanted.connect(lambda: told.append(True))
    kernels.begin()
    QTest.keyClick(kernels.cancel, Qt.Key.Key_Space)
    assert told == [True]
    assert not kernels.cancel.isEnabled()
    assert "Stopping…" in said(kernels)


def test_the_architecture_under_way_is_said(kernels: KernelsCard) -> None:
    kernels.begin()
    kernels.say(text("compiling a kernel for {architecture}", architecture="sm_89"))
    assert "Compiling a kernel for sm_89…" in said(kernels)


@pytest.mark.parametrize(
    ("verdict", "mark"),
    [
        (KernelVerdict.RAN, Mark.RIGHT),
        (KernelVerdict.COMPILED, Mark.RIGHT),
        (KernelVerdict.NOT_COMPILED, Mark.PROBLEM),
        (KernelVerdict.DID_NOT_RUN, Mark.PROBLEM),
        (KernelVerdict.WRONG, Mark.PROBLEM),
        (KernelVerdict.HUNG, Mark.PROBLEM),
        (KernelVerdict.CANCELLED, Mark.UNKNOWN),
    ],
)
def test_each_outcome_has_its_mark(kernels: KernelsCard, verdict: KernelVerdict, mark: Mark) -> None:
    kernels.begin()
    kernels.show_proofs((kernel(verdict),))
    assert [row.mark for row in kernels.findChildren(KernelRow)] == [mark]
    assert not kernels.cancel.isVisibleTo(kernels)


def test_a_failure_shows_the_command_and_what_was_said(kernels: KernelsCard) -> None:
    kernels.show_proofs((kernel(KernelVerdict.NOT_COMPILED, "error: unsupported GNU version"),))
    (block,) = kernels.findChildren(CodeBlock)
    assert block.content == "$ /opt/nvcc -arch=sm_89\nerror: unsupported GNU version"


def test_a_failure_leads_to_its_explanation(kernels: KernelsCard) -> None:
    told: list[str] = []
    kernels.explain_wanted.connect(told.append)
    kernels.show_proofs((kernel(KernelVerdict.NOT_COMPILED, "error: unsupported GNU version"),))
    (row,) = kernels.findChildren(KernelRow)
    assert row.explain is not None
    QTest.keyClick(row.explain, Qt.Key.Key_Space)
    assert told == ["error: unsupported GNU version"]


def test_wrong_number_is_nothing_to_explain(kernels: KernelsCard) -> None:
    kernels.show_proofs((kernel(KernelVerdict.WRONG),))
    assert [row.explain for row in kernels.findChildren(KernelRow)] == [None]


def test_what_passed_needs_no_explanation(kernels: KernelsCard) -> None:
    kernels.show_proofs((kernel(KernelVerdict.RAN), kernel(KernelVerdict.RAN, architecture="sm_61")))
    assert [row.explain for row in kernels.findChildren(KernelRow)] == [None, None]


def test_cancelled_before_the_first_says_so(kernels: KernelsCard) -> None:
    kernels.begin()
    kernels.show_proofs(())
    assert "Cancelled; nothing was compiled." in said(kernels)


def test_trouble_of_our_own_is_said(kernels: KernelsCard) -> None:
    kernels.begin()
    kernels.show_trouble("no space left on device")
    assert "No space left on device" in said(kernels)


def test_a_second_proof_takes_the_place_of_the_first(kernels: KernelsCard) -> None:
    kernels.show_proofs((kernel(KernelVerdict.RAN),))
    kernels.begin()
    assert all(row.isHidden() for row in kernels.findChildren(KernelRow))
