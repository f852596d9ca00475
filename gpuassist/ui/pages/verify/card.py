"""The result as a picture for a forum or a seller: the button for it, where it is saved, and what came of that."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpuassist import __version__
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.overview import driver_version
from gpuassist.present.report_file import NotSavedError, save
from gpuassist.present.verification_card import pcie_links, verification_card
from gpuassist.present.verification_document import verification_document
from gpuassist.session import verifications
from gpuassist.session.report import harmless_figures
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.page import Desk, new_action
from gpuassist.ui.picture import draw_png
from gpuassist.ui.widgets import popups
from gpuassist.verify.runner import Level


class CardSubject(Struct, frozen=True):
    """What the picture is of."""

    report: VerifyReport
    level: Level
    machine: Machine


def result_card(session: Session, subject: CardSubject) -> str:
    """The picture, as SVG."""
    document = verification_document([subject.report], ENGLISH)
    version = driver_version(subject.machine)
    driver = str(version.value) if isinstance(version, Known) else ""
    kept = verifications.new(session.world, document, driver, subject.level.value)
    figures = harmless_figures(session, kept)
    links = () if subject.report.verification.image else pcie_links(subject.machine)
    return verification_card(figures, links, __version__, session.words)


class CardAction(QObject):
    """The action, and one button for it and for `beside`, the other way to save; `subject` is what there is to draw, and `tell`
    shows what came of it.
    """

    def __init__(self, desk: Desk, page: QWidget, tell: Callable[[Mark, str], None], *, beside: QAction) -> None:
        super().__init__(page)
        self._desk, self._page, self._tell = desk, page, tell
        self.subject: CardSubject | None = None
        self.action = new_action(page, desk.words(text("Save as picture")), self._ask_where)
        self.saving = QAction(desk.words(text("Save")), page)
        menu = popups.menu(page)
        menu.addActions([beside, self.action])
        self.saving.setMenu(menu)

    def _ask_where(self) -> None:
        title = self._desk.words(text("Save the result as a picture"))
        self._desk.asking.save_file(self._page, title, "gpuassist-verified.png", self._save)

    def _save(self, path: str) -> None:
        words = self._desk.words
        if self.subject is None:
            return
        svg = result_card(self._desk.session, self.subject)
        content = svg.encode() if os.path.splitext(path)[1].lower() == ".svg" else draw_png(svg)
        try:
            save(path, content, force=True)
        except NotSavedError as error:
            self._tell(Mark.PROBLEM, words(error.reason))
        else:
            self._tell(Mark.RIGHT, words(text("Saved as {path}. Only you can read the file.", path=path)))
