"""Child of `test_window`: starts the real window as the command does, clicks through it, prints what it saw as JSON.

`drive_window.py FOLDER ARGUMENT…`: the arguments are gpuassist's own; a picture of every page goes into FOLDER.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QPushButton, QWidget

SECONDS = 240.0  # for a walk of a few: what is not reached by then never is
Ready = Callable[[], bool]


def main(folder: str, arguments: list[str]) -> None:
    """Takes the place of the event loop's start, so that everything before it is the command's own."""
    from gpuassist import app

    seen: dict[str, list[str]] = {}

    def execute(*_: object) -> int:
        QTimer.singleShot(0, lambda: _walk(_clicks(folder, seen), time.monotonic() + SECONDS))
        return QCoreApplication.exec()

    QApplication.exec = execute  # type: ignore[method-assign]
    status = app.main(arguments)
    sys.stdout.write(json.dumps({"status": status, "seen": seen}))
    sys.stdout.flush()
    os._exit(0)


def _walk(clicks: Iterator[Ready], deadline: float) -> None:
    """Asks for the next click when what the last one waits for is there; a window that never gets there, or fails, is closed."""
    ready: Ready | None = None

    def tick() -> None:
        nonlocal ready
        try:
            if ready is None or ready():
                ready = next(clicks)
        except StopIteration:
            QCoreApplication.quit()
            return
        except Exception:
            QCoreApplication.quit()
            raise
        if time.monotonic() > deadline:
            QCoreApplication.quit()
        else:
            QTimer.singleShot(100, tick)

    tick()


def _clicks(folder: str, seen: dict[str, list[str]]) -> Iterator[Ready]:
    yield lambda: _is_ready("Show diagnosis") and _says("Ubuntu 22.04.4 LTS")
    _note(folder, "machine", seen)
    _click("Show diagnosis")
    yield lambda: _says("One thing stands between you") and _is_ready("Switch to CUDA 12.4…")
    _note(folder, "found", seen)
    _click("Switch to CUDA 12.4…")
    yield lambda: _says("Use CUDA 12.4 in new terminals") and 'PATH="/usr/local/cuda-12.4' in _documents()
    _note(folder, "repair", seen)
    seen["diff"] = _documents().splitlines()
    seen["apply enabled"] = [str((_button("Apply and test") or QPushButton()).isEnabled())]
    for page in ("Verify", "Live memory"):
        _click_side(page)
        yield lambda: _says("recorded machine")
        _note(folder, page, seen)
    _click_side("Compatibility check")
    yield lambda: _says("The recorded machine as it is") and _says("Changes needed")
    _note(folder, "What if", seen)
    _click_side("Explain an error")
    yield lambda: _says("What can be explained")
    QGuiApplication.clipboard().setText(
        "make: all\nnvcc fatal   : Unsupported gpu architecture 'compute_89'\nmake: *** [all] Error 1\n"
    )
    _click("Paste")
    yield lambda: _is_ready("Switch to CUDA 12.4…") and _is_ready("Line 2")
    _note(folder, "Explain", seen)
    _click("Line 2")
    seen["selected"] = [view.textCursor().selectedText() for view in _window().findChildren(QPlainTextEdit) if view.isVisible()]
    _click("Switch to CUDA 12.4…")
    yield lambda: _says("Use CUDA 12.4 in new terminals")
    _note(folder, "repair of the error", seen)


def _note(folder: str, page: str, seen: dict[str, list[str]]) -> None:
    window = _window()
    window.grab().save(f"{folder}/{page}.png")
    seen[page] = [label.text() for label in window.findChildren(QLabel) if label.isVisible() and label.text()]


def _window() -> QWidget:
    return next(widget for widget in QApplication.topLevelWidgets() if widget.isWindow() and widget.isVisible())


def _button(words: str) -> QPushButton | None:
    found = (button for button in _window().findChildren(QPushButton) if button.isVisible() and button.text() == words)
    return next(found, None)


def _is_ready(words: str) -> bool:
    button = _button(words)
    return button is not None and button.isEnabled()


def _click(words: str) -> None:
    button = _button(words)
    assert button is not None
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def _click_side(words: str) -> None:
    rows = _window().findChildren(QAbstractButton)
    row = next(row for row in rows if row.isVisible() and row.accessibleName().startswith(words))
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)


def _says(words: str) -> bool:
    return any(words in label.text() for label in _window().findChildren(QLabel) if label.isVisible())


def _documents() -> str:
    return "\n".join(view.toPlainText() for view in _window().findChildren(QPlainTextEdit) if view.isVisible())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
