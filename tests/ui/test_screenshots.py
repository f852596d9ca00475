"""The real window on a real X server: the tool that takes its pictures opens it, walks through it and closes it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage

from gpuassist.ui.palette import DARK, LIGHT
from tests.ui.frames import HEALTHY

_ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.needs("Xvfb")
def test_the_real_window_is_painted_light_and_dark(tmp_path: Path) -> None:
    command = [sys.executable, "tools/screenshots.py", str(tmp_path), "--example", HEALTHY, "--page", "machine", "--page", "found"]
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(_ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=_ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    for page in ("machine", "found"):
        light, dark = (QImage(str(tmp_path / f"{HEALTHY}-{page}-{look}.png")) for look in ("light", "dark"))
        assert (light.width(), light.height()) == (1280, 800)
        assert light.pixelColor(5, 400) == QColor(LIGHT.side)
        assert dark.pixelColor(5, 400) == QColor(DARK.side)
        assert len({light.pixel(x, y) for x in range(256, 700) for y in range(20, 110)}) > 3, "no title"
