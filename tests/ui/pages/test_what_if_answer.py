"""The cards of the answer: pictures, steps, sentences; each there only when it has something to say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.what_if.answer import ChainsCard, StepsCard, WordsCard
from gpuassist.ui.widgets.code import CodeBlock
from tests.ui.showing import Show, words_in

DRIVER = Step(StepKind.ROOT_COMMAND, text("Install it"), ("sudo apt update", "sudo apt install x"), check=text("it is there"))
REBOOT = Step(StepKind.REBOOT, text("Restart the computer"))


def chain(name: str, status: Status = Status.RIGHT) -> Chain:
    nodes = tuple(Node(part, verbatim(name), verbatim(""), Status.RIGHT) for part in Part)
    return Chain(nodes, (Joint(Part.GPU, Part.DRIVER, status, verbatim("too old")),))


def put(card: StepsCard, steps: tuple[Step, ...]) -> None:
    """Shows steps without waiting for their turns."""
    for turn in card.show_steps(steps):
        turn()


@pytest.fixture
def chains(show: Show) -> ChainsCard:
    return show(ChainsCard(ENGLISH, ""), 900, 600)


@pytest.fixture
def steps(show: Show) -> StepsCard:
    return show(StepsCard(ENGLISH), 900, 600)


def test_a_single_gpu_needs_no_caption(chains: ChainsCard) -> None:
    chains.show_chains((chain("RTX 5090"),))
    assert words_in(chains) == []
    assert [view.chain for view in chains.views] == [chain("RTX 5090")]


def test_each_gpu_has_its_own_picture(chains: ChainsCard, qtbot: QtBot) -> None:
    chains.show_chains((chain("A"), chain("B", Status.PROBLEM)))
    qtbot.waitUntil(lambda: words_in(chains) == ["A · GPU 0", "B · GPU 1"])
    assert len(chains.views) == 2


def test_gpus_that_are_alike_share_a_picture(chains: ChainsCard, qtbot: QtBot) -> None:
    chains.show_chains((chain("A"), chain("B"), chain("A")))
    qtbot.waitUntil(lambda: words_in(chains) == ["2 × A · GPU 0, 2", "B · GPU 1"])


def test_eight_gpus_that_are_alike_say_so_on_one_picture(chains: ChainsCard, qtbot: QtBot) -> None:
    chains.show_chains((chain("A"),) * 8)
    qtbot.waitUntil(lambda: words_in(chains) == ["8 × A · GPU 0, 1, 2, 3, 4, 5, 6, 7"])


def test_pictures_stay_while_their_number_does(chains: ChainsCard, qtbot: QtBot) -> None:
    chains.show_chains((chain("A"), chain("B")))
    before = chains.views
    chains.show_chains((chain("A"), chain("C")))
    assert chains.views == before
    qtbot.waitUntil(lambda: words_in(chains)[-1:] == ["C · GPU 1"])


def test_pictures_come_and_go(chains: ChainsCard) -> None:
    for count in (1, 3, 2, 0, 1):
        chains.show_chains(tuple(chain(str(place)) for place in range(count)))
        assert (len(chains.views), chains.isHidden()) == (count, not count)


def test_steps_are_numbered_with_their_commands(steps: StepsCard, qtbot: QtBot) -> None:
    put(steps, (DRIVER, REBOOT))
    said = ["Changes needed", "1", "Install it", "Check: it is there", "2", "Restart the computer"]
    qtbot.waitUntil(lambda: words_in(steps) == said)
    assert [block.content for block in steps.findChildren(CodeBlock)] == ["sudo apt update\nsudo apt install x"]


def test_the_same_steps_keep_their_rows(steps: StepsCard) -> None:
    put(steps, (DRIVER,))
    before = steps.findChildren(CodeBlock)
    put(steps, (DRIVER,))
    assert steps.findChildren(CodeBlock) == before


def test_no_steps_are_no_card(steps: StepsCard) -> None:
    put(steps, (DRIVER,))
    put(steps, ())
    assert steps.isHidden()


def test_sentences_stand_below_their_heading(show: Show, qtbot: QtBot) -> None:
    card = show(WordsCard(ENGLISH, "Good to know"), 600, 300)
    card.show_words_of((verbatim("driver 550 gets no updates"), verbatim("and this")))
    qtbot.waitUntil(lambda: words_in(card) == ["Good to know", "Driver 550 gets no updates", "And this"])


def test_no_sentences_are_no_card(show: Show) -> None:
    card = show(WordsCard(ENGLISH, "Good to know"), 600, 300)
    card.show_words_of(())
    assert card.isHidden()


@pytest.mark.parametrize(
    "make", [lambda: ChainsCard(ENGLISH, ""), lambda: StepsCard(ENGLISH), lambda: WordsCard(ENGLISH, "x")], ids=["c", "s", "w"]
)
@pytest.mark.parametrize("width", [560, 1600])
def test_a_card_is_as_wide_as_it_is_made(show: Show, make: Callable[[], ChainsCard], width: int) -> None:
    assert show(make(), width, 300).minimumSizeHint().width() <= 600
