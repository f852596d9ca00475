"""What stands on record when a machine was read: an install that waits, and changes of the user's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from gpuassist.ui.page import Desk


class OnRecord(Struct, frozen=True):
    """The install that waits, in words, empty for none; and whether a change of the user's files is in effect."""

    waiting: str
    changed: bool


def on_record(desk: Desk) -> OnRecord:
    """Imported here, on the job's thread."""
    from gpuassist.install.resume import waiting
    from gpuassist.session.undo import any_in_effect

    found = waiting(desk.session)
    return OnRecord(desk.words(found.words) if found is not None else "", any_in_effect(desk.session))
