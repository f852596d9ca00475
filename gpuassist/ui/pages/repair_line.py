"""One line of the start-up files in full: what it does, whether it holds and why, in what it stands, and what becomes of it."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.detect.startup.line import SurveyLine
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import shortened
from gpuassist.shellfiles.lines import ShellLine
from gpuassist.ui.pages.repair_choices import LineChoiceRow
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.paragraphs import paragraph


class LineCard(Card):
    """The rows of the same line stay while only its choice changes, and with them the keyboard's focus."""

    chosen = Signal(object)  # LineChoice

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Line")), parent=parent)
        self._words = words
        self._home = home
        self._shown: tuple[SurveyLine, tuple[object, ...]] | None = None
        self.row: LineChoiceRow | None = None
        self._content = QVBoxLayout()
        self._content.setSpacing(6)
        self.body.addLayout(self._content)
        self.hide()

    def show_line(self, line: SurveyLine, planned: ShellLine | None, *, planned_any: bool = True) -> None:
        """A line, and what the toolkit's plan makes of it; none where that has nothing to do with it."""
        if planned is None:
            offered: tuple[object, ...] = (planned_any,)
        else:
            offered = (planned.file, planned.line, planned.tickable, planned.new_text, planned.why)
        key = (line, offered)
        if self._shown == key and self.row is not None and planned is not None:
            self.row.show_choice(planned.choice)
            self.show()
            return
        self._shown = key
        clear(self._content)
        self.row = None
        if self.title is not None:
            self.title.setText(f"{shortened(line.file, self._home)}:{line.line}")
        name = self._words(text("The line"))
        self._content.addWidget(CodeBlock(self._words, line.text, name, self))
        said = [*line.contribution, line.effect]
        if line.wins:
            said.append(text("this line wins for {variables}", variables=", ".join(line.wins)))
        if line.read_by:
            said.append(text("its file is read in by {place}", place=line.read_by))
        if line.inside and "inside" not in {name for name, _ in line.why.parameters}:
            said.append(text("it stands inside `{inside}`", inside=line.inside.strip()))
        for sentence in said:
            self._content.addWidget(paragraph(sentence_case(self._words(sentence)), "", self))
        self._add_choice(line, planned, planned_any=planned_any)
        self.show()

    def _add_choice(self, line: SurveyLine, planned: ShellLine | None, *, planned_any: bool) -> None:
        if planned is not None and (planned.tickable or planned.instead):
            self.row = LineChoiceRow(self._words, planned, self)
            self.row.chosen.connect(self._choose)
            self._content.addWidget(self.row)
            self._say(planned.why)
        elif planned is not None:
            self._say(planned.why)
        else:
            self._say(line.why)
            if line.changeable and not planned_any:
                self._say(text("What becomes of it is chosen for a toolkit: choose one under Toolkit first."))

    def _say(self, words: Text) -> None:
        self._content.addWidget(paragraph(sentence_case(self._words(words)), "small", self))

    @Slot()
    def _choose(self) -> None:
        if self.row is not None:
            self.chosen.emit(self.row.line_choice)
