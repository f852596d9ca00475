"""Alerts shown on the desktop: each on a thread of its own, since the program that shows them may take its time."""

from __future__ import annotations

from threading import Thread

from gpuassist.context import Session
from gpuassist.formats.visible import visible
from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import Text
from gpuassist.system.desktop_notice import show_notice, why_no_notice

_URGENT = frozenset({EventKind.OUT_OF_MEMORY})
_TITLE, _BODY = 120, 400  # characters, which a desktop shows in a few lines
_AT_ONCE = 8  # more at a time tell nobody anything


class AlertNotices:
    """Shows what samples tell: thresholds that were crossed, and programs that ran out of memory."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._threads: list[Thread] = []
        self.kinds = frozenset({EventKind.ALERT, EventKind.OUT_OF_MEMORY})

    @property
    def trouble(self) -> Text | None:
        """Why nothing can be shown from here; None where it can."""
        return why_no_notice(self._session.world)

    def take(self, sample: Sample) -> None:
        for event in sample.events:
            if event.kind in self.kinds:
                self._show(event)

    def wait(self, seconds: float) -> None:
        """Lets those that are being shown come through."""
        for thread in self._threads:
            thread.join(seconds)

    def _show(self, event: Event) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        if len(self._threads) >= _AT_ONCE:
            return
        words = visible(self._session.words(event.text)).replace("<", "‹").replace("&", "+")  # a desktop takes them for markup
        title, body = (words, "") if len(words) <= _TITLE else (words[: _TITLE - 1] + "…", words[:_BODY])
        thread = Thread(
            target=show_notice, args=(self._session.world, title, body), kwargs={"urgent": event.kind in _URGENT}, daemon=True
        )
        self._threads.append(thread)
        thread.start()
