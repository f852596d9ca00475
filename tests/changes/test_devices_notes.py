"""What is said before programs see some of the GPUs alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.choice import Devices
from gpuassist.changes.device_lines import device_lines
from gpuassist.changes.devices_plan import notes_on_choice, notes_on_lines
from gpuassist.changes.shell_files import shell_files
from gpuassist.model.fact import Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from tests.changes.scoped import session_at
from tests.values import RTX_3090, RTX_4090, Recipe, machine

TWO = machine(Recipe(gpus=(RTX_4090, RTX_3090)))
NO_GPUS = Machine(gpus=Unknown(text("nvidia-smi hangs")))


def choice(devices: Devices, seen: Machine = TWO) -> list[str]:
    return [ENGLISH(one) for one in notes_on_choice(seen, devices)]


def test_all_gpus_need_no_word() -> None:
    assert choice(Devices(())) == []


def test_hidden_gpus_are_named() -> None:
    first, second = choice(Devices(("0",), ("GPU 1 (RTX 3090)",)))
    assert first == "programs in new terminals find no other GPU: GPU 1 (RTX 3090) is hidden from all of them"
    assert second.startswith("programs that no shell starts")


def test_choice_of_all_hides_none() -> None:
    first, *_ = choice(Devices(("0", "1")))
    assert first.startswith("these are all GPUs of this machine (")
    assert "4090" in first
    assert "3090" in first


@pytest.mark.parametrize(("devices", "seen"), [(Devices(("0",)), NO_GPUS), (Devices(("0",), notes=(text("a doubt"),)), TWO)])
def test_what_could_not_be_checked_is_not_claimed(devices: Devices, seen: Machine) -> None:
    first, *_ = choice(devices, seen)
    assert first.endswith("the others are hidden from all of them")


def test_doubts_come_last() -> None:
    assert choice(Devices(("7",), notes=(text("a doubt"),)))[-1] == "a doubt"


def on_lines(home: Path, content: str, devices: Devices) -> list[str]:
    (home / ".bashrc").write_text(content)
    files = shell_files(session_at(home).world)
    return [ENGLISH(one) for one in notes_on_lines(files, devices, device_lines(files, chosen=bool(devices.values)))]


@pytest.mark.parametrize(
    ("content", "devices", "words"),
    [
        ("export CUDA_VISIBLE_DEVICES=0\n", Devices(("1",)), "line 1 of {file} loses to the block (export CUDA_VISIBLE_DEVICES=0)"),
        ("\nCUDA_DEVICE_ORDER=PCI_BUS_ID\n", Devices(("1",)), "line 2 of {file} loses to the block (CUDA_DEVICE_ORDER=PCI_BUS_ID)"),
        (
            "CUDA_VISIBLE_DEVICES=\n",
            Devices(()),
            "line 1 of {file} is your own and chooses GPUs (CUDA_VISIBLE_DEVICES=), so it is commented out:"
            " `gpuassist use devices` with --keep {file}:1 leaves it, undo brings it back",
        ),
        (
            "if true; then\n  export CUDA_VISIBLE_DEVICES=0\nfi\n",
            Devices(()),
            "line 2 of {file} chooses GPUs all the same (export CUDA_VISIBLE_DEVICES=0)",
        ),
    ],
)
def test_line_of_ones_own_is_named(home: Path, content: str, devices: Devices, words: str) -> None:
    assert on_lines(home, content, devices) == [words.format(file=home / ".bashrc")]


@pytest.mark.parametrize("content", ["", "export PATH=/a:$PATH\n", "# CUDA_VISIBLE_DEVICES=0\n", "echo $CUDA_VISIBLE_DEVICES\n"])
def test_line_that_chooses_none_is_left(home: Path, content: str) -> None:
    assert on_lines(home, content, Devices(("1",))) == []
