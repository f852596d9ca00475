"""The repair page on a real home with a real bash: plan, choose, apply, prove, undo, and every refusal in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.changes.wishes import LdLibraryPath
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, StartupFile
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import (
    GoTo,
    Marked,
    RepairPart,
    StepStatus,
    ToExplainText,
    ToRepair,
    ToRepairPart,
    WizardStep,
)
from gpuassist.session.use import look
from gpuassist.shellfiles.lines import Choice
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.history import ChangeRow
from gpuassist.ui.pages.repair.page import CLEAN, DEVICES, LINES, TOOLKIT
from gpuassist.ui.pages.repair.proof import KernelRow
from gpuassist.ui.widgets.layouts import widgets_in
from tests.ui.made import Answers, inspection
from tests.ui.pages.repairing import Shown, choose, machine_of, rc, two_toolkits


@pytest.fixture
def session(home: Path) -> Session:
    return two_toolkits(home)


@pytest.fixture
def machine(session: Session) -> Machine:
    return machine_of(session)


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot, machine: Machine) -> Shown:
    made = Shown(desk, qtbot)
    made.open(machine)
    return made


def test_the_finding_leads_to_a_plan(shown: Shown) -> None:
    assert shown.plan is not None
    assert "Use CUDA 12.4 in new terminals" in shown.words()


def test_lines_are_listed_with_their_choices(shown: Shown) -> None:
    rows = shown.card.lines
    assert [(row.line.line, row.line_choice.choice) for row in rows] == [(2, Choice.REPLACE), (4, Choice.REPLACE)]


def test_a_line_says_what_it_does_and_where_it_stands(shown: Shown) -> None:
    words = " ".join(label.text() for label in shown.card.lines[1].findChildren(QLabel))
    assert "Sets CUDA_HOME" in words
    assert "if true; then" in words


def test_the_diff_is_that_of_the_plan(shown: Shown) -> None:
    assert shown.plan is not None
    assert shown.page.toolkit.panel.diff.diff == shown.plan.diff


def test_choosing_for_a_line_plans_again(shown: Shown) -> None:
    choose(shown.card.lines[0], Choice.COMMENT_OUT)
    shown.settle()
    assert shown.plan is not None
    assert [(line.line, line.choice) for line in shown.plan.lines] == [(2, Choice.COMMENT_OUT), (4, Choice.REPLACE)]


def test_rows_stay_while_only_choices_change(shown: Shown) -> None:
    before = shown.card.lines
    choose(before[0], Choice.KEEP)
    shown.settle()
    assert shown.card.lines is before


def test_the_loader_path_can_be_asked_for(shown: Shown) -> None:
    assert shown.card.loader is not None
    shown.card.loader.tick.setChecked(True)
    shown.settle()
    assert shown.plan is not None
    assert shown.chosen is not None
    assert shown.chosen.wish.ld_library_path is LdLibraryPath.ON
    assert "LD_LIBRARY_PATH" in shown.plan.block


def test_another_toolkit_can_be_chosen(shown: Shown) -> None:
    shown.page.toolkit.choose_toolkit("11.7")
    shown.settle()
    assert shown.chosen is not None
    assert shown.chosen.toolkit.root.endswith("cuda-11.7")


def test_before_and_after_are_whole_paths(shown: Shown, home: Path) -> None:
    nvcc = shown.page.toolkit.panel.terminal.rows[0]
    assert (ENGLISH(nvcc.now), ENGLISH(nvcc.after)) == (f"{home}/cuda-11.7/bin/nvcc", f"{home}/cuda-12.4/bin/nvcc")


def test_nothing_is_written_before_apply(shown: Shown, home: Path) -> None:
    assert (home / ".bashrc").read_text() == rc(home)


def test_lines_can_be_copied_instead(shown: Shown) -> None:
    shown.page.toolkit.copy.trigger()
    assert shown.plan is not None
    assert QGuiApplication.clipboard().text() == shown.plan.block + "\n"


def test_apply_changes_and_proves(shown: Shown, home: Path) -> None:
    shown.apply()
    assert "Done and tested: a new terminal finds ~/cuda-12.4/bin/nvcc" in shown.notice()
    assert (home / ".bashrc").read_text() != rc(home)


def test_a_proved_repair_marks_its_step(shown: Shown) -> None:
    shown.apply()
    marks = [one.state for one in shown.asked if isinstance(one, Marked)]
    assert (marks[0], set(marks[1:])) == (StepStatus.BUSY, {StepStatus.RIGHT})


def test_after_apply_the_table_shows_the_proof(shown: Shown, home: Path) -> None:
    shown.apply()
    assert ENGLISH(shown.page.toolkit.panel.terminal.rows[0].after) == f"{home}/cuda-12.4/bin/nvcc"
    assert "Now, tested" in shown.words()


def test_undo_restores_every_byte(shown: Shown, home: Path) -> None:
    shown.apply()
    shown.page.toolkit.undo.trigger()
    shown.settle()
    assert (home / ".bashrc").read_text() == rc(home)
    assert "restored exactly" in shown.notice()


def test_undo_asks_first(shown: Shown, home: Path, answers: Answers) -> None:
    answers.agrees = False
    shown.apply()
    shown.page.toolkit.undo.trigger()
    shown.settle()
    assert "restored exactly" in answers.asked[0]
    assert (home / ".bashrc").read_text() != rc(home)


def test_changes_are_listed_with_their_undo(shown: Shown, home: Path) -> None:
    shown.apply()
    (row,) = shown.page.history.findChildren(ChangeRow)
    row.button.click()
    shown.settle()
    assert (home / ".bashrc").read_text() == rc(home)
    assert shown.page.history.records[0].receipt.undone_at


def test_an_edited_file_is_refused_at_apply(shown: Shown, home: Path) -> None:
    (home / ".bashrc").write_text("# somebody else was here\n")
    shown.apply()
    assert "changed" in shown.notice()
    assert (home / ".bashrc").read_text() == "# somebody else was here\n"


def test_a_repair_done_already_says_so(shown: Shown, session: Session) -> None:
    shown.apply()
    shown.page.toolkit.forget_result()
    shown.open(look(session))
    assert "New terminals are set up for CUDA 12.4" in shown.words()
    assert shown.page.bar().primary is None


def test_an_obstacle_offers_the_lines_to_paste(desk: Desk, qtbot: QtBot, machine: Machine, home: Path) -> None:
    (home / ".bashrc").unlink()
    (home / ".bashrc").mkdir()
    made = Shown(desk, qtbot)
    made.open(machine)
    assert not made.page.toolkit.apply.isEnabled()
    assert made.page.toolkit.panel.by_hand.isVisibleTo(made.page)
    assert "export CUDA_HOME=" in made.page.toolkit.panel.block.content
    assert made.notice()


def test_a_toolkit_that_is_gone_is_refused_in_words(shown: Shown, home: Path) -> None:
    (home / "cuda-12.4/bin/nvcc").unlink()
    shown.page.toolkit.open_for("12.4")
    shown.settle()
    assert "cuda-12.4/bin/nvcc does not exist" in shown.words()
    assert shown.plan is None


def test_without_a_finding_any_toolkit_is_offered(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    made = Shown(desk, qtbot)
    made.open(machine, "")
    assert "Toolkit: nothing to repair" in made.words()
    assert made.card._toolkit.isVisibleTo(made.page)


def test_without_any_toolkit_none_is_offered(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot)
    made.open(Machine(), "")
    assert "No CUDA toolkit is installed" in made.words()


def test_a_wish_opens_its_version(shown: Shown) -> None:
    shown.page.arrive(ToRepair("11.7"))
    shown.settle()
    assert shown.chosen is not None
    assert shown.chosen.wish.version == "11.7"


def test_a_recorded_machine_is_shown_but_not_changed(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    file = StartupFile("/home/them/.bashrc", exists=True, content=Known("export PATH=/usr/local/cuda-11.7/bin:$PATH\n", "recorded"))
    recorded = Machine("2026", toolkits=machine.toolkits, shell=Shell(startup_files=Known((file,), "recorded")))
    made = Shown(desk, qtbot)
    made.open(recorded, recorded=True)
    assert made.page.toolkit.panel.diff.diff
    assert not made.page.toolkit.apply.isEnabled()
    assert "recorded machine" in made.page.toolkit.apply.statusTip()
    assert "recorded machine" in made.page.bar().note
    assert made.notice() == ""


def test_leaving_while_planning_is_silent(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    made = Shown(desk, qtbot)
    made.page.show_inspection(inspection(machine, use_cuda="12.4"))
    made.page.close_down()
    made.settle()
    assert made.plan is None


def test_a_proof_that_fails_is_told(shown: Shown, home: Path) -> None:
    (home / "cuda-12.4/bin/nvcc").chmod(0o644)
    shown.apply()
    assert shown.notice().startswith("Changed, but")
    assert Marked(WizardStep.REPAIR, StepStatus.PROBLEM) in shown.asked


def test_cards_stay_within_the_page(shown: Shown) -> None:
    cards: list[QWidget] = [shown.page.toolkit.card, shown.page.toolkit.panel.diff, shown.page.toolkit.panel.terminal]
    assert all(card.width() <= shown.page.width() for card in cards)


def test_marks_of_steps_follow_the_outcome(shown: Shown) -> None:
    shown.apply()
    assert getattr(widgets_in(shown.card._steps)[0], "mark", None) is Mark.RIGHT


def test_an_unknown_machine_says_what_is_missing(desk: Desk, qtbot: QtBot) -> None:
    made = Shown(desk, qtbot)
    made.open(Machine(), "12.4")
    assert "which toolkits are installed is not known" in made.words().lower()


def test_the_page_opens_with_the_toolkit(shown: Shown) -> None:
    assert shown.page.toolkit.isVisibleTo(shown.page)
    assert not shown.page.clean.isVisibleTo(shown.page)


@pytest.mark.parametrize("place", [CLEAN, DEVICES, LINES])
def test_a_version_opens_the_part_of_toolkits(shown: Shown, place: int) -> None:
    shown.page.segments.choose(place)
    shown.page.arrive(ToRepair("11.7"))
    shown.settle()
    assert shown.page.segments.place == TOOLKIT


def test_parts_are_reached_by_key(shown: Shown, qtbot: QtBot) -> None:
    shown.frame.activateWindow()
    qtbot.waitUntil(shown.frame.isActiveWindow)
    QTest.keyClick(shown.page, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
    assert shown.page.segments.place == CLEAN
    shown.settle()


def test_every_shell_is_compared_after_applying(shown: Shown) -> None:
    shown.apply()
    assert shown.page.toolkit.panel.shells.isVisibleTo(shown.page)
    assert shown.page.toolkit.panel.paste_lines.content.startswith("export CUDA_HOME=")


def test_kernels_are_compiled_after_the_proof(shown: Shown) -> None:
    shown.apply()
    (row,) = shown.page.toolkit.panel.kernels.findChildren(KernelRow)
    assert row.mark is Mark.RIGHT


def failing(home: Path) -> None:
    """An nvcc that says its version, and compiles nothing."""
    nvcc = home / "cuda-12.4/bin/nvcc"
    nvcc.write_text(nvcc.read_text().replace("case ", "case $* in *kernel.cu) echo error: no >&2; exit 1 ;; esac; case ", 1))


def test_a_kernel_that_fails_leads_to_explain(shown: Shown, home: Path) -> None:
    failing(home)
    shown.apply()
    (row,) = shown.page.toolkit.panel.kernels.findChildren(KernelRow)
    assert row.explain is not None
    row.explain.click()
    assert shown.asked[-1] == ToExplainText("error: no")
    assert "a kernel does not compile or run" in shown.notice()
    assert Marked(WizardStep.REPAIR, StepStatus.PROBLEM) in shown.asked


def test_compiling_is_cancelled_and_says_so(shown: Shown, home: Path, qtbot: QtBot) -> None:
    nvcc = home / "cuda-12.4/bin/nvcc"
    nvcc.write_text(nvcc.read_text().replace("case ", "case $* in *kernel.cu) exec sleep 60 ;; esac; case ", 1))
    shown.page.toolkit.apply.trigger()
    kernels = shown.page.toolkit.panel.kernels
    qtbot.waitUntil(lambda: kernels.cancel.isVisibleTo(shown.page))
    kernels.cancel.click()
    shown.settle()
    assert [row.mark for row in kernels.findChildren(KernelRow)] in ([Mark.UNKNOWN], [])
    assert not kernels.cancel.isVisibleTo(shown.page)


def test_closing_while_compiling_is_silent(shown: Shown, home: Path, qtbot: QtBot) -> None:
    nvcc = home / "cuda-12.4/bin/nvcc"
    nvcc.write_text(nvcc.read_text().replace("case ", "case $* in *kernel.cu) exec sleep 60 ;; esac; case ", 1))
    shown.page.toolkit.apply.trigger()
    qtbot.waitUntil(lambda: shown.page.toolkit.panel.kernels.cancel.isVisibleTo(shown.page))
    shown.page.close_down()
    assert not shown.page.busy


def test_an_edit_since_shows_the_merge_first(shown: Shown, home: Path, answers: Answers) -> None:
    shown.apply()
    (home / ".bashrc").write_text((home / ".bashrc").read_text() + "alias mine=true\n")
    shown.page.toolkit.undo.trigger()
    shown.settle()
    assert shown.page.undo.isVisibleTo(shown.page)
    assert answers.asked == []
    shown.page.undo.agree.click()
    shown.settle()
    assert (home / ".bashrc").read_text() == rc(home) + "alias mine=true\n"
    assert not shown.page.undo.isVisibleTo(shown.page)


def test_a_merge_can_be_left(shown: Shown, home: Path) -> None:
    shown.apply()
    edited = (home / ".bashrc").read_text() + "alias mine=true\n"
    (home / ".bashrc").write_text(edited)
    shown.page.toolkit.undo.trigger()
    shown.settle()
    shown.page.undo.leave.click()
    assert (home / ".bashrc").read_text() == edited
    assert not shown.page.undo.isVisibleTo(shown.page)


def test_a_conflict_is_shown_and_nothing_done(shown: Shown, home: Path) -> None:
    shown.apply()
    edited = (home / ".bashrc").read_text().replace("export PATH=", "echo mine; export PATH=")
    (home / ".bashrc").write_text(edited)
    shown.page.toolkit.undo.trigger()
    shown.settle()
    assert shown.page.undo.isVisibleTo(shown.page)
    assert not shown.page.undo.agree.isVisibleTo(shown.page)
    assert (home / ".bashrc").read_text() == edited


def test_one_environment_alone_can_use_it(shown: Shown, home: Path, answers: Answers) -> None:
    (home / "project").mkdir()
    answers.opened = str(home / "project")
    shown.page.toolkit.choice.project_wanted.emit()
    shown.settle()
    assert shown.page.toolkit.scope == f"envrc:{home}/project"
    assert shown.page.toolkit.repair is not None
    assert shown.page.toolkit.repair.scope is not None
    shown.apply()
    assert "CUDA_HOME" in (home / "project/.envrc").read_text()
    assert (home / ".bashrc").read_text() == rc(home)


def test_who_sees_a_choice_is_shown_beside_it(shown: Shown) -> None:
    assert shown.page.toolkit.programs.isVisibleTo(shown.page)
    assert "Where this takes effect" in shown.words()


def test_a_recorded_machine_has_no_scopes(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    made = Shown(desk, qtbot)
    made.open(machine, recorded=True)
    assert not made.page.toolkit.choice.isVisibleTo(made.page)
    for place in (CLEAN, DEVICES):
        made.page.segments.choose(place)
        made.settle()
        assert "This is a recorded machine" in made.words()
        assert made.page.bar().primary is None


@pytest.mark.parametrize(("spoilt", "mode"), [("", 0o777), ("one.json", 0o666)])
def test_a_journal_that_others_could_write_is_named(
    desk: Desk, qtbot: QtBot, machine: Machine, home: Path, spoilt: str, mode: int
) -> None:
    journal = home / ".local" / "state" / "gpuassist" / "journal"
    journal.mkdir(parents=True)
    for place in (journal, *list(journal.parents)[:3]):
        place.chmod(0o755)
    (journal / "one.json").write_text("{}")
    (journal / spoilt).chmod(mode)
    made = Shown(desk, qtbot)
    made.open(machine)
    qtbot.waitUntil(lambda: "everybody may write in it" in made.notice())


def test_what_was_applied_is_no_longer_where_the_next_repair_would_lead(shown: Shown) -> None:
    toolkit, clean = ToRepair(shown.page.toolkit.cuda.version), ToRepairPart(RepairPart.CLEAN)
    assert [shown.page.shows(one) for one in (toolkit, clean, ToRepair("9.9"), GoTo(WizardStep.REPAIR))] == [
        True,
        False,
        False,
        True,
    ]
    shown.apply()
    assert (shown.page.shows(toolkit), shown.page.bar().primary) == (False, None)


def test_the_page_has_a_title_before_there_is_a_plan(desk: Desk, qtbot: QtBot) -> None:
    assert Shown(desk, qtbot).title == "Repair"
