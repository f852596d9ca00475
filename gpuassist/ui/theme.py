"""How the window looks: fonts, the style sheet filled in from one palette, and following the desktop between light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from string import Template

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.ui.fonts import families, han, load_fonts
from gpuassist.ui.palette import DARK, LIGHT, Palette
from gpuassist.ui.stylesheet import TEMPLATE

BASE_POINTS = 10.5  # 14 px at 96 dots an inch; points follow the desktop's own text size
SMALL_POINTS = 9.0
TITLE_POINTS = 17.25
GAP = 4  # all spacing is a multiple of it
_MONO = ("JetBrains Mono", "DejaVu Sans Mono", "Noto Sans Mono", "Liberation Mono", "monospace")
_PROPERTY = "gpuassistPalette"
_LANGUAGE = "gpuassistLanguage"
_CALM, _SCALE = "gpuassistCalm", "gpuassistTextScale"
_POINTS = lazy_regex(r"([\d.]+)pt\b")


class Appearance(str, Enum):
    """What the user wants the window to look like."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Theme(QObject):
    """Dresses the application, and again whenever the desktop or the user changes between light and dark."""

    changed = Signal(object)  # Palette

    def __init__(self, application: QApplication, appearance: Appearance = Appearance.SYSTEM) -> None:
        super().__init__(application)
        self.setObjectName("theme")
        self.appearance = appearance
        self._application = application
        load_fonts()
        application.setStyle("Fusion")
        application.setFont(sans())
        application.styleHints().colorSchemeChanged.connect(self._dress)
        self._dress()

    def choose(self, appearance: Appearance) -> None:
        """Takes the user's wish over the desktop's."""
        self.appearance = appearance
        self._dress()

    def write(self, language: str) -> None:
        """Takes the fonts that a language is read best in."""
        if self._application.property(_LANGUAGE) == language:
            return
        self._application.setProperty(_LANGUAGE, language)
        self._application.setProperty(_PROPERTY, None)
        self._application.setFont(sans())
        self._dress()

    def undress(self) -> None:
        """Lets the application go; it keeps its last look until somebody dresses it again."""
        self._application.styleHints().colorSchemeChanged.disconnect(self._dress)
        self._application.setProperty(_PROPERTY, None)
        for name in (_LANGUAGE, _CALM, _SCALE):
            self._application.setProperty(name, None)
        self._application.setStyleSheet("")

    @Slot(bool)
    def calm(self, wished: bool) -> None:  # noqa: FBT001 -- a slot
        """Nothing turns any more where that is wished."""
        self._application.setProperty(_CALM, wished)

    @Slot(float)
    def scale(self, factor: float) -> None:
        """All letters by a factor, as the desktop has it."""
        if factor != text_scale():
            self._application.setProperty(_SCALE, factor)
            self._application.setProperty(_PROPERTY, None)
            self._application.setFont(sans())
            self._dress()

    def palette(self) -> Palette:
        return colours()

    @Slot()
    def _dress(self) -> None:
        palette = self._wanted()
        if self._application.property(_PROPERTY) is palette:
            return
        self._application.setProperty(_PROPERTY, palette)
        # What the style sheet leaves to Fusion (check boxes, radio buttons, menus' arrows) takes its colours from here.
        role = QPalette.ColorRole
        made = QPalette()
        for place, colour in (
            (role.Window, palette.background),
            (role.WindowText, palette.text),
            (role.Base, palette.panel),
            (role.AlternateBase, palette.well),
            (role.Text, palette.text),
            (role.Button, palette.panel),
            (role.ButtonText, palette.text),
            (role.BrightText, palette.problem),
            (role.Highlight, palette.accent),
            (role.HighlightedText, palette.on_accent),
            (role.Link, palette.accent),
            (role.LinkVisited, palette.accent),
            (role.ToolTipBase, palette.panel),
            (role.ToolTipText, palette.text),
            (role.PlaceholderText, palette.muted),
            (role.Accent, palette.accent),
            (role.Mid, palette.line),
            (role.Dark, palette.line),
        ):
            made.setColor(place, QColor(colour))
        for place in (role.WindowText, role.Text, role.ButtonText):
            made.setColor(QPalette.ColorGroup.Disabled, place, QColor(palette.muted))
        self._application.setPalette(made)
        self._application.setStyleSheet(style_sheet(palette))
        self.changed.emit(palette)

    def _wanted(self) -> Palette:
        if self.appearance is not Appearance.SYSTEM:
            return DARK if self.appearance is Appearance.DARK else LIGHT
        return DARK if self._application.styleHints().colorScheme() is Qt.ColorScheme.Dark else LIGHT


def colours() -> Palette:
    """The palette that the application is dressed in, for what is painted by hand; light where nothing dressed it."""
    application = QApplication.instance()
    palette = application.property(_PROPERTY) if application is not None else None
    return palette if isinstance(palette, Palette) else LIGHT


def is_calm() -> bool:
    """Whether nothing is to move that need not."""
    application = QApplication.instance()
    return application is not None and bool(application.property(_CALM))


def text_scale() -> float:
    """By how much letters are larger than their points say."""
    application = QApplication.instance()
    factor = application.property(_SCALE) if application is not None else None
    return factor if isinstance(factor, float) else 1.0


def sans(points: float = BASE_POINTS, *, bold: bool = False) -> QFont:
    """The window's one proportional family."""
    return _font(families(language_written()), points, QFont.Weight(strong_weight()) if bold else QFont.Weight.Normal)


def mono(points: float = SMALL_POINTS + 0.25) -> QFont:
    """The window's one monospaced family, for paths, commands and versions in columns."""
    font = _font((*_MONO, *_han()), points, QFont.Weight.Normal)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


def set_look(widget: QWidget, name: str, value: object) -> None:
    """Sets a property that the style sheet asks about, and lets it look again: without that nothing changes."""
    if widget.property(name) == value:
        return
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def style_sheet(palette: Palette) -> str:
    """The whole style sheet in these colours."""
    names = {name: getattr(palette, name) for name in Palette.__struct_fields__ if name not in {"dark", "series"}}
    fonts = {"mono": _listed((*_MONO, *_han())), "sans": _listed(families(language_written()))}
    sizes = {"base": BASE_POINTS, "small": SMALL_POINTS, "title": TITLE_POINTS, "strong": strong_weight()}
    sheet = Template(TEMPLATE).substitute(names, **fonts, **sizes, slant="normal" if _han() else "italic")
    factor = text_scale()
    return sheet if factor == 1.0 else _POINTS.sub(lambda size: f"{float(size[1]) * factor:g}pt", sheet)


def language_written() -> str:
    """The language that the application's fonts are chosen for; empty where nothing chose."""
    application = QApplication.instance()
    language = application.property(_LANGUAGE) if application is not None else None
    return language if isinstance(language, str) else ""


def _han() -> tuple[str, ...]:
    return han(language_written())


def strong_weight() -> int:
    """The weight of what stands out. Fonts of Han often have one weight, and Qt makes them bolder from Bold on only: a heading was
    half bold, its Latin words.
    """
    return int(QFont.Weight.Bold if _han() else QFont.Weight.DemiBold)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _font(names: Sequence[str], points: float, weight: QFont.Weight) -> QFont:
    font = QFont()
    font.setFamilies(list(names))
    font.setPointSizeF(points * text_scale())
    font.setWeight(weight)
    return font
