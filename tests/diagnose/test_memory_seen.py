"""The picture of a text takes the card's size and the programs' names from the facts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.memory import memory_doubts, memory_picture
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu, Holder
from gpuassist.model.machine import Machine
from gpuassist.model.memory_picture import MemoryPicture, PartKind
from gpuassist.model.paste import Paste
from tests import memory_messages as messages
from tests.values import knowledge

GIB = 1 << 30
PADDLE = (
    "Out of memory error on GPU {}. Cannot allocate 1.0GB memory on GPU {}, 7.5GB memory has been allocated and available memory"
    " is only 100.0MB."
)


def seen(words: str, machine: Machine | None = None) -> MemoryPicture | None:
    """The picture of a text beside the facts of a machine."""
    return memory_picture(SignatureInput(Paste(words), RuleInput(machine or Machine(), knowledge())))


def _with_cards(count: int) -> Machine:
    cards = tuple(Gpu(memory_total_bytes=Known(8 * GIB, "NVML")) for _ in range(count))
    return replace(Machine(), gpus=Known(cards, "NVML"))


def _held_by(command: str) -> Machine:
    return replace(Machine(), holders=Known((Holder(39021, "you", command, ("/dev/nvidia0",)),), "/proc"))


@pytest.mark.parametrize(
    ("cards", "device", "total"),
    [(1, 0, 8 * GIB), (2, 0, 0), (0, 0, 0), (1, 1, 0)],
)
def test_the_size_comes_from_the_only_card(cards: int, device: int, total: int) -> None:
    found = seen(PADDLE.format(device, device), _with_cards(cards))
    assert (found.total_bytes if found else 0) == total


def test_the_message_says_the_size_better() -> None:
    found = seen(messages.FULL, _with_cards(1))
    assert found is not None
    assert found.total_bytes > 40 * GIB


def test_programs_of_the_desktop_are_one_part() -> None:
    found = seen(messages.TORCH_2_5, _held_by("/usr/bin/gnome-shell"))
    assert found is not None
    assert [part.name for part in found.parts if part.kind is PartKind.DESKTOP] == ["gnome-shell"]
    assert not [part for part in found.parts if part.kind is PartKind.PROCESS and part.name == "gnome-shell"]
    assert sum(part.size_bytes for part in found.parts) == found.total_bytes


@pytest.mark.parametrize(
    ("command", "name"),
    [("/usr/bin/jupyter-lab --port 8888", "jupyter-lab"), ("python train.py", "python"), ("", "")],
)
def test_a_process_gets_the_name_of_its_program(command: str, name: str) -> None:
    found = seen(messages.TORCH_2_5, _held_by(command))
    assert found is not None
    assert [part.name for part in found.parts if part.kind is PartKind.PROCESS] == [name]


@pytest.mark.parametrize("words", ["", "CUDA error: out of memory", messages.HIP, messages.MPS, messages.BOUNDLESS])
def test_what_tells_nothing_of_a_card_makes_no_picture(words: str) -> None:
    assert seen(words) is None


CONTRADICTORY = (
    "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already allocated;"
    " 18.00 GiB free; 21.00 GiB reserved in total by PyTorch)"
)
ON_ANOTHER = CONTRADICTORY.replace("GPU 0", "GPU 1").replace("18.00 GiB free", "1.00 GiB free")


def test_figures_that_contradict_each_other_make_no_picture_and_are_named() -> None:
    assert seen(CONTRADICTORY) is None
    (doubt,) = memory_doubts(SignatureInput(Paste(CONTRADICTORY), RuleInput(Machine(), knowledge())))
    assert doubt.problem == "oom-true"
    assert "contradict" in doubt.reason.message


@pytest.mark.parametrize("words", [messages.TORCH_2_5, messages.TORCH_1_9, "no message", messages.CONTAINER])
def test_figures_that_can_be_true_leave_no_doubt(words: str) -> None:
    assert memory_doubts(SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))) == ()


def test_another_gpu_that_was_full_is_named() -> None:
    found = seen(f"{messages.TORCH_2_5}\n\n{'step' * 700}\n{ON_ANOTHER}\n{ON_ANOTHER}")
    assert found is not None
    assert (found.device, [dict(note.parameters)["device"] for note in found.notes]) == (0, [1])
