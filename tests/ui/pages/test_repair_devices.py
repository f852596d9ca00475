"""Choosing GPUs by ticks: the words of `use devices` come of it, by index or by UUID."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from gpuassist.model.fact import NOT_ASKED, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.repair.others import DevicesCard
from tests.ui.made import known
from tests.ui.showing import Show


def gpu(index: int, uuid: str = "") -> Gpu:
    return Gpu(name=known("RTX 4090"), index=known(index), uuid=known(uuid) if uuid else NOT_ASKED)


@pytest.fixture
def card(show: Show) -> DevicesCard:
    made = show(DevicesCard(ENGLISH, "/home/you"), 360, 500)
    made.show_gpus(known((gpu(0, "GPU-aa"), gpu(1, "GPU-bb"), gpu(2, "GPU-cc"))))
    return made


def heard(card: DevicesCard) -> list[str]:
    told: list[str] = []
    card.devices_chosen.connect(told.append)
    return told


def test_every_gpu_is_ticked_and_none_hidden(card: DevicesCard) -> None:
    assert [row.tick.text() for row in card.ticks] == ["0: RTX 4090", "1: RTX 4090", "2: RTX 4090"]
    assert card.wish == "all"


def test_a_tick_taken_away_hides_that_gpu(card: DevicesCard) -> None:
    told = heard(card)
    QTest.keyClick(card.ticks[1].tick, Qt.Key.Key_Space)
    assert told == ["0,2"]


def test_gpus_can_be_named_by_uuid(card: DevicesCard) -> None:
    told = heard(card)
    card.ticks[0].tick.setChecked(False)
    card.names.choose(1)
    assert told == ["1,2", "GPU-bb,GPU-cc"]


def test_without_any_tick_nothing_is_wished(card: DevicesCard) -> None:
    for row in card.ticks:
        row.tick.setChecked(False)
    assert card.wish == ""


def test_where_a_uuid_is_missing_indices_name_them(card: DevicesCard) -> None:
    card.show_gpus(known((gpu(0, "GPU-aa"), gpu(1))))
    assert not card.names.button(1).isEnabled()
    assert "UUID" in card.names.button(1).toolTip()


@pytest.mark.parametrize(
    ("held", "wish"),
    [((), "all"), (("1",), "1"), (("GPU-aa", "GPU-cc"), "0,2")],
    ids=["none", "index", "uuids"],
)
def test_what_is_chosen_now_is_ticked_silently(card: DevicesCard, held: tuple[str, ...], wish: str) -> None:
    told = heard(card)
    card.show_held(held)
    assert (card.wish, told) == (wish, [])


def test_gpus_that_nobody_counted_are_counted_by_their_order(card: DevicesCard) -> None:
    card.show_gpus(known((replace(gpu(0), index=NOT_ASKED), replace(gpu(0), index=NOT_ASKED))))
    card.ticks[0].tick.setChecked(False)
    assert card.wish == "1"


def test_unknown_gpus_are_typed(card: DevicesCard) -> None:
    card.show_gpus(Unknown(text("the PCI bus could not be read")))
    told = heard(card)
    assert card.entry is not None
    QTest.keyClicks(card.entry, " 0,1 ")
    QTest.keyClick(card.entry, Qt.Key.Key_Return)
    assert told == ["0,1"]
    assert not card.names.isVisibleTo(card)


def test_the_reason_of_not_knowing_is_said(card: DevicesCard) -> None:
    card.show_gpus(Unknown(text("the PCI bus could not be read")))
    assert "The PCI bus could not be read" in [label.text() for label in card.findChildren(QLabel)]


def test_a_machine_without_gpu_offers_none(card: DevicesCard) -> None:
    card.show_gpus(Known((), "made up"))
    assert (card.ticks, card.entry, card.wish) == ((), None, "")


def test_what_is_being_applied_cannot_be_ticked(card: DevicesCard) -> None:
    card.freeze()
    assert not any(row.tick.isEnabled() for row in card.ticks)
    card.thaw()
    assert all(row.tick.isEnabled() for row in card.ticks)
