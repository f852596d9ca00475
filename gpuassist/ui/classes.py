"""Makes every class of Qt's three modules at once, so that no two threads ever make one together.

PySide6 makes a class when it is first named, running Python as it does so. Another thread that names the class meanwhile can get
half of it, and an object of that crashes the process in `PySide::MetaObjectBuilder::update` (seen with 6.11.3, once in some
300 starts, while pyqtgraph was imported on a thread: that names every class). Making all of them takes about 0.1 s.
"""

from __future__ import annotations

from PySide6 import QtCore, QtGui, QtWidgets


def make_all() -> int:
    """Names every class while no other thread names any; returns how many names that were."""
    names = [(module, name) for module in (QtCore, QtGui, QtWidgets) for name in dir(module)]
    for module, name in names:
        getattr(module, name, None)
    return len(names)
