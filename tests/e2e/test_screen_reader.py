"""What a screen reader is told of the real window, over the real bus: every control of every page by name and role."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from gpuassist.session.navigation import TITLES, SideTool, WizardStep
from tests.e2e.at_spi import ScreenReader, Thing
from tests.ui.accessible import ROWS, faults
from tests.waiting import until
from tools.screenshots import display

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "resources" / "machines" / "02-rtx-4090-cuda-11-7-first.json"
SIDE_LIST = "Steps"
SERVICE = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")


@contextmanager
def screen_reader(variables: dict[str, str]) -> Iterator[ScreenReader]:
    """On a session's bus of its own, which the variables name from then on. What it starts ends with it."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as bus:
        assert bus.stdout is not None
        variables["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().strip()
        reader = ScreenReader(variables["DBUS_SESSION_BUS_ADDRESS"])
        try:
            yield reader
        finally:
            reader.close()
            bus.terminate()


@pytest.mark.slow
@pytest.mark.needs("Xvfb", "dbus-daemon")
def test_a_screen_reader_is_told_of_every_control_on_every_page(tmp_path: Path) -> None:
    if not SERVICE.exists():
        pytest.skip("NOT RUN: needs the bus of assistive technology, install the package at-spi2-core")
    with ExitStack() as stack:
        variables = {
            "HOME": str(tmp_path),
            "XDG_RUNTIME_DIR": str(tmp_path),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "DISPLAY": stack.enter_context(display()),
            "QT_QPA_PLATFORM": "xcb",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        reader = stack.enter_context(screen_reader(variables))
        command = [sys.executable, "-m", "gpuassist", "--machine", str(EXAMPLE)]
        window = stack.enter_context(subprocess.Popen(command, env=variables, cwd=ROOT, stderr=subprocess.DEVNULL))
        stack.callback(window.terminate)
        assert until(reader.programs)
        found = {title: wanting(shown(reader, row)) for title, row in side_list(reader).items()}
        found[SIDE_LIST] = wanting(reader.things(*reader.programs()))
    assert {title: said for title, said in found.items() if said} == {}


def side_list(reader: ScreenReader) -> dict[str, Thing]:
    """The row of each page, once all of them are there."""
    titles = {TITLES[place].message for place in (*WizardStep, *SideTool)}
    rows: dict[str, Thing] = {}

    def are_there() -> bool:
        buttons = (one for one in reader.things(*reader.programs()) if one.told.role == "Button")
        rows.update({title: one for one in buttons if (title := one.told.name.split(",")[0]) in titles})
        return set(rows) == titles

    assert until(are_there), titles - set(rows)
    return rows


def shown(reader: ScreenReader, row: Thing) -> list[Thing]:
    """The window without its side list once the row's page has come and no more of it changes."""
    title, seen = row.told.name.split(",")[0], list[Thing]()

    def has_come() -> bool:
        nonlocal seen
        before, seen = seen, reader.things(*reader.programs(), without=SIDE_LIST)
        return seen == before and any(one.told.name == title and one.told.role == "Client" for one in seen)

    reader.press(row)
    assert until(has_come), title
    return seen


def wanting(things: list[Thing]) -> list[str]:
    return [f"{why}: {one.told}" for one in things for why in (*faults(one.told), *_rows_wanting(one))]


def _rows_wanting(one: Thing) -> Iterator[str]:
    if one.told.role in ROWS and one.rows and not any(name.strip() for name in one.rows):
        yield "no cell is told"
