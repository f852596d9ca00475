"""The page of a project's folder: judged for the machine that is shown, its change written on a button, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from gpuassist.model.project import LinkState
from gpuassist.session.navigation import SideTool, ToProject
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.install.page import InstallPage
from gpuassist.ui.pages.project import ChangeCard, ProjectPage
from tests.ui.made import Answers, inspection
from tests.ui.showing import Show, words_in
from tests.values import RTX_5090, machine

BLACKWELL = machine(gpus=(RTX_5090,), driver="580.95.05", open_module=True, cuda="13.0", toolkits=("12.8.93",), nvcc="12.8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "training"
    made.mkdir()
    (made / "requirements.txt").write_text("torch==1.13\n")
    return made


@pytest.fixture
def page(desk: Desk, show: Show) -> ProjectPage:
    made = show(ProjectPage(desk), 1056, 700)
    made.show_inspection(inspection(BLACKWELL))
    return made


def opened(page: ProjectPage, folder: Path, qtbot: QtBot) -> ProjectPage:
    page.arrive(ToProject(str(folder)))
    qtbot.waitUntil(lambda: page.outlook is not None and not page.busy)
    return page


def test_what_does_not_fit_is_said_with_its_line_and_its_change(page: ProjectPage, folder: Path, qtbot: QtBot) -> None:
    opened(page, folder, qtbot)
    assert page.outlook is not None
    assert page.outlook.fits is False
    assert "requirements.txt, line 1" in words_in(page.wrong)
    (card,) = page.findChildren(ChangeCard)
    assert [line.words for line in card.view.lines] == ["torch==1.13", "torch==2.8.0"]
    assert page.bar().primary is page.write


def test_the_change_is_written_and_taken_back(page: ProjectPage, folder: Path, qtbot: QtBot) -> None:
    opened(page, folder, qtbot)
    told: list[object] = []
    page.asked.connect(told.append)
    page.write.trigger()
    qtbot.waitUntil(lambda: page.carried is not None and not page.busy)
    assert (folder / "requirements.txt").read_text() == "torch==2.8.0\n"
    assert page.bar().primary is page.undo
    assert told == [Wrote()]
    page.undo.trigger()
    qtbot.waitUntil(lambda: page.carried is None and not page.busy)
    assert (folder / "requirements.txt").read_text() == "torch==1.13\n"
    assert page.bar().primary is page.write


def test_a_file_that_was_edited_meanwhile_is_left_alone(page: ProjectPage, folder: Path, qtbot: QtBot) -> None:
    opened(page, folder, qtbot)
    (folder / "requirements.txt").write_text("torch==1.13  # mine\n")
    page.write.trigger()
    qtbot.waitUntil(lambda: page.carried is not None and not page.busy)
    assert (folder / "requirements.txt").read_text() == "torch==1.13  # mine\n"
    assert page.carried is not None
    assert not page.carried.receipts


def test_for_a_recorded_machine_nothing_is_written(desk: Desk, show: Show, folder: Path, qtbot: QtBot) -> None:
    page = show(ProjectPage(desk), 1056, 700)
    page.show_inspection(inspection(BLACKWELL, recorded=True))
    opened(page, folder, qtbot)
    assert page.bar().primary is None
    page.write.trigger()
    assert not page.busy


def test_a_folder_that_is_gone_is_said(page: ProjectPage, folder: Path, qtbot: QtBot) -> None:
    page.arrive(ToProject(str(folder / "nowhere")))
    qtbot.waitUntil(lambda: not page.busy)
    assert "nowhere" in page.notice.words
    assert page.outlook is None


def test_another_machine_is_judged_anew(page: ProjectPage, folder: Path, qtbot: QtBot) -> None:
    opened(page, folder, qtbot)
    page.show_inspection(inspection(machine()))
    qtbot.waitUntil(lambda: not page.busy and page.outlook is not None and page.outlook.fits is True)
    assert all(one.state is LinkState.HOLDS for one in page.outlook.checks) if page.outlook else False


def test_the_page_install_leads_there(desk: Desk, show: Show, folder: Path) -> None:
    page = show(InstallPage(replace(desk, asking=Answers(opened=str(folder)))), 1056, 700)
    page.show_inspection(inspection(BLACKWELL))
    told: list[object] = []
    page.asked.connect(told.append)
    page.open_project.click()
    assert told == [ToProject(str(folder))]
    assert ToProject("").place is SideTool.PROJECT
    page.close_down()
