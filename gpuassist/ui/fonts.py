"""The font that the window brings along, so that it looks the same everywhere: Inter, with the letters of Europe."""

from __future__ import annotations

import logging

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontDatabase

from gpuassist.system.resources import Resources

_log = logging.getLogger(__name__)
_PROPERTY = "gpuassistFonts"
_SANS = ("Inter", "Noto Sans", "Ubuntu", "Cantarell", "DejaVu Sans")
# A code point of Han stands for letters that each of these draws otherwise: without a name, a font for another may be taken.
_HAN = {
    "zh_CN": ("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"),
    "zh_TW": ("Noto Sans CJK TC", "Noto Sans TC", "Source Han Sans TC"),
    "ja": ("Noto Sans CJK JP", "Noto Sans JP", "Source Han Sans"),
    "ko": ("Noto Sans CJK KR", "Noto Sans KR", "Source Han Sans K"),
}


def families(language: str) -> list[str]:
    """The proportional ones, the best first, for words in a language."""
    return [*_SANS, *han(language)]


def han(language: str) -> tuple[str, ...]:
    """Those that a language of Han's letters is written in; none for another."""
    return _HAN.get(language) or _HAN.get(language.partition("_")[0], ())


def load_fonts(resources: Resources | None = None, *, styles: tuple[str, ...] = ("",)) -> None:
    """Makes it known to Qt, each style once for the application; a damaged copy shows the desktop's fonts. Each takes 4 ms, so the
    first paint has the `styles` that it needs most, and a weight that is not there yet is the next one.
    """
    application = QCoreApplication.instance()
    if application is None:
        return
    resources = resources or Resources()
    loaded = str(application.property(_PROPERTY) or "").split()
    try:
        for name in resources.names("fonts", ".ttf"):
            if name not in loaded and any(style in name for style in styles):
                loaded.append(name)
                if QFontDatabase.addApplicationFontFromData(resources.read(f"fonts/{name}")) < 0:
                    _log.warning("the font %s cannot be used", name)
    except OSError as error:
        _log.warning("no fonts of our own: %s", error)
    application.setProperty(_PROPERTY, " ".join(loaded))
