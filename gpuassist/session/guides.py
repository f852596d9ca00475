"""What everybody in this field notes down for himself: short guides as Markdown, one file a topic and language."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.guide import ENGLISH, FOLDER, read_guide
from gpuassist.model.nearest import nearest_names
from gpuassist.model.text import Text, text


class GuideError(ValueError):
    """There is no guide of that topic; `reason` says which there are."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Guide(Struct, frozen=True):
    """A guide in one language: its topic (`freeing-memory`), its title, and the Markdown below the title."""

    topic: str
    title: str
    body: str


def topics(session: Session) -> tuple[str, ...]:
    """Every topic, by name."""
    return tuple(name.removesuffix(ENGLISH) for name in session.world.resources.names(FOLDER, ENGLISH))


def guide(session: Session, topic: str) -> Guide:
    """The guide in the user's language, in English where it was not translated; raises `GuideError`."""
    known = topics(session)
    if topic not in known:
        near, listed = nearest_names(topic, known), ", ".join(known)
        if not near:
            raise GuideError(text("there is no guide named {topic}; there are {listed}", topic=topic, listed=listed))
        raise GuideError(
            text(
                "there is no guide named {topic}; did you mean {meant}? There are {listed}",
                topic=topic,
                meant=near[0],
                listed=listed,
            )
        )
    return Guide(topic, *read_guide(session.world.resources.read, topic, session.words.language))
