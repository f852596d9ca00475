"""Which Prometheus server the live page shows: asked in a dialog, or named by an errand, and remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.ui.page import Desk
from gpuassist.ui.wording import sentence_case

if TYPE_CHECKING:  # HTTP is what few windows need
    from gpuassist.session.navigation import ToServer
    from gpuassist.session.prometheus import ServerWish


class ServerChoice(QObject):
    """Says `chosen` with the server, or `refused` with why there is none."""

    chosen = Signal(object)  # PrometheusServer
    refused = Signal(str)

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self._desk, self._page = desk, page

    @Slot()
    def ask(self) -> None:
        """Asks the user."""
        from gpuassist.session.prometheus import remembered
        from gpuassist.ui.pages.live.server_dialog import ServerDialog

        dialog = ServerDialog(self._desk, remembered(self._desk.session.world), self._page)
        dialog.wished.connect(self._take)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def take(self, errand: ToServer) -> None:
        """The one that is named."""
        from gpuassist.session.prometheus import ServerWish

        self._take(ServerWish(errand.address, errand.hosts, errand.token_file))

    @Slot(object)
    def _take(self, wish: ServerWish) -> None:
        from gpuassist.session.prometheus import remember, server_of
        from gpuassist.system.web import WebError

        world = self._desk.session.world
        try:
            server = server_of(world, wish)
        except WebError as error:
            self.refused.emit(sentence_case(self._desk.words(error.reason)))
            return
        remember(world, wish)
        self.chosen.emit(server)
