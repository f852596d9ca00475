"""What is chosen for a line of a start-up file, and for LD_LIBRARY_PATH: rows of the repair page's left card."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.plan import ToolkitChoice
from gpuassist.changes.wishes import LdLibraryPath
from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.changes import loader_words, place_of
from gpuassist.present.toolkit_change import line_context
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.widgets.buttons import Tick
from gpuassist.ui.widgets.labels import ElidedLabel, label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.wording import as_tip, sentence_case

CHOICES = (Choice.KEEP, Choice.COMMENT_OUT, Choice.REPLACE)
_TITLES = {Choice.KEEP: text("Keep"), Choice.COMMENT_OUT: text("Comment out"), Choice.REPLACE: text("Replace")}
_INDENT = 26  # of what belongs to a tick, under its words


class LineChoiceRow(QWidget):
    """Keep, comment out or replace, for one line; its tool tip says why not, where one is not offered. Below: what it becomes."""

    chosen = Signal()

    def __init__(self, words: Words, line: ShellLine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        column = bare(QVBoxLayout(self), 4)
        name = words(text("What to do with line {line}", line=line.line))
        self.segments = Segments([words(_TITLES[choice]) for choice in CHOICES], name, self, compact=True)
        self.segments.button(1).setToolTip(words(text("Kept as a comment, and restored by undo")))
        self.segments.button(2).setToolTip(words(text("Only the words that name the toolkit are replaced; restored by undo")))
        if not line.tickable:
            self.segments.offer(1, why_not=sentence_case(words(line.why)))
        if not line.instead:
            self.segments.offer(2, why_not=sentence_case(words(line.why_not or line.why)))
        self._becomes = ElidedLabel(line.new_text, "mono", self)
        column.addWidget(self.segments)
        column.addWidget(self._becomes)
        self.show_choice(line.choice)
        self.segments.chosen.connect(self._tell)

    @property
    def choice(self) -> Choice:
        return CHOICES[self.segments.place]

    @property
    def line_choice(self) -> LineChoice:
        return LineChoice(self.line.file, self.line.line, self.choice)

    def show_choice(self, choice: Choice) -> None:
        self.segments.show_chosen(CHOICES.index(choice))
        self._becomes.setVisible(choice is Choice.REPLACE)

    def freeze(self) -> None:
        self.segments.setEnabled(False)

    @Slot(int)
    def _tell(self, _place: int) -> None:
        self._becomes.setVisible(self.choice is Choice.REPLACE)
        self.chosen.emit()


class LineRow(QWidget):
    """A statement of a start-up file: where it stands, what it does, in what it stands, what becomes of it and why."""

    chosen = Signal()

    def __init__(self, words: Words, line: ShellLine, home: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        column = bare(QVBoxLayout(self), 3)
        place = label(words(place_of(line, home)), "strong", self)
        place.setToolTip(as_tip(line.text))
        column.addWidget(place)
        column.addWidget(ElidedLabel(" ".join(line.text.split()), "mono", self))
        self.row: LineChoiceRow | None = None
        if line.tickable or line.instead:
            self.row = LineChoiceRow(words, line, self)
            self.row.chosen.connect(self.chosen)
            column.addWidget(self.row)
        for sentence in (*line.does, *line_context(line), line.why):
            column.addWidget(paragraph(sentence_case(words(sentence)), "small", self))

    @property
    def line_choice(self) -> LineChoice:
        return self.row.line_choice if self.row is not None else LineChoice(self.line.file, self.line.line, Choice.KEEP)

    def show_choice(self, choice: Choice) -> None:
        if self.row is not None:
            self.row.show_choice(choice)

    def freeze(self) -> None:
        if self.row is not None:
            self.row.freeze()


class TickRow(QWidget):
    """A tick with its reason below."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tick = Tick(self)
        self.tick.setText(on_one_line(title))
        self._reason = paragraph("", "small", self)
        column = bare(QVBoxLayout(self), 2)
        column.addWidget(self.tick)
        inner = QVBoxLayout()
        inner.setContentsMargins(_INDENT, 0, 0, 0)
        inner.addWidget(self._reason)
        add_layout(column, inner)

    def show_reason(self, reason: str) -> None:
        set_paragraph(self._reason, sentence_case(on_one_line(reason)))


class LoaderRow(TickRow):
    """Whether the toolkit's libraries are put on LD_LIBRARY_PATH, and the reason of that choice."""

    chosen = Signal(object)  # LdLibraryPath

    def __init__(self, words: Words, chosen: ToolkitChoice, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Put its libraries on LD_LIBRARY_PATH")), parent)
        self._words = words
        self._suggested: bool | None = None
        self.tick.setChecked(chosen.loader.on)
        self.show_choice(chosen)
        self.tick.toggled.connect(self._tell)

    def show_choice(self, chosen: ToolkitChoice) -> None:
        """The reason of another choice."""
        if chosen.wish.ld_library_path is LdLibraryPath.AUTO:
            self._suggested = chosen.loader.on
        self.show_reason(self._words(loader_words(chosen)))

    @Slot(bool)
    def _tell(self, ticked: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        # A tick that is as it was suggested asks for nothing: what stands on the path is then not taken out.
        asked = LdLibraryPath.ON if ticked else LdLibraryPath.OFF
        self.chosen.emit(LdLibraryPath.AUTO if ticked is self._suggested else asked)
