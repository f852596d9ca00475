"""A finding's card: what is wrong, why, what to do, and one obvious button."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.model.fact import Known
from gpuassist.model.finding import Action, Answer, CommandUse, Evidence, GuideLink, Remedy, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import ToGuide, ToHolders, ToInstall, ToRepair
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.leads import leads_of
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.finding_card import NEEDS_ROOT, FindingCard, GuideButton, LinkButton
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.marks import MarkIcon
from tests.ui.showing import Show, button_named, words_in

SWITCH = Remedy(
    "Let new shells use CUDA 12.4.",
    (CommandUse("use-cuda", (("version", "12.4"),), ("gpuassist use cuda 12.4",)),),
    needs_root=False,
    action=Action.EDIT,
    check="`nvcc --version` says 12.4.",
)
INSTALL = Remedy(
    "Install the driver.",
    (CommandUse("install", (), ("sudo apt-get update", "sudo apt-get install nvidia-driver-570")),),
    needs_root=True,
    action=Action.COMMAND,
    check="",
)
ANSWER = Answer(
    "path-order-wrong-nvcc",
    Severity.PROBLEM,
    "The wrong nvcc comes first",
    "New shells find `nvcc` 11.7. It does not know this GPU.",
    (Evidence(text("nvcc found first"), verbatim("/usr/local/cuda-11.7/bin/nvcc"), "bash -i"),),
    (SWITCH, INSTALL),
    ("https://docs.nvidia.com/cuda/", "http://example.org/a"),
)
HERE = Machine(
    toolkits=Known((Toolkit("/usr/local/cuda-12.4", version=Known(Version.parse("12.4.1"), "version.json")),), "made up")
)


def card(show: Show, answer: Answer = ANSWER, *, is_open: bool = True) -> FindingCard:
    return show(FindingCard(ENGLISH, answer, is_open=is_open, leads=leads_of(answer, HERE)), 760, 600)


@pytest.mark.parametrize(
    ("severity", "word"), [(Severity.PROBLEM, "problem"), (Severity.WARNING, "warning"), (Severity.INFO, "good to know")]
)
def test_it_is_read_aloud_with_its_severity(show: Show, severity: Severity, word: str) -> None:
    made = card(show, replace(ANSWER, severity=severity))
    assert made.accessibleName() == f"{word}: The wrong nvcc comes first"
    assert [icon.mark for icon in made.findChildren(MarkIcon)] == [Mark(severity.value)]


def test_open_it_shows_everything(show: Show) -> None:
    words = " ".join(words_in(card(show)))
    for part in ("The wrong nvcc comes first", "11.7", "nvcc found first", "/usr/local/cuda-11.7/bin/nvcc", "Read more"):
        assert part in words


def test_remedies_are_numbered_where_there_are_several(show: Show) -> None:
    words = words_in(card(show))
    assert "1. Let new shells use CUDA 12.4." in words
    assert "2. Install the driver." in words


def test_a_single_remedy_has_no_number(show: Show) -> None:
    assert "Install the driver." in words_in(card(show, replace(ANSWER, remedies=(INSTALL,))))


def test_root_commands_are_shown_and_never_run(show: Show) -> None:
    assert ENGLISH(NEEDS_ROOT) in " ".join(words_in(card(show))).replace('<div style="line-height: 122%">', "").replace(
        "</div>", ""
    )


def test_without_root_nothing_is_said_of_it(show: Show) -> None:
    words = " ".join(words_in(card(show, replace(ANSWER, remedies=(SWITCH,)))))
    assert "administrator" not in words


def test_how_to_see_that_it_worked_is_told(show: Show) -> None:
    assert "To see that it worked" in " ".join(words_in(card(show)))


def test_commands_can_be_copied(show: Show, clipboard: QClipboard) -> None:
    blocks = card(show).findChildren(CodeBlock)
    button_named(blocks[1], "Copy").click()
    assert clipboard.text() == "sudo apt-get update\nsudo apt-get install nvidia-driver-570"


def test_the_whole_finding_can_be_copied(show: Show, clipboard: QClipboard) -> None:
    made = card(show)
    next(one for one in made.findChildren(QPushButton) if one.accessibleName() == "Copy: The wrong nvcc comes first").click()
    assert clipboard.text() == made.plain_text()


def test_the_copy_is_complete(qtbot: QtBot) -> None:
    made = FindingCard(ENGLISH, ANSWER)
    qtbot.addWidget(made)
    assert made.plain_text() == (
        "The wrong nvcc comes first\n"
        "New shells find `nvcc` 11.7. It does not know this GPU.\n"
        "\n"
        "- nvcc found first: /usr/local/cuda-11.7/bin/nvcc (bash -i)\n"
        "\n"
        "Let new shells use CUDA 12.4.\n"
        "    gpuassist use cuda 12.4\n"
        "`nvcc --version` says 12.4.\n"
        "\n"
        "Install the driver.\n"
        "    sudo apt-get update\n"
        "    sudo apt-get install nvidia-driver-570\n"
        "\n"
        "\n"
        "https://docs.nvidia.com/cuda/\n"
        "http://example.org/a\n"
    )


def test_the_one_obvious_button_switches(show: Show) -> None:
    made = card(show)
    wanted = QSignalSpy(made.asked)
    button_named(made, "Switch to CUDA 12.4…").click()
    assert [wanted.at(place)[0] for place in range(wanted.count())] == [ToRepair("12.4")]


@pytest.mark.parametrize("answer", [replace(ANSWER, remedies=(INSTALL,)), replace(ANSWER, remedies=())])
def test_without_a_switch_there_is_no_such_button(show: Show, answer: Answer) -> None:
    made = card(show, answer)
    assert not [one for one in made.findChildren(QPushButton) if one.property("kind") == "primary"]


def test_closed_it_is_its_title_with_one_line_of_what_it_means(show: Show) -> None:
    made = card(show, is_open=False)
    assert [one.words for one in made.findChildren(ElidedLabel)] == ["New shells find nvcc 11.7"]
    assert (made.is_open, words_in(made)) == (False, ["The wrong nvcc comes first"])


def test_closed_a_long_title_wraps(show: Show) -> None:
    long = "The loaded driver 550.54.14 and its libraries 550.90.07 have different versions on this machine " * 2
    short, made = card(show, is_open=False), card(show, replace(ANSWER, title=long.strip()), is_open=False)
    assert words_in(made) == [long.strip()]
    assert made.heightForWidth(420) > short.heightForWidth(420)


def test_what_to_do_is_the_first_remedy_and_of_none_the_whole_card(show: Show) -> None:
    made, bare = card(show), card(show, replace(ANSWER, remedies=()))
    assert words_in(made.what_to_do())[0] == "1. Let new shells use CUDA 12.4."
    assert bare.what_to_do() is bare


@pytest.mark.parametrize("key", [Qt.Key.Key_Space], ids=lambda key: key.name)
def test_the_keyboard_opens_and_closes_it(show: Show, key: Qt.Key) -> None:
    made = card(show, is_open=False)
    states = []
    for name in ("Show", "Less"):
        button = button_named(made, name)
        button.setFocus()
        QTest.keyClick(button, key)
        states.append(made.is_open)
    assert states == [True, False]


def test_the_toggle_says_of_which_finding_it_is(show: Show) -> None:
    assert button_named(card(show), "Less").accessibleName() == "Less: The wrong nvcc comes first"


def test_closed_again_nothing_of_it_is_left_open(show: Show) -> None:
    made = card(show)
    made.set_open(False)
    assert words_in(made) == ["The wrong nvcc comes first"]
    assert not button_named(made, "Copy").isVisible()


def test_a_link_is_opened_only_when_pressed(show: Show) -> None:
    made = card(show)
    opened = QSignalSpy(made.link_opened)
    before = opened.count()
    made.findChildren(LinkButton)[1].click()
    assert (before, opened.at(0)[0]) == (0, "http://example.org/a")


def test_guide_is_asked_for_by_its_topic(show: Show) -> None:
    made = card(show, replace(ANSWER, guides=(GuideLink("cuda-versions", "The four numbers"),)))
    wanted = QSignalSpy(made.asked)
    (guide,) = made.findChildren(GuideButton)
    guide.click()
    assert (guide.text(), wanted.at(0)[0]) == ("The four numbers", ToGuide("cuda-versions"))


@pytest.mark.parametrize(
    ("address", "short"),
    [("https://docs.nvidia.com/cuda/", "docs.nvidia.com/cuda"), ("http://example.org/a", "example.org/a"), ("ftp://x", "ftp://x")],
)
def test_a_link_shows_where_it_leads(qtbot: QtBot, address: str, short: str) -> None:
    link = LinkButton(address)
    qtbot.addWidget(link)
    assert (link.text(), link.toolTip(), link.address) == (short, address, address)


def test_a_finding_without_explanation_has_an_empty_gist(show: Show) -> None:
    made = card(show, replace(ANSWER, explanation=""), is_open=False)
    assert [(one.words, one.isVisible()) for one in made.findChildren(ElidedLabel)] == [("", False)]


def test_a_finding_with_nothing_but_a_title_can_be_opened(show: Show) -> None:
    made = card(show, Answer("x", Severity.INFO, "Good to know", "", (), (), ()))
    assert (made.is_open, made.plain_text()) == (True, "Good to know\n")


@pytest.mark.parametrize(("parameters", "process"), [((), None), ((("pid", "39021"),), 39021)])
def test_a_finding_about_who_holds_a_gpu_leads_there(
    show: Show, parameters: tuple[tuple[str, str], ...], process: int | None
) -> None:
    end = Remedy(
        "End it.", (CommandUse("process-end", parameters, ("kill …",)),), needs_root=False, action=Action.COMMAND, check=""
    )
    made = card(show, replace(ANSWER, remedies=(end,)))
    wanted = QSignalSpy(made.asked)
    button_named(made, "Show GPU processes").click()
    assert [wanted.at(place)[0] for place in range(wanted.count())] == [ToHolders(process)]


def test_other_findings_do_not_ask_who_holds_it(show: Show) -> None:
    assert "Show GPU processes" not in [button.text() for button in card(show).findChildren(QPushButton)]


TORCH = Remedy(
    "Install torch.",
    (CommandUse("", (), ("pip install torch",)),),
    False,
    Action.COMMAND,
    "",
    "torch",
    (Step(StepKind.COMMAND, text("Install torch."), ("pip install torch",)),),
)


def test_a_finding_that_an_install_mends_leads_to_its_plan(show: Show) -> None:
    made = card(show, replace(ANSWER, remedies=(TORCH,)))
    wanted = QSignalSpy(made.asked)
    button_named(made, "Plan torch…").click()
    assert wanted.at(0) == [ToInstall(InstallWish(torch=ANY))]


@pytest.mark.parametrize("remedies", [(SWITCH, TORCH), (INSTALL,), ()])
def test_other_findings_have_no_such_plan(show: Show, remedies: tuple[Remedy, ...]) -> None:
    made = card(show, replace(ANSWER, remedies=remedies))
    assert "Plan torch…" not in [button.text() for button in made.findChildren(QPushButton)]
