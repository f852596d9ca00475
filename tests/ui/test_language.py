"""The window is made anew in another language at the same place, and nothing that is under way is lost by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.session.language_choice import session_in
from gpuassist.session.navigation import TITLES, GoTo, SideTool, ToExplainText, ToGuide, WizardStep
from gpuassist.session.settings import Settings, save_settings
from gpuassist.session.watch import Watch
from gpuassist.ui.application import WindowRun
from gpuassist.ui.languages import QtWords
from gpuassist.ui.letters import can_be_written
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.pages.guides import GuidesPage
from gpuassist.ui.theme import sans
from gpuassist.ui.widgets.cards import Notice
from tests.translations import with_languages, words_of
from tests.ui.frames import recorded
from tests.ui.runs import Runs
from tests.ui.showing import button_named
from tests.values import machine

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to a smallest size

POLISH = {title.message: f"{title.message} po polsku" for title in TITLES.values()}
AMHARIC = {"Your machine": "ኮምፒውተርህ"}  # no font of the tests has these letters
PASTED = "RuntimeError: CUDA out of memory."


@pytest.fixture
def session(session: Session, tmp_path: Path) -> Session:
    resources = with_languages(tmp_path / "resources", {"pl": POLISH, "am": AMHARIC}, guides=False)
    return replace(session, world=replace(session.world, resources=resources))


@pytest.fixture
def runs(session: Session, qapp: QApplication, qtbot: QtBot, tmp_path: Path) -> Iterator[Runs]:
    font, palette = qapp.font(), QPalette(qapp.palette())
    made = Runs(session, qapp, qtbot, recorded(machine(), tmp_path))
    yield made
    made.end()
    qapp.setPalette(palette)
    qapp.setFont(font)


def choose(run: WindowRun, language: str, qtbot: QtBot) -> None:
    """Chooses a language as its menu does, and waits until the window stands in it."""
    before = run.frame
    assert before is not None
    before.language_chosen.emit(language)
    assert run.frame is not before
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.inspected)
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.pages.warm_up.is_done)


def title(run: WindowRun) -> str:
    """What the first row of the side list is called."""
    assert run.frame is not None
    return run.frame.side.row(WizardStep.MACHINE).text()


def kept_language(home: Path) -> str:
    return str(json.loads((home / ".config/gpuassist/window.json").read_text())["language"])


def test_the_window_is_made_anew_in_the_language(runs: Runs, qtbot: QtBot, home: Path) -> None:
    run = runs()
    choose(run, "pl", qtbot)
    assert (title(run), kept_language(home)) == ("Your machine po polsku", "pl")
    assert run.window.centralWidget() is run.frame
    choose(run, "en", qtbot)
    before = run.frame
    assert before is not None
    before.language_chosen.emit("")  # which is English here
    assert (title(run), kept_language(home), run.frame is before) == ("Your machine", "", True)


def test_the_language_is_remembered_but_the_command_line_goes_before_it(
    runs: Runs, session: Session, qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    save_settings(session.world, Settings(language="pl"))
    english = Runs(replace(session, named_language="en"), qapp, qtbot, recorded(machine(), tmp_path))
    assert [title(runs()), title(english())] == ["Your machine po polsku", "Your machine"]
    english.end()


def test_the_place_stays(runs: Runs, qtbot: QtBot) -> None:
    run = runs(GoTo(WizardStep.VERIFY))
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is WizardStep.VERIFY)
    choose(run, "pl", qtbot)
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is WizardStep.VERIFY)


def test_a_text_that_was_pasted_stays(runs: Runs, qtbot: QtBot) -> None:
    run = runs(ToExplainText(PASTED))
    for language in ("pl", "en"):
        qtbot.waitUntil(lambda: shown_text(run) == PASTED)
        choose(run, language, qtbot)
    qtbot.waitUntil(lambda: shown_text(run) == PASTED)


def shown_text(run: WindowRun) -> str:
    page = run.frame.pages.currentWidget() if run.frame is not None else None
    return page.text_card.edit.toPlainText() if isinstance(page, ExplainPage) and not page.busy else ""


def test_a_page_that_is_not_on_show_goes_on_where_it_was(runs: Runs, qtbot: QtBot) -> None:
    run = runs(ToGuide("precision"))
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is SideTool.GUIDES)
    assert run.frame is not None
    run.frame.go(GoTo(WizardStep.FOUND))
    for language in ("pl", "en"):
        choose(run, language, qtbot)
    run.frame.go(GoTo(SideTool.GUIDES))
    page = run.frame.pages.page(SideTool.GUIDES)
    assert isinstance(page, GuidesPage)
    assert page.topic == "precision"


def test_a_recording_is_not_ended_by_it(runs: Runs, qtbot: QtBot, tmp_path: Path, home: Path) -> None:
    run = runs(GoTo(WizardStep.LIVE))
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is WizardStep.LIVE and run.frame.pages.warm_up.is_done)
    before = run.frame
    assert before is not None
    watch = before.pages.page(WizardStep.LIVE).left().watch  # type: ignore[attr-defined]
    assert isinstance(watch, Watch)
    watch.record(str(tmp_path / "run.db"))
    before.language_chosen.emit("pl")
    assert (run.frame is before, kept_language(home), watch.recording is None) == (True, "pl", False)
    assert before.banners.later is not None
    assert "a recording" in before.banners.later.words
    button_named(before.banners, "Change the language now").click()
    assert run.frame is before
    watch.end_recording()
    button_named(before.banners, "Change the language now").click()
    assert title(run) == "Your machine po polsku"
    qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.current is WizardStep.LIVE)
    assert run.frame is not None
    assert run.frame.pages.page(WizardStep.LIVE).left().watch is watch  # type: ignore[attr-defined]


def test_the_focus_is_where_the_language_was_chosen(runs: Runs, qtbot: QtBot) -> None:
    run = runs()
    choose(run, "pl", qtbot)
    assert run.window.focusWidget() is button_named(run.window, "Language")


def test_what_no_font_can_write_is_said_in_english(runs: Runs, qtbot: QtBot) -> None:
    run = runs()
    choose(run, "am", qtbot)
    assert run.frame is not None
    told = [notice.words for notice in run.frame.banners.findChildren(Notice)]
    assert title(run) == "Your machine"
    assert any("letters of Amharic" in words for words in told)


def test_letters_are_looked_for_in_every_font(qapp: QApplication) -> None:
    assert [can_be_written(letters) for letters in ("Polski", "አማርኛ", "Polski አ")] == [True, False, False]


def test_the_language_of_the_desktop_is_the_one_without_a_choice(session: Session) -> None:
    variables = {**session.world.surroundings.variables, "LANG": "pl_PL.UTF-8"}
    desktop = replace(session, world=replace(session.world, surroundings=replace(session.world.surroundings, variables=variables)))
    spoken = [session_in(one, wish).words.language for one in (session, desktop) for wish in ("", "en", "pl", "gone")]
    assert spoken == ["en", "en", "pl", "en", "pl", "en", "pl", "pl"]


def test_dialogs_of_qt_speak_the_same_language(qapp: QApplication) -> None:
    qt, said = QtWords(qapp), {}
    asked = ("QPlatformTheme", "Cancel"), ("QFileDialog", "&Look in:"), ("QAbstractFileIconProvider", "Folder"), ("Gone", "None")
    for words in (words_of("zh_CN", {"Folder": "文件夹"}), ENGLISH, words_of("pl", {}), words_of("am", {})):
        qt.speak(words)
        said[words.language] = [qapp.translate(*one) for one in asked]
    qt.fall_silent()
    english = ["Cancel", "&Look in:", "Folder", "None"]
    assert said == {
        "zh_CN": ["取消", "查找范围：", "文件夹", "None"],
        "en": english,
        "pl": ["Anuluj", "Szukaj w:", "Folder", "None"],
        "am": english,
    }
    assert [qapp.translate(*one) for one in asked] == english


def test_chinese_is_written_where_a_font_has_its_letters(
    session: Session, qapp: QApplication, qtbot: QtBot, tmp_path: Path
) -> None:
    if not can_be_written("简体中文"):
        pytest.skip("NOT RUN: needs a Chinese font, install the package fonts-wqy-microhei")
    resources = with_languages(tmp_path / "chinese", {"zh_CN": {TITLES[WizardStep.MACHINE].message: "你的机器"}}, guides=False)
    chinese = replace(session, world=replace(session.world, resources=resources))
    save_settings(chinese.world, Settings(language="zh_CN"))
    font, palette = qapp.font(), QPalette(qapp.palette())
    runs = Runs(chinese, qapp, qtbot, recorded(machine(), tmp_path))
    run = runs()
    shown, weights = title(run), (sans(bold=True).weight(), "WenQuanYi Micro Hei" in sans().families())
    choose(run, "en", qtbot)
    after = (sans(bold=True).weight(), "WenQuanYi Micro Hei" in sans().families())
    runs.end()
    qapp.setPalette(palette)
    qapp.setFont(font)
    assert (shown, weights, after) == ("你的机器", (QFont.Weight.Bold, True), (QFont.Weight.DemiBold, False))
