"""The page that says whether a model fits: anew with every choice, a bar for each GPU, a button for each change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from gpuassist.model.estimate import EstimatePart, LeverKind, ModelShape, ShapeOrigin, Task, TracedFigures
from gpuassist.model.gpu import Recovery
from gpuassist.session.navigation import SideTool, ToEstimate
from gpuassist.ui.jobs import Done
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.estimate.fit_bar import FitBar
from gpuassist.ui.pages.estimate.page import EstimatePage
from tests.ui.made import Answers, inspection
from tests.ui.showing import Show, words_in
from tests.values import RTX_4090, RTX_5090, machine

NUMBERS = "hidden=2048,layers=16,heads=32,kv_heads=8,inner=8192,vocab=128256"


@pytest.fixture
def page(desk: Desk, show: Show) -> EstimatePage:
    made = show(EstimatePage(desk), 960, 540)
    made.show_inspection(inspection(machine(gpus=(RTX_5090,), driver="580.95.05", open_module=True)))
    return made


def asked(page: EstimatePage, model: str, qtbot: QtBot) -> EstimatePage:
    page.arrive(ToEstimate(model))
    qtbot.waitUntil(lambda: not page.busy)
    return page


def test_nothing_is_asked_before_a_model_is_named(page: EstimatePage) -> None:
    assert page.answer is None
    assert not page.cards.isVisible()
    assert page.bar().primary is None


def test_an_answer_with_a_bar_and_levers_that_change_the_question(page: EstimatePage, qtbot: QtBot) -> None:
    asked(page, NUMBERS, qtbot)
    assert page.answer is not None
    before = page.answer
    (bar,) = page.findChildren(FitBar)
    assert bar.boxes()[-1].right() <= bar.width()
    assert "parameters" in bar.accessibleDescription()
    place = next(place for place, one in enumerate(before.levers) if one.kind is LeverKind.BF16)
    page.levers.buttons()[place].click()
    assert page.busy
    qtbot.waitUntil(lambda: not page.busy)
    assert page.answer.estimate.total_bytes == before.levers[place].total_bytes
    assert page.form.choice("precision").value == "bf16"


def test_a_lost_card_is_said_to_be_of_no_use_now_and_has_no_bar(page: EstimatePage, qtbot: QtBot) -> None:
    told = {"recovery": (Recovery.NONE, Recovery.POWER_CYCLE)}
    made = machine(gpus=(RTX_5090, RTX_4090), driver="580.95.05", open_module=True, dead=(RTX_4090,), told=told)
    page.show_inspection(inspection(made))
    asked(page, NUMBERS, qtbot)
    assert len(page.findChildren(FitBar)) == 1
    assert "NVIDIA GeForce RTX 4090 cannot be used now: the driver no longer reaches this GPU" in words_in(page)


def test_answering_shows_what_matters_there(page: EstimatePage, qtbot: QtBot) -> None:
    asked(page, NUMBERS, qtbot)
    page.form.task.choose(1)
    qtbot.waitUntil(lambda: not page.busy)
    assert page.answer is not None
    assert page.answer.setting.task is Task.INFER
    assert page.answer.estimate.of(EstimatePart.KV_CACHE) > 0
    assert page.form.choice("kv_bits").isVisible()
    assert not page.form.choice("optimizer").isVisible()


@pytest.mark.qt_log_ignore("This plugin does not support")  # offscreen
def test_the_arrow_keys_walk_the_bar(page: EstimatePage, qtbot: QtBot) -> None:
    asked(page, NUMBERS, qtbot)
    (bar,) = page.findChildren(FitBar)
    bar.setFocus()
    QTest.keyClick(bar, Qt.Key.Key_Right)
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert bar.at == 1
    QToolTip.hideText()


def test_a_file_is_chosen_and_what_is_none_is_said(page: EstimatePage, answers: Answers, tmp_path: Path, qtbot: QtBot) -> None:
    good = tmp_path / "config.json"
    good.write_text(json.dumps({"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 2, "vocab_size": 100}))
    asked(page, str(good), qtbot)
    assert page.answer is not None
    bad = tmp_path / "other.json"
    bad.write_text("[")
    asked(page, str(bad), qtbot)
    assert page.trouble.isVisible()
    assert "other.json" in page.trouble.words


def test_code_is_run_only_when_the_button_is_pressed(page: EstimatePage, tmp_path: Path, qtbot: QtBot) -> None:
    asked(page, str(tmp_path / "train.py"), qtbot)
    assert page.answer is None
    assert page.bar().primary is page.count
    assert not page.busy


def test_a_counted_step_is_shown_for_any_batch_and_no_other_sequence(page: EstimatePage, tmp_path: Path, qtbot: QtBot) -> None:
    setting, model = page.form.setting, str(tmp_path / "train.py")
    figures = TracedFigures(1, 4000, 0, 1000, 4000, 4000, 0, "2.13.0", "meta")
    made = ModelShape("Mine", "", ShapeOrigin.TRACED, 1000, writes=False, traced=figures)
    page._show_traced(Done(((model, setting.sequence, setting.attention), made)))
    for batch, sequence, shown in ((1, setting.sequence, True), (8, setting.sequence, True), (1, 128, False)):
        page.form.show_question(model, replace(setting, batch=batch, sequence=sequence, checkpointing=True))
        qtbot.waitUntil(lambda: not page.busy)
        assert (page.answer is not None) is shown
    assert page.bar().primary is page.count
    page.form.show_question(model, replace(setting, batch=8, checkpointing=True))
    qtbot.waitUntil(lambda: not page.busy)
    assert page.answer is not None
    assert not page.answer.setting.checkpointing  # its step was made without


def test_the_question_is_kept_for_another_language(page: EstimatePage, qtbot: QtBot) -> None:
    asked(page, NUMBERS, qtbot)
    left = page.left()
    assert left.model == NUMBERS
    assert left.place is SideTool.ESTIMATE
    assert NUMBERS.split(",")[0] in " ".join(words_in(page))
