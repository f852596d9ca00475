"""The card of choices: where to start, which GPUs, and what each other part shall be."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QPushButton

from gpuassist.install.what_if import NONE, Choices, Wish
from gpuassist.model.text import Text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.what_if import Slot
from gpuassist.ui.pages.what_if.wishes import PARTS, WishCard
from gpuassist.ui.theme import Theme
from tests.ui.showing import Show, words_in

CHOICES = Choices(
    gpus=(("Blackwell", ("NVIDIA GeForce RTX 5090",)), ("Ada Lovelace", ("NVIDIA GeForce RTX 4090", "NVIDIA L40S"))),
    drivers=("595", "580"),
    toolkits=("13.2", "12.8"),
    torches=("2.9.1+cu128", "2.9.1+cu130"),
    pythons=("3.13", "3.12"),
    gccs=("15", "14"),
    distributions=("ubuntu 24.04", "debian 13"),
)
SLOTS = (Slot("10de:2684", "RTX 4090"), Slot("10de:2684", "RTX 4090"))
AS_IS: dict[str, Text] = {"driver": verbatim("550.54.14"), "torch": verbatim("2.5.1+cu124")}


@pytest.fixture
def imagined(show: Show) -> WishCard:
    """A card before any machine was read."""
    made = show(WishCard(ENGLISH), 900, 260)
    made.show_choices(CHOICES)
    return made


@pytest.fixture
def card(imagined: WishCard) -> WishCard:
    imagined.show_machine(SLOTS, AS_IS, recorded=False)
    return imagined


def names(card: WishCard) -> list[str]:
    return [chip.text().removesuffix("×").strip() for chip in card.chips()]


def rows(card: WishCard, part: str) -> list[str]:
    box = card.box(part)
    return [box.itemText(place) for place in range(box.count())]


def choose(card: WishCard, part: str, value: str) -> None:
    """As the user would: the box's row with this value."""
    box = card.box(part)
    place = box.findData(value)
    assert place >= 0
    box.setCurrentIndex(place)
    box.activated.emit(place)


def start_from(card: WishCard, place: int) -> None:
    card.base.setCurrentIndex(place)
    card.base.activated.emit(place)


def test_it_starts_from_the_machine_as_it_is(card: WishCard) -> None:
    assert card.starts_from_machine
    assert (card.wish, names(card)) == (Wish(), ["RTX 4090", "RTX 4090"])
    assert ENGLISH(card.compared) == "This machine as it is"


def test_without_a_machine_it_starts_from_an_imagined_one(imagined: WishCard) -> None:
    assert not imagined.starts_from_machine
    assert names(imagined) == []
    assert "No GPU" in words_in(imagined)


def test_a_recording_is_called_one(imagined: WishCard) -> None:
    imagined.show_machine(SLOTS, AS_IS, recorded=True)
    assert imagined.base.currentText() == "The recorded machine"


def test_another_machine_takes_the_place_of_the_first(card: WishCard) -> None:
    card.show_machine(SLOTS[:1], {}, recorded=True)
    assert [card.base.itemText(place) for place in range(card.base.count())] == ["The recorded machine", "An imagined machine"]
    assert names(card) == ["RTX 4090"]


def test_gpus_of_another_machine_take_the_place_of_those_beside_what_was_added(card: WishCard) -> None:
    card.search.taken.emit("RTX 5090")
    card.show_machine((Slot("10de:1b06", "GTX 1080 Ti"),), {}, recorded=True)
    assert names(card) == ["GTX 1080 Ti", "RTX 5090"]
    assert card.wish.gpus[0] == "10de:1b06"


def test_a_box_says_what_is_there_now(card: WishCard) -> None:
    assert rows(card, "driver") == ["current: 550.54.14", "no driver", "driver 595", "driver 580"]
    assert rows(card, "gcc")[0] == "keep current"


def test_nothing_is_there_on_an_imagined_machine(imagined: WishCard) -> None:
    assert rows(imagined, "driver") == ["no driver", "driver 595", "driver 580"]
    assert rows(imagined, "python") == ["not chosen", "Python 3.13", "Python 3.12"]


def test_only_an_imagined_machine_has_another_distribution(card: WishCard) -> None:
    assert not card.box("distribution").isVisibleTo(card)
    start_from(card, 1)
    assert card.box("distribution").isVisibleTo(card)
    assert rows(card, "distribution") == ["not chosen", "Ubuntu 24.04", "Debian 13"]


@pytest.mark.parametrize(
    ("part", "value", "wish"),
    [
        ("driver", "595", Wish(driver="595")),
        ("toolkit", NONE, Wish(toolkit=NONE)),
        ("torch", "2.9.1+cu130", Wish(torch="2.9.1+cu130")),
        ("python", "3.12", Wish(python="3.12")),
        ("gcc", "14", Wish(gcc="14")),
    ],
)
def test_choosing_a_part_is_a_wish(card: WishCard, part: str, value: str, wish: Wish) -> None:
    spy = QSignalSpy(card.changed)
    choose(card, part, value)
    assert (card.wish, spy.count()) == (wish, 1)


