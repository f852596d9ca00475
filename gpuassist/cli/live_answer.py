"""What helps against a failure, for the live table: what `gpuassist explain` answers to its message, found once it is asked for."""

from __future__ import annotations

import io
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gpuassist.cli.context import Context, NotFoundOutError, TerminalStreams
from gpuassist.model.text import text
from gpuassist.session.failure_moment import FailureMoment, explained

if TYPE_CHECKING:
    from gpuassist.model.machine import Machine


class LiveAnswer:
    """Of one failure after the other; `wake` lets the table draw what was found. What is recorded may be of another machine."""

    def __init__(self, context: Context, wake: Callable[[], None], *, live: bool = True) -> None:
        self._context, self._wake, self._live = context, wake, live
        self._found: dict[tuple[float, int], tuple[str, ...]] = {}

    def of(self, moment: FailureMoment | None, width: int) -> tuple[str, ...]:
        """Lines for a screen of this width; one that says so while it is looked for. Where a program only ended there is nothing to
        explain yet.
        """
        if moment is None or not moment.certain:
            return ()
        key = (moment.monotonic, width)
        if key not in self._found:
            self._found[key] = ("", self._context.session.words(text("Looking for what helps")))
            Thread(target=self._look, args=(moment, key), name="gpuassist explain", daemon=True).start()
        return self._found[key]

    def _look(self, moment: FailureMoment, key: tuple[float, int]) -> None:
        from gpuassist.cli.answers import AnswerWriter  # with all that knows messages: a table in which nothing fails needs none

        session, lines = self._context.session, io.StringIO()
        plain = TerminalStreams(lines, io.StringIO(), colour=False, interactive=False)
        writer = AnswerWriter(replace(self._context, terminal=plain), width=key[1])
        explanation = explained(session, moment, self._machine() if self._live else None)
        for answer in explanation.answers[:1]:
            writer.answer(answer, is_open=explanation.question is not None)
        self._found[key] = tuple(lines.getvalue().splitlines())
        self._wake()

    def _machine(self) -> Machine | None:
        """The one that is watched; none where it cannot be read, since the message says most of it."""
        if self._context.other is not None:
            try:
                return self._context.look_there(self._context.other)
            except NotFoundOutError:
                return None
        from gpuassist.detect.machine import detect

        return detect(self._context.session.world, self._context.session.knowledge)
