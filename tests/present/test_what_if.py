"""The answer to a what-if in words."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.chain import chains
from gpuassist.install.what_if import NONE, Wish
from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.chain import alike, caption
from gpuassist.present.what_if import (
    Slot,
    answer,
    as_it_is,
    in_plain_words,
    not_found,
    part_in_words,
    slots,
    standing,
    wish_title,
)
from tests.values import RTX_4090, RTX_5090, knowledge, machine

STEP = Step(StepKind.ROOT_COMMAND, text("Install the driver"), ("sudo apt install nvidia-driver-595-open",))
GOAL = text("what if")
MACHINE = text("This machine")


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
        (foreseen(chain()), "Everything works together"),
        (foreseen(chain(status=Status.WARNING)), "Everything works together"),
        (foreseen(chain(status=Status.PROBLEM)), "These parts do not work together"),
        (foreseen(chain(), chain(status=Status.UNKNOWN)), "No conflict found, but not everything is known"),
        (foreseen(chain(status=Status.PROBLEM), steps=(STEP,)), "Works after 1 change"),
        (foreseen(chain(status=Status.PROBLEM), steps=(STEP, STEP)), "Works after 2 changes"),
        (foreseen(chain(status=Status.PROBLEM), blocked="no build"), "This cannot be made to work"),
        (foreseen(), "No GPU to check"),
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
    assert [(ENGLISH(caption(one)), one.gpus) for one in groups] == [("2 × A · GPU 0, 2", ("0", "2")), ("B · GPU 1", ("1",))]


def test_all_of_the_answer_can_be_copied() -> None:
    outlook = foreseen(chain(status=Status.PROBLEM), steps=(STEP,))
    copied = in_plain_words(text("This machine with a wish"), outlook, ENGLISH)
    assert copied.startswith("This machine with a wish\nWorks after 1 change\n\nRTX 4090 · GPU 0\n")
    assert "GPU – Driver: problem, because" in copied
    assert copied.endswith("1. Install the driver\n   sudo apt install nvidia-driver-595-open\n")


def test_what_blocks_is_copied_as_well() -> None:
    assert "no build" in in_plain_words(GOAL, foreseen(chain(), blocked="no build"), ENGLISH)


def test_python_is_that_of_the_preferred_environment() -> None:
    found = machine()
    assert isinstance(found.environments, Known)
    assert has(found)["python"].startswith("3.")


def titled(wish: Wish, *names: str) -> str:
    return ENGLISH(wish_title(wish, names, MACHINE))


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("driver", "570", "driver 570"),
        ("torch", "2.7.1+cu128", "torch 2.7.1+cu128"),
        ("python", "3.12", "Python 3.12"),
        ("toolkit", "12.8", "CUDA 12.8"),
        ("gcc", "13", "gcc 13"),
        ("driver", NONE, "no driver"),
        ("gcc", NONE, "no host compiler"),
        ("distribution", "rhel 9", "RHEL 9"),
        ("distribution", "haiku", "haiku"),
    ],
)
def test_a_part_is_said_in_its_own_words(part: str, value: str, said: str) -> None:
    assert ENGLISH(part_in_words(part, value)) == said


def test_a_name_that_is_nearly_one_is_told_what_it_may_be() -> None:
    said = ENGLISH(not_found("RTX 4909", ("RTX 4090", "GTX 680", "L40S")))
    assert said == "No GPU that gpuassist knows has RTX 4909 in its name. Near it: RTX 4090."


def test_a_name_that_is_like_none_is_told_so() -> None:
    assert ENGLISH(not_found("voodoo", ("RTX 4090",))) == "No GPU that gpuassist knows has voodoo in its name."


def test_a_machine_without_a_wish_is_as_it_is() -> None:
    assert titled(Wish()) == "This machine as it is"


def test_the_title_names_gpus_first() -> None:
    wish = Wish(("10de:2684", "x"), torch="2.7.1", driver="570", distribution="debian 13")
    assert titled(wish, "RTX 4090", "RTX 5090") == "This machine with RTX 4090 · RTX 5090 · driver 570 · torch 2.7.1 · Debian 13"


def test_the_title_says_that_no_gpu_is_there() -> None:
    assert titled(Wish((NONE,))) == "This machine with no GPU"
