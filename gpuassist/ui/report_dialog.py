"""The report on a machine before it leaves: all of it, what was left out, and the ways to hand it on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpuassist.formats.visible import visible
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.present.report_file import NotSavedError, ReportFormat, report_content, save
from gpuassist.present.report_words import taken_lines
from gpuassist.session.inspect import Inspection
from gpuassist.session.report import MachineReport, make_report
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.page import Desk
from gpuassist.ui.widgets.buttons import CopyButton, primary, secondary
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.code import make_read_only
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text, clear, open_within
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.scroll_page import PageHeader, ScrollWhole
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.widgets.text_fields import TextArea
from gpuassist.ui.wording import reason_of

_WIDTH, _HEIGHT, _BESIDE = 980, 700, 250
_FORMATS = (
    (ReportFormat.MARKDOWN, text("Markdown"), text("for an issue tracker or a forum")),
    (ReportFormat.HTML, text("Page"), text("the same as one HTML file with pictures, which needs no network")),
    (ReportFormat.JSON, text("JSON"), text("opens elsewhere with gpuassist --machine FILE")),
)


class ReportDialog(QDialog):
    """Makes the report off the GUI thread; nothing leaves before somebody copies or saves it."""

    def __init__(self, desk: Desk, inspection: Inspection, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk, self._words = desk, desk.words
        self.report: MachineReport | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self._words(text("Report")))
        open_within(self, by_text(_WIDTH), by_text(_HEIGHT))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 16)
        layout.setSpacing(12)
        about = text("What is wrong with this machine, for somebody who helps you. Nothing leaves this machine until you share it.")
        inside = QWidget()
        inside.setObjectName("content")
        column = bare(QVBoxLayout(inside), 12)
        column.addWidget(PageHeader(self._words(text("Report to share")), self._words(about), inside))
        self.notice = Notice(Mark.INFO, "", inside)
        self.notice.hide()
        column.addWidget(self.notice)
        add_layout(column, self._choice())
        add_layout(column, self._middle(), 1)
        layout.addWidget(ScrollWhole(inside, self), 1)
        add_layout(layout, self._buttons())
        self._making = Latest(desk.jobs, self._show_made, self)
        self._making.ask(lambda _: make_report(desk.session, inspection))
        self._strip.begin(self._words(text("Preparing the report…")))

    @property
    def busy(self) -> bool:
        """Whether the report is still being made."""
        return self._making.busy

    @property
    def form(self) -> ReportFormat:
        """The format that is chosen."""
        return _FORMATS[self.formats.place][0]

    @property
    def content(self) -> str:
        """The whole report in it; empty before it is made."""
        return report_content(self.report, self.form, self._desk.session.words) if self.report is not None else ""

    def save_to(self, path: str) -> None:
        """Writes it; the dialog for the name asked about a file that is there."""
        try:
            save(path, self.content.encode("utf-8", "backslashreplace"), force=True)
        except NotSavedError as error:
            self._tell(Mark.PROBLEM, self._words(error.reason))
        else:
            self._tell(Mark.RIGHT, self._words(text("Saved as {path}. Only you can read the file.", path=path)))

    def done(self, result: int) -> None:
        self._making.drop()
        super().done(result)

    def _choice(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 12)
        self.formats = Segments([self._words(title) for _, title, _ in _FORMATS], self._words(text("Format")), self)
        self.formats.chosen.connect(self._show_content)
        self._what_for = paragraph("", "muted", self)
        row.addWidget(self.formats)
        row.addWidget(self._what_for, 1)
        return row

    def _middle(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 16)
        shown = Card(parent=self)
        self.preview = TextArea(shown)
        make_read_only(self.preview, self._words(text("Everything that is shared")))
        self.preview.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        shown.body.addWidget(self.preview)
        self.left = Card(self._words(text("Left out")), parent=self)
        self.left.setFixedWidth(by_text(_BESIDE))
        lines = QWidget()
        lines.setObjectName("content")
        self._lines = bare(QVBoxLayout(lines), 6)
        self.left.body.addWidget(ScrollWhole(lines, self.left), 1)
        row.addWidget(shown, 1)
        row.addWidget(self.left)
        return row

    def _buttons(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 8)
        self._strip = ProgressStrip(self)
        self.copy = CopyButton(self._words, lambda: self.content, self, title=self._words(text("Copy")))
        self.copy.setProperty("compact", None)
        self.save = primary(self._words(text("Save…")), self)
        self.save.clicked.connect(self._ask_where)
        close = secondary(self._words(text("Close")), self)
        close.clicked.connect(self.reject)
        row.addWidget(self._strip, 1)
        row.addWidget(close)
        row.addWidget(self.copy)
        row.addWidget(self.save)
        for button in (self.copy, self.save):
            button.setEnabled(False)
        self._show_what_for()
        return row

    def _show_made(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, reason_of(self._words, result.error))
            return
        assert isinstance(result.value, MachineReport)
        self.report = result.value
        for button in (self.copy, self.save):
            button.setEnabled(True)
        clear(self._lines)
        lines = taken_lines(self.report.taken_out) or (text("Nothing had to be left out."),)
        for line in lines:
            self._lines.addWidget(paragraph(self._words(line)))
        told = text("Anything else that is not known to be harmless is left out as well. Please check it before you share it.")
        self._lines.addWidget(paragraph(self._words(told), "muted"))
        self._lines.addStretch(1)
        self._show_content()
        self.save.setFocus()

    @Slot()
    def _show_content(self) -> None:
        self._show_what_for()
        if self.report is not None:
            # A page says the same as Markdown, between signs that nobody reads.
            form = ReportFormat.JSON if self.form is ReportFormat.JSON else ReportFormat.MARKDOWN
            self.preview.setPlainText(visible(report_content(self.report, form, self._desk.session.words)))

    def _show_what_for(self) -> None:
        self._what_for.setText(self._words(_FORMATS[self.formats.place][2]))

    @Slot()
    def _ask_where(self) -> None:
        name = f"gpuassist-report.{self.form.value}"
        self._desk.asking.save_file(self, self._words(text("Save the report")), name, self.save_to)

    def _tell(self, mark: Mark, words: str) -> None:
        self.notice.show_words(mark, words)
        self.notice.show()
