"""A place of the window in words that are kept between two starts, and handed to a window that is open already."""

from __future__ import annotations

from gpuassist.session.navigation import Destination, GoTo, Place, SideTool, ToGuide, WizardStep


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
