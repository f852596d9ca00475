"""The font that the window brings along, so that it looks the same everywhere: Inter, with the letters of Europe."""

from __future__ import annotations

import logging

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontDatabase

from gpuassist.system.resources import Resources

_log = logging.getLogger(__name__)
_PROPERTY = "gpuassistFonts"


def load_fonts(resources: Resources | None = None) -> None:
    """Makes it known to Qt, once for the application; a damaged copy shows the desktop's fonts."""
    application = QCoreApplication.instance()
    if application is None or application.property(_PROPERTY):
        return
    application.setProperty(_PROPERTY, True)  # noqa: FBT003 -- Qt's own way
    resources = resources or Resources()
    try:
        for name in resources.names("fonts", ".ttf"):
            if QFontDatabase.addApplicationFontFromData(resources.read(f"fonts/{name}")) < 0:
                _log.warning("the font %s cannot be used", name)
    except OSError as error:
        _log.warning("no fonts of our own: %s", error)
