"""What the window can do itself is a button beside the line to copy, and asks the page that it stands in."""

from __future__ import annotations

from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import Errand, SideTool, ToInstall, ToRepair
from gpuassist.session.plan import InstallWish
from gpuassist.ui.page import Desk, Page
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.labels import Paragraph
from gpuassist.ui.widgets.own_command import OwnCommands, said
from tests.ui.showing import Show


class Blank(Page):
    """A page with nothing on it."""

    STEP = SideTool.WHAT_IF


def test_a_block_has_the_button_of_its_line_and_still_the_line(show: Show, desk: Desk) -> None:
    page = show(Blank(desk))
    heard: list[Errand] = []
    page.asked.connect(heard.append)
    block = CommandBlock(ENGLISH, ("gpuassist use cuda 12.4",), "Commands", page)
    (button,) = block.own.buttons
    button.click()
    assert heard == [ToRepair("12.4")]
    assert block.content == "gpuassist use cuda 12.4"
    block.set_lines(("nvidia-smi",))
    assert (block.own.buttons, block.own.isHidden()) == ((), True)


def test_a_sentence_has_the_button_of_what_it_says(show: Show, desk: Desk) -> None:
    page = show(Blank(desk))
    heard: list[Errand] = []
    page.asked.connect(heard.append)
    told = said(ENGLISH, "`gpuassist plan driver==595` tells how.", "", page)
    (own,) = told.findChildren(OwnCommands)
    own.buttons[0].click()
    assert heard == [ToInstall(InstallWish(driver="595"))]
    assert isinstance(said(ENGLISH, "`nvidia-smi` prints it.", "", page), Paragraph)


def test_two_buttons_of_one_block_say_where_they_lead(show: Show) -> None:
    block = show(CommandBlock(ENGLISH, ("gpuassist verify", "gpuassist undo 7"), "Commands"))
    assert [button.text() for button in block.own.buttons] == ["Go to: Verify", "Go to: Repair"]
    block.own.buttons[0].click()  # nobody stands around who could be asked
