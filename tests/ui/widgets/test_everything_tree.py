"""The full list as a tree: every fact in one row, and a model that Qt's own tester accepts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.ui.palette import LIGHT
from gpuassist.ui.widgets.fact_rows import Branch, TreeModel, branch
from tests.values import GTX_1080_TI, RTX_5090, machine

HEADINGS = ("Fact", "Value", "Source")


def model_of(of: Machine) -> TreeModel:
    """The model of a machine."""
    return TreeModel(HEADINGS, branch("", dict(encode_machine(of, ENGLISH)), ENGLISH).children)


def path(model: TreeModel, *names: str) -> QModelIndex:
    """The row that these names lead to."""
    index = QModelIndex()
    for name in names:
        rows = range(model.rowCount(index))
        index = next(model.index(row, 0, index) for row in rows if model.index(row, 0, index).data() == name)
    return index


def cells(model: TreeModel, *names: str) -> tuple[str, str]:
    """Value and source of the row that these names lead to."""
    index = path(model, *names)
    return str(index.siblingAtColumn(1).data()), str(index.siblingAtColumn(2).data())


@pytest.mark.parametrize(
    ("data", "row"),
    [
        ("text", Branch("x", "text")),
        (3, Branch("x", "3")),
        (True, Branch("x", "yes")),
        (None, Branch("x", "")),
        ([], Branch("x", "–")),
        (["sm_80", "sm_90"], Branch("x", "sm_80, sm_90")),
        ({"value": "6.8.0", "source": "uname"}, Branch("x", "6.8.0", "uname")),
        ({"value": False, "source": "sysfs"}, Branch("x", "no", "sysfs")),
        ({"value": None, "reason": "denied", "asked": True}, Branch("x", "denied", known=False)),
        ({"major_version": 8}, Branch("x", children=(Branch("Major version", "8"),))),
        (
            {"memory_total_bytes": {"value": 24 << 30, "source": "NVML"}},
            Branch("x", children=(Branch("Memory", "24 GiB", "NVML"),)),
        ),
        ({"wsl": {"value": 0, "source": "uname"}}, Branch("x", children=(Branch("WSL", "none", "uname"),))),
        ({"schema": 1}, Branch("x")),
    ],
)
def test_every_shape_of_json_has_its_row(data: Json, row: Branch) -> None:
    assert branch("x", data, ENGLISH) == row


def test_a_fact_that_holds_a_record_keeps_its_source() -> None:
    found = branch("link", {"value": {"width": 16}, "source": "sysfs"}, ENGLISH)
    assert (found.source, found.children) == ("sysfs", (Branch("Lanes", "16"),))


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"name": "train"}, "train"),
        ({"path": "/usr/bin/gcc"}, "/usr/bin/gcc"),
        ({"pci_address": {"value": "0000:01:00.0", "source": "sysfs"}}, "0000:01:00.0"),
        ({"name": {"value": None, "reason": "denied"}, "path": "/x"}, "/x"),
        ({"kind": "C"}, "1"),
    ],
)
def test_items_of_a_list_are_called_by_what_they_are(item: Json, name: str) -> None:
    assert branch("list", [item], ENGLISH).children[0].name == name


@pytest.mark.parametrize("of", [machine(), machine(gpus=(GTX_1080_TI, RTX_5090)), Machine()], ids=["one", "two", "empty"])
def test_qt_accepts_the_model(of: Machine, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model_of(of))  # type: ignore[no-untyped-call]


def test_a_fact_is_found_where_it_belongs(qtbot: QtBot) -> None:
    assert cells(model_of(machine()), "Computer", "Kernel") == ("6.8.0-60-generic", "/proc/sys/kernel/osrelease")


def test_gpus_are_called_by_their_names(qtbot: QtBot) -> None:
    model = model_of(machine(gpus=(GTX_1080_TI, RTX_5090)))
    rows = path(model, "GPUs")
    assert [model.index(row, 0, rows).data() for row in range(2)] == ["NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce RTX 5090"]


def test_unknown_facts_say_why_in_a_quieter_colour(qtbot: QtBot) -> None:
    model = model_of(machine(asleep=True))
    index = path(model, "GPUs", "NVIDIA GeForce RTX 4090", "Memory used").siblingAtColumn(1)
    assert "would wake" in str(index.data())
    assert index.data(Qt.ItemDataRole.ForegroundRole) == QColor(LIGHT.muted)


def test_children_know_their_parents(qtbot: QtBot) -> None:
    model = model_of(machine())
    child = path(model, "Computer", "Kernel")
    assert model.parent(child) == path(model, "Computer")
    assert model.parent(path(model, "Computer")) == QModelIndex()


def test_headings_are_those_given(qtbot: QtBot) -> None:
    model = model_of(Machine())
    assert tuple(model.headerData(place, Qt.Orientation.Horizontal) for place in range(3)) == HEADINGS
    assert model.headerData(3, Qt.Orientation.Horizontal) is None
    assert model.headerData(0, Qt.Orientation.Vertical) is None


def test_places_outside_the_tree_are_no_index(qtbot: QtBot) -> None:
    model = model_of(Machine())
    assert not model.index(99, 0).isValid()
    assert not model.index(0, 3).isValid()
    assert model.data(QModelIndex()) is None


def test_every_field_of_a_machine_has_a_label() -> None:
    """None is told by the name that it has in the file."""
    rows = list(branch("", dict(encode_machine(machine(gpus=(GTX_1080_TI, RTX_5090)), ENGLISH)), ENGLISH).children)
    names = set()
    while rows:
        row = rows.pop()
        names.add(row.name)
        rows.extend(row.children)
    assert not names & {"Key pending", "Slept", "Wsl", "Cuda version", "Nvml version", "Taken at", "Gpus", "Holds", "Schema"}
