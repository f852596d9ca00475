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
from tools.kept_pictures import save_small

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


def test_a_small_picture_keeps_its_flat_colours_and_rare_ones_nearly(tmp_path: Path) -> None:
    side, rare = QColor(LIGHT.side), QColor("#c01030")
    picture = QImage(300, 200, QImage.Format.Format_ARGB32)
    picture.fill(side)
    for x in range(290):
        picture.setPixelColor(x, 50, QColor(x % 256, (x * 7) % 256, 128))
    picture.setPixelColor(295, 100, rare)
    save_small(picture, tmp_path / "small.png")
    small = QImage(str(tmp_path / "small.png"))
    assert small.colorCount() <= 256
    assert small.pixelColor(5, 5) == side
    found = small.pixelColor(295, 100)
    assert abs(found.red() - rare.red()) + abs(found.green() - rare.green()) + abs(found.blue() - rare.blue()) <= 48
