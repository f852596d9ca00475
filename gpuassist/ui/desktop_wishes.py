"""What the desktop asks of its programs for the user's sake, and Qt does not hand on: calm, and larger letters under Wayland.

Asked of the settings portal (org.freedesktop.portal.Settings), which also tells when one of them changes; where there is none,
nothing is wished. Under X11 larger letters are a part of the screen's resolution, which Qt follows by itself.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import SLOT, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCallWatcher, QDBusVariant
from PySide6.QtGui import QGuiApplication

_SERVICE, _PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.Settings"
_MOTION = ("org.freedesktop.appearance", "reduced-motion")  # 1: reduced
_ANIMATIONS = ("org.gnome.desktop.interface", "enable-animations")
_SCALE = ("org.gnome.desktop.interface", "text-scaling-factor")
_LEAST, _MOST = 0.5, 3.0  # what desktops offer


class DesktopWishes(QObject):
    """Tells each wish when it is known, and again when it is another."""

    calm_wished = Signal(bool)
    scale_wished = Signal(float)

    def __init__(self, parent: QObject, *, scales: bool | None = None) -> None:
        super().__init__(parent)
        self._scales = QGuiApplication.platformName().startswith("wayland") if scales is None else scales
        self._calm = {_MOTION: False, _ANIMATIONS: False}

    def ask(self) -> None:
        """Asks, and hears of changes from now on; answers come later."""
        bus = QDBusConnection.sessionBus()
        if not bus.isConnected():
            return
        bus.connect(_SERVICE, _PATH, _INTERFACE, "SettingChanged", self, SLOT("hear(QDBusMessage)"))  # type: ignore[call-overload]
        for key in (_MOTION, _ANIMATIONS, _SCALE):
            call = QDBusMessage.createMethodCall(_SERVICE, _PATH, _INTERFACE, "Read")
            call.setArguments(list(key))
            watcher = QDBusPendingCallWatcher(bus.asyncCall(call), self)
            watcher.setProperty("key", list(key))
            watcher.finished.connect(self._answered)

    @Slot(QDBusMessage)
    def hear(self, message: QDBusMessage) -> None:
        """One of all the desktop's settings changed."""
        told = message.arguments()
        if len(told) == 3:
            self.take((told[0], told[1]), told[2])

    def take(self, key: tuple[object, object], value: object) -> None:
        """Believes a value that is of its kind."""
        while isinstance(value, QDBusVariant):
            value = value.variant()
        if key == _SCALE and self._scales and isinstance(value, float) and _LEAST <= value <= _MOST:
            self.scale_wished.emit(value)
        elif key == _ANIMATIONS and isinstance(value, bool):
            self._take_calm(_ANIMATIONS, wished=not value)
        elif key == _MOTION and isinstance(value, int):
            self._take_calm(_MOTION, wished=value == 1)

    def _take_calm(self, key: tuple[str, str], *, wished: bool) -> None:
        self._calm[key] = wished
        self.calm_wished.emit(any(self._calm.values()))

    @Slot(QDBusPendingCallWatcher)
    def _answered(self, watcher: Any) -> None:
        if not watcher.isError():
            told = watcher.reply().arguments()
            self.take(tuple(watcher.property("key")), told[0] if told else None)
        watcher.deleteLater()
