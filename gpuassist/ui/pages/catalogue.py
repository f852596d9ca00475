"""Which class is the page of which step or tool; each module is imported when its page is first shown, some are heavy."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from gpuassist.session.navigation import Place, SideTool, WizardStep
from gpuassist.ui.page import Desk, Page
from gpuassist.ui.pages.machine.page import MachinePage


def make_page(place: Place, desk: Desk, parent: QWidget) -> Page:
    """The page of a step or a tool."""
    return _MAKERS[place](desk, parent)


def _found(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.found import FoundPage

    return FoundPage(desk, parent)


def _repair(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.repair.page import RepairPage

    return RepairPage(desk, parent)


def _verify(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.verify.page import VerifyPage

    return VerifyPage(desk, parent)


def _live(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.live.page import LivePage

    return LivePage(desk, parent)


def _explain(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.explain.page import ExplainPage

    return ExplainPage(desk, parent)


def _what_if(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.what_if.page import WhatIfPage

    return WhatIfPage(desk, parent)


def _install(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.install.page import InstallPage

    return InstallPage(desk, parent)


def _guides(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.guides import GuidesPage

    return GuidesPage(desk, parent)


def _holders(desk: Desk, parent: QWidget) -> Page:
    from gpuassist.ui.pages.holders.page import HoldersPage

    return HoldersPage(desk, parent)


_MAKERS: dict[Place, Callable[[Desk, QWidget], Page]] = {
    WizardStep.MACHINE: MachinePage,
    WizardStep.FOUND: _found,
    WizardStep.REPAIR: _repair,
    WizardStep.VERIFY: _verify,
    WizardStep.LIVE: _live,
    SideTool.EXPLAIN: _explain,
    SideTool.WHAT_IF: _what_if,
    SideTool.INSTALL: _install,
    SideTool.GUIDES: _guides,
    SideTool.HOLDERS: _holders,
}
