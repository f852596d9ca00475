"""Every key of the window, as Help lists them: those of each page are bound by the page, and a test holds the two together."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.text import Text, text
from gpuassist.session.navigation import Flow, Place, SideTool, WizardStep


class Shortcut(Struct, frozen=True):
    """Keys that do the same, or nearly so, each as Qt spells it; `place` is the page that they belong to, none where they work
    everywhere.
    """

    keys: tuple[str, ...]
    does: Text
    place: Place | None = None

    @property
    def shown(self) -> str:
        """A long row by its ends."""
        return f"{self.keys[0]} … {self.keys[-1]}" if len(self.keys) > 2 else ", ".join(self.keys)


ROW_KEYS = tuple(f"Ctrl+{key}" for key in "1234567890")
_LIVE, _SNAPSHOT = WizardStep.LIVE, SideTool.SNAPSHOT
SHORTCUTS = (
    Shortcut(("Alt+Left",), text("the previous page")),
    Shortcut(("Alt+Right",), text("the next page")),
    Shortcut(("Ctrl+Return", "Ctrl+Enter"), text("the blue button")),
    Shortcut(ROW_KEYS, text("a page of the side list")),
    Shortcut(("Ctrl+PgDown", "Ctrl+PgUp"), text("the page below or above in the side list")),
    Shortcut(("Ctrl+R",), text("read the machine again")),
    Shortcut(("Ctrl+C",), text("copy what is selected or focused")),
    Shortcut(("Shift+F1", "?"), text("what the terms on this page mean")),
    Shortcut(("F1",), text("this help")),
    Shortcut(("Ctrl+W", "Ctrl+Q"), text("close the window")),
    Shortcut(("Ctrl+O",), text("open a recorded machine"), WizardStep.MACHINE),
    Shortcut(("Alt+1", "Alt+2", "Alt+3", "Alt+4"), text("a part of the page"), WizardStep.REPAIR),
    Shortcut(("Ctrl+Z",), text("undo the change that was just made"), WizardStep.REPAIR),
    Shortcut(("Esc",), text("cancel"), WizardStep.VERIFY),
    Shortcut(("Ctrl+S",), text("save the result"), WizardStep.VERIFY),
    Shortcut(("Ctrl+Shift+C",), text("copy the result"), WizardStep.VERIFY),
    Shortcut(("Space",), text("pause or resume"), _LIVE),
    Shortcut(("+", "-"), text("zoom in or out"), _LIVE),
    Shortcut(("Left", "Right"), text("back and forward in time"), _LIVE),
    Shortcut(("Home", "End"), text("to the beginning or to now"), _LIVE),
    Shortcut(tuple("0123456789"), text("one GPU, by its index"), _LIVE),
    Shortcut(("PgDown", "PgUp"), text("the next GPU or the one before"), _LIVE),
    Shortcut(("A", "Esc"), text("all GPUs"), _LIVE),
    Shortcut(("M",), text("mark the chosen process in the plot"), _LIVE),
    Shortcut(("Ctrl+O",), text("open a recording"), _LIVE),
    Shortcut(("Ctrl+V",), text("paste a text"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+O",), text("open a log"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+F",), text("to the text"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+L",), text("clear the text"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+S",), text("save the text and its answer"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+Shift+C",), text("copy the answer"), SideTool.EXPLAIN),
    Shortcut(("Ctrl+F",), text("to the list of GPUs"), SideTool.WHAT_IF),
    Shortcut(("Ctrl+L",), text("back to the machine as it is"), SideTool.WHAT_IF),
    Shortcut(("Ctrl+I",), text("plan this install"), SideTool.WHAT_IF),
    Shortcut(("Ctrl+Shift+C",), text("copy the answer"), SideTool.WHAT_IF),
    Shortcut(("Esc",), text("cancel"), SideTool.INSTALL),
    Shortcut(("Ctrl+F",), text("find a guide or a term"), SideTool.GUIDES),
    Shortcut(("F5",), text("refresh"), SideTool.HOLDERS),
    Shortcut(("Del",), text("stop the chosen process"), SideTool.HOLDERS),
    Shortcut(("Ctrl+Shift+C",), text("copy the list"), SideTool.HOLDERS),
    Shortcut(("Ctrl+O",), text("choose a folder"), SideTool.PROJECT),
    Shortcut(("Ctrl+Shift+C",), text("copy the answer"), SideTool.PROJECT),
    Shortcut(("Ctrl+F",), text("to the model"), SideTool.ESTIMATE),
    Shortcut(("Ctrl+O",), text("open a file"), SideTool.ESTIMATE),
    Shortcut(("Ctrl+L",), text("start over"), SideTool.ESTIMATE),
    Shortcut(("Ctrl+Shift+C",), text("copy the answer"), SideTool.ESTIMATE),
    Shortcut(("Ctrl+O",), text("open a memory snapshot"), _SNAPSHOT),
    Shortcut(("Ctrl+D",), text("compare with another snapshot"), _SNAPSHOT),
    Shortcut(("Left", "Right"), text("the event before or after; with Shift many at once"), _SNAPSHOT),
    Shortcut(("Up", "Down"), text("whose memory is above or below"), _SNAPSHOT),
    Shortcut(("Return", "Enter"), text("the stacks of what the cursor is on"), _SNAPSHOT),
    Shortcut(("+", "-"), text("zoom in or out"), _SNAPSHOT),
    Shortcut(("PgUp", "PgDown"), text("back and forward"), _SNAPSHOT),
    Shortcut(("Home", "End"), text("to the first or the last event"), _SNAPSHOT),
    Shortcut(("P",), text("to the peak"), _SNAPSHOT),
    Shortcut(("0",), text("all of the recording"), _SNAPSHOT),
    Shortcut(("A", "B"), text("the two moments that are compared"), _SNAPSHOT),
    Shortcut(("Z",), text("zoom to what is between them"), _SNAPSHOT),
    Shortcut(("Esc",), text("compare no moments"), _SNAPSHOT),
    Shortcut(("Ctrl+O",), text("open a file"), SideTool.PROFILE),
    Shortcut(("Esc",), text("cancel"), SideTool.PROFILE),
    Shortcut(("Ctrl+Shift+C",), text("copy the answer"), SideTool.PROFILE),
)


def page_beside(flow: Flow, rows: int) -> Place:
    """The page so many rows further down in the side list, or up, of those that can be shown now; after the last the first."""
    shown: list[Place] = [place for place in (*WizardStep, *SideTool) if flow.enabled(place) or place is flow.current]
    return shown[(shown.index(flow.current) + rows) % len(shown)]
