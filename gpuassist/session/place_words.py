"""Places of the window by words that can be kept, typed and handed on, and what a file that is handed to the window leads to."""

from __future__ import annotations

from gpuassist.session.navigation import (
    Destination,
    GoTo,
    Place,
    SideTool,
    ToExplainFile,
    ToGuide,
    ToProject,
    ToRecording,
    ToSnapshot,
    WizardStep,
)

_RECORDINGS = (".db", ".sqlite")
_SNAPSHOTS = (".pickle", ".pkl")


def place_named(value: str) -> Place | None:
    """The step or the tool with this value; none has another."""
    return next((place for place in (*WizardStep, *SideTool) if place.value == value), None)


def place_words(destination: Destination) -> str:
    """Where that leads, in words that can be kept: the place, and of a guide its topic."""
    return f"{destination.place.value} {destination.topic}" if isinstance(destination, ToGuide) else destination.place.value


def place_meant(words: str) -> Destination | None:
    """Where words that `place_words` made lead; none where there is no such place."""
    name, _, topic = words.partition(" ")
    place = place_named(name)
    if place is None:
        return None
    return ToGuide(topic) if place is SideTool.GUIDES and topic else GoTo(place)


def file_leads_to(path: str, *, is_folder: bool) -> Destination | None:
    """Where a file or a folder is opened, by its name; none for a recorded machine, which the whole window shows."""
    if is_folder:
        return ToProject(path)
    if path.endswith(".json"):
        return None
    if path.endswith(_RECORDINGS):
        return ToRecording(path)
    return ToSnapshot(path) if path.endswith(_SNAPSHOTS) else ToExplainFile(path)
