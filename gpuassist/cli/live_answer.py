"""What helps against a failure, for the live table: what `gpuassist explain` answers to its message, found once it is asked for."""

from __future__ import annotations

import io
from collections.abc import Callable
from threading import Thread

from msgspec.structs import replace

from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.model.text import text
from gpuassist.session.failure_moment import FailureMoment, explained


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
        from gpuassist.detect.machine import detect

        session, lines = self._context.session, io.StringIO()
        plain = TerminalStreams(lines, io.StringIO(), colour=False, interactive=False)
        writer = AnswerWriter(replace(self._context, terminal=plain), width=key[1])
        explanation = explained(session, moment, detect(session.world, session.knowledge) if self._live else None)
        for answer in explanation.answers[:1]:
            writer.answer(answer, is_open=explanation.question is not None)
        self._found[key] = tuple(lines.getvalue().splitlines())
        self._wake()
