"""The banners of the frame: that a recorded machine is shown, what of our own cannot be used, and that something went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import Words
from gpuassist.present.elsewhere import whose_window
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.layouts import MARGIN

if TYPE_CHECKING:
    from gpuassist.ui.widgets.cards import Notice

_LINES_NAMED = 3  # the rest is copied


class Banners(QWidget):
    """Above every page; takes no room, and makes nothing, while there is nothing to say."""

    live_wanted = Signal()
    go_on_wanted = Signal()
    again_wanted = Signal()
    language_wanted = Signal(str)  # the one that had to wait

    def __init__(self, words: Words, parent: QWidget | None = None, *, host: str = "") -> None:
        super().__init__(parent)
        self._words, self._host = words, host
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(MARGIN, 16, MARGIN, 0)
        self._column.setSpacing(8)
        self.recorded: Notice | None = None
        self.fault: Notice | None = None
        self.waiting: Notice | None = None
        self.stale: Notice | None = None
        self.damage: Notice | None = None
        self.details = ""
        self.damaged: tuple[str, ...] = ()
        self.language: Notice | None = None
        self.later: Notice | None = None
        self._waits_for = ""
        self.told: list[Notice] = []
        if words.notice is None:
            self.hide()
        else:
            self.language = self._notice(Mark.INFO, words(words.notice))
            self._add_close(self.language)
        if host:
            self.tell(whose_window(host), stays=True)

    def tell(self, words: Text, *, stays: bool = False) -> None:
        """Something to know from the start on; unless it `stays`, it can be closed."""
        said = self._words(words)
        if self._host:  # one word, and of any length
            said = said.replace(self._host, self._host.replace(".", ".\u200b"))
        before = next((one for one in self.told if one.words == said), None)
        if before is not None:
            before.show()
            self._settle()
            return
        notice = self._notice(Mark.INFO, said)
        if not stays:
            self._add_close(notice)
        self.told.append(notice)
        self._settle()

    def show_recorded(self, recorded: bool) -> None:  # noqa: FBT001 -- a setter
        """Whether what is shown is a recording."""
        if recorded and self.recorded is None:
            from gpuassist.ui.widgets.buttons import small

            words = self._words
            notice = self._notice(Mark.INFO, words(text("Viewing a recorded machine: read-only.")))
            instead = text("Read {host} instead", host=self._host) if self._host else text("Read this machine instead")
            live = small(words(instead), notice)
            live.clicked.connect(self.live_wanted)
            notice.buttons.addWidget(live)
            self.recorded = notice
        if self.recorded is not None:
            self.recorded.setVisible(recorded)
        self._settle()

    def show_waiting(self, waits: str) -> None:
        """What an install that somebody has to go on with waits for; empty where none does."""
        if waits and self.waiting is None:
            from gpuassist.ui.widgets.buttons import small

            notice = self._notice(Mark.INFO, "")
            on = small(self._words(text("Continue")), notice)
            on.clicked.connect(self.go_on_wanted)
            notice.buttons.addWidget(on)
            self.waiting = notice
        if self.waiting is not None:
            if waits:
                self.waiting.show_words(Mark.INFO, waits)
            self.waiting.setVisible(bool(waits))
        self._settle()

    def show_later(self, language: str, under_way: Text) -> None:
        """That the window is made anew in a language only once nothing is under way any more."""
        self._waits_for = language
        if self.later is None:
            from gpuassist.ui.widgets.buttons import small

            notice = self._notice(Mark.INFO, "")
            now = small(self._words(text("Change the language now")), notice)
            now.clicked.connect(self._want_language)
            notice.buttons.addWidget(now)
            self._add_close(notice)
            self.later = notice
        words = text(
            "The language changes at the next start, or here once this has finished: {under_way}. Nothing is lost.",
            under_way=under_way,
        )
        self.later.show_words(Mark.INFO, self._words(words))
        self.later.show()
        self._settle()

    def show_stale(self, reason: str) -> None:
        """Why the machine could not be read again after a change, so that the pages show what held before; empty for nothing."""
        if reason and self.stale is None:
            from gpuassist.ui.widgets.buttons import small

            notice = self._notice(Mark.WARNING, "")
            again = small(self._words(text("Refresh")), notice)
            again.clicked.connect(self.again_wanted)
            notice.buttons.addWidget(again)
            self.stale = notice
        if self.stale is not None:
            words = text("Something was changed, but the machine could not be read again: {reason}", reason=reason)
            self.stale.show_words(Mark.WARNING, self._words(words))
            self.stale.setVisible(bool(reason))
        self._settle()

    def show_fault(self, details: str) -> None:
        """Tells of a fault of our own; the details of the first are kept, it is usually the cause of the others."""
        self.details = self.details or details
        if self.fault is None:
            from gpuassist.ui.widgets.buttons import CopyButton

            words = self._words
            notice = self._notice(
                Mark.PROBLEM, words(text("Something went wrong inside gpuassist. That is our fault, not your machine's."))
            )
            notice.buttons.addWidget(CopyButton(words, self._details, notice, title=words(text("Copy the details"))))
            self.fault = notice
            self.fault.show()
        self._settle()

    def show_damage(self, damaged: tuple[str, ...]) -> None:
        """Names the lines of our own files that could not be used; once closed, only others bring it back."""
        if damaged == self.damaged:
            return
        self.damaged = damaged
        if self.damage is None:
            from gpuassist.ui.widgets.buttons import CopyButton

            words = self._words
            notice = self._notice(Mark.INFO, "")
            notice.buttons.addWidget(CopyButton(words, self._damaged_lines, notice, title=words(text("Copy the details"))))
            self._add_close(notice)
            self.damage = notice
        more = len(damaged) - _LINES_NAMED
        rest = (self._words(counted("and {count} more such line", "and {count} more such lines", more)),) if more > 0 else ()
        head = self._words(text("Part of gpuassist's data is damaged and was left out; everything else works without it:"))
        self.damage.show_words(Mark.INFO, "\n".join((head, *damaged[:_LINES_NAMED], *rest)))
        self.damage.setVisible(bool(damaged))
        self._settle()

    def _notice(self, mark: Mark, words: str) -> Notice:
        from gpuassist.ui.widgets.cards import Notice

        notice = Notice(mark, words, self)
        self._column.addWidget(notice)
        return notice

    def _add_close(self, notice: Notice) -> None:
        from gpuassist.ui.widgets.buttons import small

        close = small(self._words(text("Close")), notice)
        close.clicked.connect(notice.hide)
        close.clicked.connect(self._settle)
        notice.buttons.addWidget(close)

    @Slot()
    def _want_language(self) -> None:
        self.language_wanted.emit(self._waits_for)

    @Slot()
    def _settle(self) -> None:
        banners = (self.language, self.later, self.recorded, self.waiting, self.stale, self.fault, self.damage, *self.told)
        self.setVisible(any(banner is not None and not banner.isHidden() for banner in banners))

    def _damaged_lines(self) -> str:
        return "\n".join(self.damaged) + "\n"

    def _details(self) -> str:
        return self.details
