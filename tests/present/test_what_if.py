"""The answer to a what-if in words."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.chain import chains
from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.what_if import Slot, alike, answer, as_it_is, caption, in_plain_words, slots, standing
from tests.values import RTX_4090, RTX_5090, knowledge, machine

STEP = Step(StepKind.ROOT_COMMAND, text("Install the driver"), ("sudo apt install nvidia-driver-595-open",))
GOAL = text("what if")


def chain(name: str = "RTX 4090", status: Status = Status.RIGHT) -> Chain:
    nodes = (Node(Part.GPU, verbatim(name), verbatim(""), Status.RIGHT), Node(Part.DRIVER, verbatim("550"), verbatim(""), status))
    return Chain(nodes, (Joint(Part.GPU, Part.DRIVER, status, verbatim("because")),))


def foreseen(*found: Chain, steps: tuple[Step, ...] = (), blocked: str = "") -> Outlook:
    return Outlook(GOAL, found, found, steps, (verbatim(blocked),) if blocked else ())


def has(of: Machine) -> dict[str, str]:
    return {part: ENGLISH(name) for part, name in as_it_is(of, chains(of, knowledge())).items()}


@pytest.mark.parametrize(
    ("outlook", "said"),
    [
        (foreseen(chain()), "Everything fits together"),
        (foreseen(chain(status=Status.WARNING)), "Everything fits together"),
        (foreseen(chain(status=Status.PROBLEM)), "This does not fit together"),
        (foreseen(chain(), chain(status=Status.UNKNOWN)), "Nothing speaks against it, but not everything is known"),
        (foreseen(chain(status=Status.PROBLEM), steps=(STEP,)), "It fits after one step"),
        (foreseen(chain(status=Status.PROBLEM), steps=(STEP, STEP)), "It fits after 2 steps"),
        (foreseen(chain(status=Status.PROBLEM), blocked="no build"), "This cannot be made to fit"),
        (foreseen(), "Nothing to compare without a GPU"),
    ],
)
def test_the_answer_is_a_sentence(outlook: Outlook, said: str) -> None:
    assert ENGLISH(answer(outlook)) == said


def test_the_worst_link_says_how_it_stands() -> None:
    assert standing(foreseen(chain(status=Status.UNKNOWN), chain(status=Status.PROBLEM))) is Status.PROBLEM


def test_gpus_are_named_by_their_pci_id() -> None:
    assert slots(machine(gpus=(RTX_4090, RTX_5090))) == (Slot(RTX_4090, "RTX 4090"), Slot(RTX_5090, "RTX 5090"))


def test_gpus_that_nobody_could_list_have_no_place() -> None:
    assert slots(Machine()) == ()


def test_a_machine_says_what_it_has() -> None:
    found = has(machine())
    assert set(found) == {"driver", "torch", "toolkit", "gcc", "python"}
    assert found["torch"].startswith("2.")


def test_what_a_machine_lacks_is_left_out() -> None:
    assert has(machine(gpus=())).keys() <= {"python"}
    assert has(Machine()) == {}


def test_equal_chains_stand_together() -> None:
    groups = alike((chain("A"), chain("B"), chain("A")))
    assert [(ENGLISH(caption(one)), one.places) for one in groups] == [("2 × A · GPU 0, 2", (0, 2)), ("B · GPU 1", (1,))]


def test_all_of_the_answer_can_be_copied() -> None:
    outlook = foreseen(chain(status=Status.PROBLEM), steps=(STEP,))
    copied = in_plain_words(text("This machine with a wish"), outlook, ENGLISH)
    assert copied.startswith("This machine with a wish\nIt fits after one step\n\nRTX 4090 · GPU 0\n")
    assert "GPU – Driver: problem, because" in copied
    assert copied.endswith("1. Install the driver\n   sudo apt install nvidia-driver-595-open\n")


def test_what_blocks_is_copied_as_well() -> None:
    assert "no build" in in_plain_words(GOAL, foreseen(chain(), blocked="no build"), ENGLISH)


def test_python_is_that_of_the_preferred_environment() -> None:
    found = machine()
    assert isinstance(found.environments, Known)
    assert has(found)["python"].startswith("3.")
