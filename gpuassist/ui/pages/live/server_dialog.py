"""Which Prometheus server is looked at and which of its machines: asked whom it knows first, so that what is wrong is said here."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.text import Text, counted, text
from gpuassist.monitor.prometheus_gpus import GPUS_AT_MOST
from gpuassist.monitor.prometheus_source import FleetHost
from gpuassist.session.prometheus import PASSWORD_KEPT, ServerWish, found_hosts, has_password
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.page import Desk
from gpuassist.ui.widgets.buttons import LongChoice, primary, secondary, small
from gpuassist.ui.widgets.labels import paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, dress
from gpuassist.ui.widgets.text_fields import TextLine
from gpuassist.ui.wording import as_tip, reason_of, sentence_case

_LETTERS = 62


class ServerDialog(QDialog):
    """Enter asks the server, and once it has answered shows what is chosen."""

    wished = Signal(object)  # ServerWish

    def __init__(self, desk: Desk, wish: ServerWish, parent: QWidget) -> None:
        super().__init__(parent)
        self._desk, self._hosts_before = desk, wish.hosts
        self._hosts: tuple[FleetHost, ...] = ()
        self._asked = ServerWish()
        self._asking = Latest(desk.jobs, self._answered, self)
        self.address = self._line(wish.address, text("Address"), "http://prometheus.example:9090")
        self.token_file = self._line(wish.token_file, text("Token file"), desk.words(text("none: ~/.netrc, or no password")))
        self.machine = LongChoice(self)
        self.machine.setAccessibleName(desk.words(text("Machine")))
        self.said = paragraph("", "muted", self)
        self.show_button = primary(desk.words(text("Ask the server")), self)
        self.show_button.setDefault(True)
        self.show_button.clicked.connect(self._go)
        self._build()
        self._forget()

    @Slot()
    def _go(self) -> None:
        if self._hosts:
            chosen = self.machine.currentData()
            self.wished.emit(replace(self._asked, hosts=(chosen,) if chosen else ()))
            self.accept()
            return
        self._asked = wish = ServerWish(self.address.text().strip(), (), self.token_file.text().strip())
        world = self._desk.session.world
        self.show_button.setEnabled(False)
        self._say(text("Asking the server"))
        self._asking.ask(lambda _: found_hosts(world, wish))

    def _answered(self, result: Done | Failed) -> None:
        self.show_button.setEnabled(True)
        if isinstance(result, Failed):
            set_paragraph(self.said, sentence_case(reason_of(self._desk.words, result.error)))
            return
        self._hosts = result.value if isinstance(result.value, tuple) else ()
        if not self._hosts:
            self._say(
                text("It answers, and knows no GPU: nothing that it scrapes is dcgm-exporter or `gpuassist monitor --export`.")
            )
            return
        self._show_hosts()

    def _show_hosts(self) -> None:
        words, total = self._desk.words, sum(one.gpus for one in self._hosts)
        self.machine.clear()
        if total <= GPUS_AT_MOST:
            self.machine.addItem(words(counted("All of them: {count} GPU", "All of them: {count} GPUs", total)), "")
        for one in self._hosts:
            self.machine.addItem(words(counted("{name}: {count} GPU", "{name}: {count} GPUs", one.gpus, name=one.name)), one.name)
        place = max(0, self.machine.findData(self._hosts_before[0])) if self._hosts_before else 0
        self.machine.setCurrentIndex(place)
        self.machine.setEnabled(True)
        self.machine.setFocus()
        self.show_button.setText(words(text("Watch")))
        count = counted("It knows {count} machine with GPUs.", "It knows {count} machines with GPUs.", len(self._hosts))
        self._say(text("{count} {password}", count=count, password=PASSWORD_KEPT) if has_password(self._asked) else count)

    @Slot()
    def _forget(self) -> None:
        """Another server knows other machines."""
        self._asking.drop()
        self._hosts = ()
        self.machine.clear()
        self.machine.setEnabled(False)
        self.show_button.setEnabled(bool(self.address.text().strip()))
        self.show_button.setText(self._desk.words(text("Ask the server")))
        self._say(text("Only this server is asked, over HTTP, and only while its GPUs are shown."))

    def _say(self, words: Text) -> None:
        set_paragraph(self.said, self._desk.words(words))

    def _line(self, content: str, name: Text, example: str) -> TextLine:
        line = TextLine(content, self)
        line.setAccessibleName(self._desk.words(name))
        line.setPlaceholderText(example)
        line.setToolTip(as_tip(example))
        line.textChanged.connect(self._forget_soon)
        return line

    @Slot()
    def _forget_soon(self) -> None:
        if hasattr(self, "show_button"):
            self._forget()

    def _build(self) -> None:
        words = self._desk.words
        self.setWindowTitle(words(text("Prometheus server")))
        choose = small(words(text("Choose…")), self)
        choose.setAccessibleName(words(text("Choose the token file")))
        choose.clicked.connect(self._choose_token)
        token = bare(QHBoxLayout(), 8)
        token.addWidget(self.token_file, 1)
        token.addWidget(choose, 0, Qt.AlignmentFlag.AlignVCenter)  # else the field would be as low as the button
        form = QFormLayout()
        form.setVerticalSpacing(10)
        for name, row in ((text("Address"), self.address), (text("Token file"), token), (text("Machine"), self.machine)):
            form.addRow(words(name), row)
        cancel = secondary(words(text("Cancel")), self)
        cancel.setAutoDefault(False)
        choose.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        buttons = bare(QHBoxLayout(), 8)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.show_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(12)
        add_layout(column, form)
        column.addWidget(self.said)
        column.addStretch(1)
        add_layout(column, buttons)
        dress(self)
        around = self.parentWidget()
        room = (around.window().width() if around is not None else self.screen().availableSize().width()) - 40
        self.setMinimumWidth(min(room, _LETTERS * self.fontMetrics().averageCharWidth() + 48))

    @Slot()
    def _choose_token(self) -> None:
        words = self._desk.words
        self._desk.asking.open_file(
            self, words(text("Choose the token file")), words(text("All files (*)")), self.token_file.setText
        )
