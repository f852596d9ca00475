"""Every class of Qt is made before any thread but one could name it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PROBE = """
from PySide6 import QtCore, QtGui, QtSvg, QtWidgets
from gpuassist.ui.page_stack import classes_made

steps = list(classes_made())
for step in steps:
    step()
print(len(steps), len(list(classes_made())), "QWizard" in vars(QtWidgets), isinstance(vars(QtWidgets)["QWizard"], type))
names = {module.__name__: set(vars(module)) for module in (QtCore, QtGui, QtSvg, QtWidgets)}
import pyqtgraph
late = [name for module in (QtCore, QtGui, QtSvg, QtWidgets) for name in set(vars(module)) - names[module.__name__]]
print(len(late))
"""


def test_pyqtgraph_finds_every_class_made(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROBE],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "QT_QPA_PLATFORM": "offscreen"},
    )
    first, second = done.stdout.splitlines()
    count, left, wizard, is_class = first.split()
    assert int(count) > 20  # many turns, none of them long
    assert left == "0"
    assert (wizard, is_class) == ("True", "True")
    assert second == "0"
