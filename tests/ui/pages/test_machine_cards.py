"""The cards of the first page: what each says of whole machines, of machines with holes, and of none at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.pages.machine.cards import MachineCards, ShownFacts
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.table import Table
from tests.ui.made import known, unknown
from tests.ui.showing import Show, button_named, words_in
from tests.values import FEDORA, GTX_1080_TI, RTX_4090, RTX_5090, Env, machine, without

MakeCards = Callable[[Machine], MachineCards]


@pytest.fixture
def make(show: Show, qtbot: QtBot) -> MakeCards:
    """All cards of a machine, once the last one is built."""

    def made(of: Machine) -> MachineCards:
        cards = show(MachineCards(ENGLISH, ShownFacts.of(of)), 1000, 800)
        qtbot.waitUntil(lambda: not cards.building.busy)
        return cards

    return made


def titles(cards: MachineCards) -> list[str]:
    return [card.title.text() for card in cards.findChildren(Card) if card.title is not None]


def rows(cards: MachineCards) -> dict[str, FactRow]:
    return {row.label: row for table in cards.findChildren(FactTable) for row in table.rows}


def pills(cards: MachineCards) -> list[tuple[str, Mark]]:
    return [(pill.words, pill.mark) for pill in cards.findChildren(StatusPill)]


def cells(cards: MachineCards, row: int) -> list[str]:
    (table,) = cards.findChildren(Table)
    model = table.model()
    return [str(model.index(row, column).data(Qt.ItemDataRole.AccessibleTextRole)) for column in range(model.columnCount())]


def test_gpus_come_before_software_and_environments(make: MakeCards) -> None:
    found = titles(make(machine(gpus=(RTX_4090, GTX_1080_TI))))
    assert found == ["NVIDIA GeForce RTX 4090", "NVIDIA GeForce GTX 1080 Ti", "Driver and toolkits", "Python environments"]


def test_the_first_card_is_there_at_once(show: Show) -> None:
    assert titles(show(MachineCards(ENGLISH, ShownFacts.of(machine()))))[0] == "NVIDIA GeForce RTX 4090"


def test_cards_are_gone_with_half_of_them_built(show: Show, qtbot: QtBot) -> None:
    cards = show(MachineCards(ENGLISH, ShownFacts.of(machine(gpus=(RTX_4090,) * 8))))
    with qtbot.waitSignal(cards.destroyed):
        cards.deleteLater()


def test_a_gpu_stands_with_its_place(make: MakeCards) -> None:
    assert "GPU 0 · 0000:01:00.0" in words_in(make(machine()))


@pytest.mark.parametrize(
    ("of", "words", "mark"),
    [
        (machine(), "ready", Mark.RIGHT),
        (machine(asleep=True), "asleep, not woken", Mark.UNKNOWN),
        (machine(driver="", bound="nouveau"), "driven by nouveau", Mark.PROBLEM),
        (machine(driver=""), "no driver", Mark.PROBLEM),
        (machine(dead=(RTX_4090,)), "not used by the loaded driver", Mark.PROBLEM),
        (machine(libcuda="560.35.03"), "not readable", Mark.UNKNOWN),
    ],
    ids=["ready", "asleep", "nouveau", "no-driver", "dead", "mismatch"],
)
def test_the_pill_says_the_state_of_a_gpu(make: MakeCards, of: Machine, words: str, mark: Mark) -> None:
    assert pills(make(of)) == [(words, mark)]


def test_known_facts_stand_with_their_source(make: MakeCards) -> None:
    found = rows(make(machine()))["Architecture"]
    assert (found.value, found.source) == ("Ada Lovelace, compute capability 8.9", "NVML nvmlDeviceGetCudaComputeCapability")


def test_a_link_that_rests_says_both_speeds(make: MakeCards) -> None:
    assert rows(make(machine()))["PCIe"].value == "4.0 ×16 (now 1.0 ×16)"


def test_what_is_unknown_says_why_and_has_no_source(make: MakeCards) -> None:
    found = rows(make(machine(driver="")))["Memory"]
    assert (found.unknown, found.source) == (True, "")
    assert "NVML was not asked" in found.value


def test_what_does_not_apply_has_no_row(make: MakeCards) -> None:
    found = rows(make(machine(wsl=2)))
    assert "PCIe" not in found
    assert "MIG" not in found


def test_a_partitioned_gpu_counts_its_instances(make: MakeCards) -> None:
    whole = machine()
    (one,) = whole.gpus.value  # type: ignore[union-attr]
    sliced = replace(one, mig_enabled=known(True), mig_uuids=known(("MIG-1", "MIG-2")))
    assert rows(make(replace(whole, gpus=known((sliced,)))))["MIG"].value == "on, 2 instances"


def test_a_gpu_without_name_goes_by_its_number(make: MakeCards) -> None:
    whole = machine()
    (one,) = whole.gpus.value  # type: ignore[union-attr]
    assert titles(make(replace(whole, gpus=known((replace(one, name=unknown("unheard of")),)))))[0] == "NVIDIA GPU 10de:2684"


def test_a_machine_without_gpus_shows_the_rest(make: MakeCards) -> None:
    assert titles(make(machine(gpus=()))) == ["Driver and toolkits", "Python environments"]


def test_the_toolkit_first_on_the_path_is_strong(make: MakeCards) -> None:
    found = rows(make(machine(toolkits=("12.4.131", "11.8.89"))))
    assert [(found[f"Toolkit {name}"].value, found[f"Toolkit {name}"].strong) for name in ("12.4", "11.8")] == [
        ("first on PATH", True),
        ("installed", False),
    ]


@pytest.mark.parametrize(("fact", "label"), [("toolkits", "Toolkits"), ("compilers", "Host compiler"), ("driver.loaded", "Driver")])
def test_software_that_is_unknown_says_so(make: MakeCards, fact: str, label: str) -> None:
    found = rows(make(without(machine(driver="550.54.14", asleep=True), [fact])))[label]
    assert found.unknown
    assert found.value


@pytest.mark.parametrize(
    ("of", "label", "value"),
    [
        (machine(toolkits=(), nvcc=""), "Toolkits", "none installed"),
        (machine(gcc=()), "Host compiler", "none installed"),
        (machine(driver=""), "Driver", "none loaded"),
        (machine(driver="", bound="nouveau"), "Driver", "nouveau is loaded"),
        (machine(open_module=True), "Driver", "550.54.14, open module"),
        (machine(), "Runs CUDA", "12.4, and any 12.x"),
    ],
)
def test_software_is_said_in_words(make: MakeCards, of: Machine, label: str, value: str) -> None:
    assert rows(make(of))[label].value == value


def test_no_environment_leaves_no_table(make: MakeCards) -> None:
    cards = make(machine(environments=()))
    assert cards.findChildren(Table) == []
    assert "None was found." in words_in(cards)


def test_the_active_environment_is_the_first_row(make: MakeCards) -> None:
    cards = make(machine(environments=(Env("a", "2.5.1+cu124"), Env("b", "2.5.1+cu124", active=True))))
    assert cells(cards, 0) == ["b venv", "3.11", "2.5.1+cu124", "this GPU"]


@pytest.mark.parametrize(
    ("torch", "gpus", "runs_on"),
    [
        ("2.5.1+cpu", (RTX_4090,), "CPU only"),
        ("2.5.1+cu124", (RTX_5090,), "not this GPU"),
        ("2.5.1+cu124", (RTX_4090, RTX_5090), "1 of 2 GPUs"),
        ("2.5.1+cu124", (RTX_4090, GTX_1080_TI), "both GPUs"),
        ("2.5.1+cu124", (), "no GPU"),
        ("", (RTX_4090,), "–"),
    ],
)
def test_each_torch_says_where_it_runs(make: MakeCards, torch: str, gpus: tuple[str, ...], runs_on: str) -> None:
    assert cells(make(machine(environments=(Env("train", torch),), gpus=gpus)), 0)[3] == runs_on


def test_environments_are_copied_as_a_table(make: MakeCards, clipboard: QClipboard) -> None:
    (table,) = make(machine()).findChildren(Table)
    table.selectRow(0)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "train venv\t3.11\t2.5.1+cu124\tthis GPU"


def test_the_host_is_one_line(make: MakeCards) -> None:
    shown = words_in(make(machine(distribution=FEDORA, secure_boot=True)))
    assert "Fedora Linux 42 (Workstation Edition)" in shown
    assert "· kernel 6.8.0-60-generic · x86_64 · Secure Boot on · bash" in shown


def test_a_host_of_which_nothing_is_known_is_linux(make: MakeCards) -> None:
    assert "Linux" in words_in(make(Machine()))


def test_a_machine_of_unknowns_marks_nothing_right(make: MakeCards) -> None:
    cards = make(Machine())
    assert all(row.unknown for row in rows(cards).values())
    assert pills(cards) == []


def test_everything_is_asked_for_by_key(make: MakeCards, qtbot: QtBot) -> None:
    cards = make(machine())
    button = button_named(cards, "Everything we read…")
    with qtbot.waitSignal(cards.everything_wanted):
        QTest.keyClick(button, Qt.Key.Key_Space)
