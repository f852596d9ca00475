"""The real window on a real (virtual) display, clicked through from the first page to the diff."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

ROOT = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("drive_window.py")
EXAMPLE = ROOT / "resources" / "machines" / "02-rtx-4090-cuda-11-7-first.json"

pytestmark = [pytest.mark.needs("Xvfb"), pytest.mark.timeout(600)]  # the window is walked through once for all of them


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1400x900x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        yield ":" + os.read(reader, 16).decode().strip()
    finally:
        server.terminate()
        server.wait()
        os.close(reader)


@pytest.fixture(scope="module")
def run(display: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the clicked window showed, and the folder of its pictures."""
    folder, home = tmp_path_factory.mktemp("pictures"), tmp_path_factory.mktemp("home")
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "DISPLAY": display, "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(folder), "--machine", str(EXAMPLE)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert done.stdout, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document, folder


def _words(run: tuple[dict[str, Any], Path], page: str) -> str:
    assert page in run[0]["seen"], f"never reached: {list(run[0]['seen'])}"
    return "\n".join(run[0]["seen"][page])


def test_window_closes_as_it_should(run: tuple[dict[str, Any], Path]) -> None:
    assert run[0]["status"] == 0


def test_first_page_shows_the_recorded_machine(run: tuple[dict[str, Any], Path]) -> None:
    assert "RTX 4090, driver 550, two toolkits" in _words(run, "machine")


def test_second_page_gives_the_answer_in_its_title(run: tuple[dict[str, Any], Path]) -> None:
    assert "One thing stands between you and your RTX 4090" in _words(run, "found")


def test_finding_leads_to_the_diff(run: tuple[dict[str, Any], Path]) -> None:
    diff = _words(run, "diff")
    assert 'export PATH="/usr/local/cuda-11.7/bin:$PATH"' in diff
    assert 'export PATH="/usr/local/cuda-12.4/bin:$PATH"' in diff


def test_recorded_machine_cannot_be_changed(run: tuple[dict[str, Any], Path]) -> None:
    assert run[0]["seen"]["apply enabled"] == ["False"]


def test_what_if_tells_what_makes_the_machine_fit(run: tuple[dict[str, Any], Path]) -> None:
    assert "Works after" in _words(run, "What if")


def test_a_pasted_error_is_explained_with_this_machine(run: tuple[dict[str, Any], Path]) -> None:
    words = _words(run, "Explain")
    assert "CUDA 11.7 cannot build for RTX 4090" in words
    assert "Missing details were taken from the recorded machine." in words


def test_a_quote_selects_its_line(run: tuple[dict[str, Any], Path]) -> None:
    assert "nvcc fatal   : Unsupported gpu architecture 'compute_89'" in run[0]["seen"]["selected"]


def test_an_explained_error_leads_to_its_repair(run: tuple[dict[str, Any], Path]) -> None:
    assert "Use CUDA 12.4 in new terminals" in _words(run, "repair of the error")


@pytest.mark.parametrize("page", ["Verify", "Live memory"])
def test_page_says_why_it_is_off(run: tuple[dict[str, Any], Path], page: str) -> None:
    assert "recorded machine" in _words(run, page)


@pytest.mark.parametrize("page", ["machine", "found", "repair", "Verify", "Live memory", "What if", "Explain"])
def test_page_is_painted(run: tuple[dict[str, Any], Path], page: str) -> None:
    image = QImage(str(run[1] / f"{page}.png"))
    places = ((x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7))
    assert len({image.pixel(x, y) for x, y in places}) > 10
