"""What a pasted text is, where it is no error: the output of a tool, in a sentence and with its figures."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.text import Text


class Account(Struct, frozen=True):
    """One thing that a text tells: `4 processes on GPU 0`, and a line for each of them; `sound` unless it tells of something
    that is not as it should be: a service that failed, a request that did not fit.
    """

    title: Text
    lines: tuple[Text, ...] = ()
    sound: bool = True
