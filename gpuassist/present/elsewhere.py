"""Why nothing is done to the machine that is shown, where that is another one than this: a recorded one, or one over SSH."""

from __future__ import annotations

from gpuassist.model.text import Text, text


def only_looked_at(host: str) -> Text:
    """Of a machine over SSH."""
    return text("{host} is only looked at from here: what changes it is done there.", host=host)


def cannot_be_changed(host: str) -> Text:
    """`host` is empty for a recorded machine."""
    return only_looked_at(host) if host else text("A recorded machine can be viewed, not changed.")
