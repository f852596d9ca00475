"""Explain an error: a text from the clipboard, a file or the keyboard, and what it means, as it is typed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from gpuassist.formats.paste import read_paste
from gpuassist.formats.visible import visible
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, text
from gpuassist.present.commands import copied
from gpuassist.present.explanation import Quotation, lines_quoted
from gpuassist.present.explanation_report import in_markdown, in_plain_words
from gpuassist.present.marks import Mark
from gpuassist.present.redaction import person_of
from gpuassist.session.explain import Explanation, explain_with, read_file
from gpuassist.session.navigation import Errand, SideTool, ToExplainFile, ToExplainText, ToGuide, WayOn
from gpuassist.ui import clipboard
from gpuassist.ui.clipboard import dropped_file
from gpuassist.ui.jobs import Done, Failed, Latest, Work
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.explain.answer import AnswerView
from gpuassist.ui.pages.explain.text import ExamplesCard, TextCard
from gpuassist.ui.pages.explain.way_on import way_on
from gpuassist.ui.widgets.cards import Notice
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PAUSE_MILLISECONDS = 250  # between the last key and the answer
_NAME = "gpu-error-explained.md"


class ExplainPage(Page):
    """The text is judged on a job; nothing in it is ever run, and nothing leaves this machine."""

    STEP = SideTool.EXPLAIN

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._inspection: Inspection | None = None
        self._paste = Paste("")
        self.explanation: Explanation | None = None
        self._way: WayOn | None = None
        self._fresh = False  # a text that came as a whole: its answer may scroll the box to the line that matters
        self._taking = Latest(desk.jobs, self._take, self)
        self._explaining = Latest(desk.jobs, self._show_result, self)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(_PAUSE_MILLISECONDS)
        self._pause.timeout.connect(self._ask_typed)
        self._later = InTurns(self)
        self._resumes = False  # with what the page in another language had
        self._copy = new_action(self, desk.words(text("Copy the answer")), self._copy_answer, "Ctrl+Shift+C")
        self._save = new_action(self, desk.words(text("Export answer…")), self._ask_where, "Ctrl+S")
        self._on = new_action(self, desk.words(text("Continue")), self._go_on)
        new_action(self, desk.words(text("Paste")), self._paste_clipboard, "Ctrl+V")
        new_action(self, desk.words(text("Open a log…")), self._ask_which, "Ctrl+O")
        new_action(self, desk.words(text("The text to explain")), self._focus_text, "Ctrl+F")
        new_action(self, desk.words(text("Clear")), self._empty, "Ctrl+L")
        words = self.desk.words
        self._scroll = self.fill_with_scroll()
        self._scroll.header.show_words(
            words(text("Explain an error")),
            words(text("Paste what you see: an error, a log, nvidia-smi, collect_env. It stays on this machine.")),
        )
        self._strip = ProgressStrip(self)
        self._scroll.header.put_beside(self._strip)
        self._text = TextCard(words, self)
        self._trouble = Notice(Mark.PROBLEM, "", self)
        self._examples: ExamplesCard | None = None
        self.answer = AnswerView(words, self)
        for widget in (self._text, self._trouble, self.answer):
            self._scroll.content.addWidget(widget)
        self._text.changed.connect(self._pause.start)
        self._text.file_wanted.connect(self._ask_which)
        self._text.edit.large.connect(self.explain_text)
        self._text.edit.filled.connect(self._ask)  # not before: the job would take the window's time while it is filled
        self._text.edit.file_given.connect(self.open_file)
        self.answer.quote_wanted.connect(self._show_quote)
        self.answer.link_opened.connect(desk.asking.visit)
        self.answer.guide_wanted.connect(self._show_guide)
        self.setAcceptDrops(True)
        self._show_nothing()

    @property
    def text_card(self) -> TextCard:
        return self._text

    @property
    def busy(self) -> bool:
        works = (self._taking.busy, self._explaining.busy, self._pause.isActive())
        return any(works) or self._text.edit.filling or self.answer.building

    def bar(self) -> Bar:
        return Bar((self._copy, self._save), primary=self._on if self._way is not None else None)

    def show_inspection(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._text.show_machine(recorded=inspection.recorded, host=inspection.host)
        self._ask()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToExplainFile):
            self.open_file(errand.path)
        elif isinstance(errand, ToExplainText) and errand.words:
            self.explain_text(errand.words)
        if errand is not None or not self._resumes:  # in another language it goes on as it stood: whoever chose that has the keys
            self._text.edit.setFocus()
        self._resumes = False
        if self._examples is None and not self._later.busy:
            self._later.begin(self._making_examples())

    def left(self) -> Paste | None:
        return self._paste if self._paste.words or self._paste.left_out else None

    def take_up(self, left: object) -> None:
        self._resumes = True
        self._begin_taking(text("Reading…"), lambda _: left)

    def close_down(self) -> None:
        self._pause.stop()
        self._taking.drop()
        self._explaining.drop()

    def open_file(self, path: str) -> None:
        files = self.desk.session.world.files
        self._begin_taking(text("Reading…"), lambda _: read_file(files, path))

    @Slot(object)
    def explain_text(self, words: str) -> None:
        """Explains a text as it was copied, of any length, instead of what is there."""
        self._begin_taking(text("Reading…"), lambda _: read_paste(words))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_file(event.mimeData()) or event.mimeData().hasText():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        path = dropped_file(event.mimeData())
        if path:
            self.open_file(path)
        else:
            self.explain_text(event.mimeData().text())
        event.acceptProposedAction()

    def _take_a_breath(self) -> None:
        """The text box is painted first."""

    def _making_examples(self) -> Iterator[Step]:
        yield self._take_a_breath
        card = ExamplesCard(self.desk.words, self)
        yield from card.making()
        yield partial(self._add_examples, card)

    def _add_examples(self, card: ExamplesCard) -> None:
        self._examples = card
        self._scroll.content.addWidget(card)
        self._show_examples(shown=self.explanation is None and self._trouble.isHidden() and not self.busy)

    def _show_examples(self, *, shown: bool) -> None:
        if self._examples is not None:
            self._examples.setVisible(shown)

    def _begin_taking(self, words: Text, work: Work) -> None:
        self._strip.begin(self.desk.words(words))
        self._pause.stop()
        self._explaining.drop()
        self._taking.ask(work)

    def _take(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_trouble(result.error)
        elif isinstance(result.value, Paste):
            self._paste = result.value
            self._fresh = True
            self._text.edit.fill(result.value.words)
            self._text.edit.setFocus()

    @Slot()
    def _ask_typed(self) -> None:
        edit = self._text.edit
        if not edit.filling and not edit.shortened:
            words = edit.toPlainText()
            # What was cut out of a long log stays cut out, and is still worth saying, while somebody edits the rest.
            self._paste = Paste(words, self._paste.left_out if words else 0)
        elif edit.document().isEmpty():
            self._paste = Paste("")
        self._ask()

    @Slot()
    def _ask(self) -> None:
        if not self._paste.words.strip() and not self._paste.left_out:
            self._explaining.drop()
            self._show_nothing()
            return
        session, paste = self.desk.session, self._paste
        inspection = self._inspection if self._text.joins else None
        self._strip.begin(self.desk.words(text("Explaining…")))
        # A text that was typed over while the job waited for a thread is not worth one.
        self._explaining.ask(lambda control: None if control.cancelled.is_set() else explain_with(session, paste, inspection))

    def _show_result(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_trouble(result.error)
        elif isinstance(result.value, Explanation):
            self._trouble.hide()
            self._show_examples(shown=False)
            self.answer.show_explanation(result.value)
            self.answer.show()
            self._settle(result.value)
            self._mark()

    @Slot()
    def _mark(self) -> None:
        """Tints the lines that the first answer rests on."""
        found, edit = self.explanation, self._text.edit
        if found is None:
            return
        lines = lines_quoted(found.answers[:1])
        if len(lines) > found.paste.words.strip().count("\n"):
            lines = ()  # all of it: nothing in it stands out
        edit.mark_lines(lines, Mark(found.answers[0].severity.value) if found.answers else Mark.INFO)
        if self._fresh and lines:
            edit.bring_into_sight(min(lines))
        self._fresh = False
        self._text.show_note(self._note())

    def _note(self) -> Text | None:
        if self._text.edit.shortened:
            return text("Some lines are too long to be shown in full, so the text cannot be edited.")
        if self._text.joins and self._inspection is None:
            return text("The computer has not been read yet; until then the text alone is used.")
        return None

    def _show_nothing(self) -> None:
        self._strip.end()
        self._trouble.hide()
        self.answer.show_explanation(None)
        self.answer.hide()
        self._text.edit.mark_lines((), Mark.INFO)
        self._text.show_note(None)
        self._show_examples(shown=True)
        self._settle(None)

    def _show_trouble(self, error: Exception) -> None:
        self.answer.show_explanation(None)
        self.answer.hide()
        self._show_examples(shown=False)
        self._trouble.tell(Mark.PROBLEM, sentence_case(reason_of(self.desk.words, error)))
        self._settle(None)

    def _settle(self, found: Explanation | None) -> None:
        self.explanation = found
        inspection = self._inspection
        self._way = None
        if found is not None and inspection is not None:
            self._way = way_on(found, inspection.machine, recorded=inspection.recorded)
        if self._way is not None:
            self._on.setText(self.desk.words(self._way.title))
        for action in (self._copy, self._save):
            action.setEnabled(found is not None)
        self.bar_changed.emit()

    @Slot()
    def _go_on(self) -> None:
        if self._way is None:
            return
        if self._way.destination is not None:
            self.asked.emit(self._way.destination)
        else:
            clipboard.copy("\n".join(self._way.lines))
            self._text.show_note(copied(self._way.lines))

    @Slot()
    def _copy_answer(self) -> None:
        if self.explanation is not None:
            person = person_of(self.desk.session.world)
            clipboard.copy(in_plain_words(self.explanation, self.desk.words, person))
            self._text.show_note(text("Copied, without the names of users and computers"))

    @Slot()
    def _ask_where(self) -> None:
        if self.explanation is not None:
            self.desk.asking.save_file(self, self.desk.words(text("Save the text and the answer")), _NAME, self._save_as)

    def _save_as(self, path: str) -> None:
        if self.explanation is None:
            return
        words = self.desk.words
        try:
            with open(path, "w", encoding="utf-8", errors="replace") as file:
                file.write(visible(in_markdown(self.explanation, words, person_of(self.desk.session.world))))
        except OSError as error:
            self._text.show_note(text("Could not be saved: {reason}", reason=error.strerror or ""))
        else:
            self._text.show_note(text("Saved as {path}, without the names of users and computers", path=path))

    @Slot()
    def _ask_which(self) -> None:
        words = self.desk.words
        kinds = f"{words(text('Texts and logs'))} (*.log *.txt *.out *.err *.md);;{words(text('All files'))} (*)"
        self.desk.asking.open_file(self, words(text("Open a log")), kinds, self.open_file)

    @Slot()
    def _paste_clipboard(self) -> None:
        self._text.paste()

    @Slot()
    def _focus_text(self) -> None:
        self._text.edit.setFocus()

    @Slot()
    def _empty(self) -> None:
        self._text.clear()

    @Slot(object)
    def _show_quote(self, quotation: Quotation) -> None:
        self._scroll.ensureWidgetVisible(self._text)
        self._text.edit.show_lines(quotation.line, quotation.count)

    @Slot(object)
    def _show_guide(self, topic: str) -> None:
        self.asked.emit(ToGuide(topic))