def test_choosing_as_it_is_takes_a_wish_back(card: WishCard) -> None:
    choose(card, "driver", "595")
    choose(card, "driver", "")
    assert card.wish == Wish()


def test_a_wish_stands_out(card: WishCard, theme: Theme) -> None:
    choose(card, "driver", "595")
    assert [card.box(part).property("wished") for part in ("driver", "torch")] == ["yes", "no"]


def test_adding_a_gpu_keeps_those_that_are_there(card: WishCard) -> None:
    card.search.taken.emit("RTX 5090")
    assert names(card) == ["RTX 4090", "RTX 4090", "RTX 5090"]
    assert card.wish.gpus == ("10de:2684", "10de:2684", "NVIDIA GeForce RTX 5090")


def test_the_same_gpu_can_be_added_again(imagined: WishCard) -> None:
    for _ in range(3):
        imagined.search.taken.emit("L40S")
    assert imagined.wish.gpus == ("NVIDIA L40S",) * 3


def test_taking_one_out_leaves_the_others(card: WishCard) -> None:
    card.search.taken.emit("RTX 5090")
    card.chips()[0].click()
    assert names(card) == ["RTX 4090", "RTX 5090"]


def test_taking_the_last_one_out_leaves_none(card: WishCard) -> None:
    for _ in range(2):
        card.chips()[0].click()
    assert (card.wish.gpus, names(card)) == ((NONE,), [])


def test_after_the_last_one_the_keyboard_is_at_the_search(card: WishCard) -> None:
    card.activateWindow()
    for _ in range(2):
        card.chips()[0].setFocus()
        card.chips()[0].click()
    assert card.search.hasFocus()


def test_taking_out_what_was_added_is_no_wish_any_more(card: WishCard) -> None:
    card.search.taken.emit("RTX 5090")
    card.chips()[2].click()
    assert card.wish == Wish()


def test_an_imagined_machine_that_was_emptied_is_no_wish(imagined: WishCard) -> None:
    imagined.search.taken.emit("RTX 5090")
    imagined.chips()[0].click()
    assert imagined.wish == Wish()


def test_a_chip_says_what_it_does(card: WishCard) -> None:
    chip: QPushButton = card.chips()[0]
    assert chip.accessibleName() == chip.toolTip() == "Remove RTX 4090"


def test_a_name_that_nobody_knows_is_told(card: WishCard) -> None:
    card.search.missed.emit("voodoo 5")
    assert "No GPU that gpuassist knows has voodoo 5 in its name." in words_in(card)


def test_what_was_told_goes_with_the_next_choice(card: WishCard) -> None:
    card.search.missed.emit("voodoo 5")
    card.search.taken.emit("RTX 5090")
    assert not any("voodoo" in words for words in words_in(card))


def test_a_wish_from_elsewhere_is_shown(card: WishCard) -> None:
    card.open_for(Wish(("NVIDIA L40S",), driver="570.86.16", toolkit=NONE))
    assert names(card) == ["L40S"]
    assert card.box("driver").currentText() == "driver 570.86.16"
    assert card.box("toolkit").currentText() == "no CUDA toolkit"


def test_resetting_shows_the_machine_as_it_is(card: WishCard) -> None:
    card.search.missed.emit("voodoo 5")
    card.open_for(Wish(("NVIDIA L40S",), driver="595"))
    card.reset()
    assert (card.wish, names(card)) == (Wish(), ["RTX 4090", "RTX 4090"])
    assert not any("voodoo" in words for words in words_in(card))


def test_a_machine_read_again_keeps_the_wish(card: WishCard) -> None:
    choose(card, "driver", "595")
    card.show_machine(SLOTS[:1], AS_IS, recorded=False)
    assert (card.wish.driver, card.box("driver").currentText(), names(card)) == ("595", "driver 595", ["RTX 4090"])


def test_a_wish_made_before_a_machine_was_read_stays_imagined(imagined: WishCard) -> None:
    imagined.search.taken.emit("RTX 5090")
    imagined.show_machine(SLOTS, AS_IS, recorded=False)
    assert not imagined.starts_from_machine
    assert names(imagined) == ["RTX 5090"]


def test_starting_elsewhere_keeps_the_wish(card: WishCard) -> None:
    choose(card, "torch", "2.9.1+cu130")
    start_from(card, 1)
    assert card.wish == Wish(torch="2.9.1+cu130")
    assert ENGLISH(card.compared) == "An imagined machine with torch 2.9.1+cu130"


@pytest.mark.parametrize("part", [name for name, _ in PARTS])
def test_every_box_is_read_aloud_by_its_name(card: WishCard, part: str) -> None:
    assert card.box(part).accessibleName() == ENGLISH(dict(PARTS)[part])


@pytest.mark.parametrize("width", [560, 736, 992, 1600])
def test_every_box_stands_inside(show: Show, card: WishCard, width: int) -> None:
    show(card, width, 320)
    for part, _ in PARTS[:5]:
        box = card.box(part)
        right = box.mapTo(card, box.rect().topRight()).x()
        assert 0 < right <= width
