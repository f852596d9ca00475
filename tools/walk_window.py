"""Walks through the whole window in every size, text size and language, and says what has too little room.

    python -m tools.walk_window [--language LANG]... [--text-size FACTOR]... [--size 960x540]... [--machine NAME]...
                                [--place PAGE]... [--pictures DIR]

Each language with each text size is a process of its own, offscreen: the text size is the screen's dots an inch, which is what a
desktop's text size comes to. `xx` is the tests' own language, two fifths longer than English. Exits with 1 where something is
cramped. `tools/window_room.py` says what that is, `tools/window_stops.py` what is looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

if TYPE_CHECKING:
    from tools.window_stops import Stand

LANGUAGES = ("en", "zh_CN", "xx")
TEXT_SIZES = (1.0, 1.5, 2.0)
MADE_UP = "xx"  # no language is two fifths longer and in letters of twice the size
SIZES = ("960x540", "1024x700", "1280x800", "1920x1080")
_DOTS_AN_INCH = 96


def main() -> int:
    """Walks in children, or in this process as one of them."""
    options = _options()
    if options.child:
        return _walk(options)
    found = 0
    for language in options.language or LANGUAGES:
        for factor in options.text_size or (TEXT_SIZES[:2] if language == MADE_UP else TEXT_SIZES):
            print(f"== {language}, text × {factor}", flush=True)
            found |= _child(options, language, factor)
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", action="append")
    parser.add_argument("--text-size", action="append", type=float)
    parser.add_argument("--size", action="append")
    parser.add_argument("--machine", action="append", help="one of those of tools/window_stops.py; all without it")
    parser.add_argument("--place", action="append", help="the name of a page, such as what-if; all without it")
    parser.add_argument("--pictures", default="", help="a folder for a picture of each stop that is cramped")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _child(options: argparse.Namespace, language: str, factor: float) -> int:
    more = [f"--pictures={os.path.abspath(options.pictures)}"] if options.pictures else []
    for name, given in (("--size", options.size), ("--machine", options.machine), ("--place", options.place)):
        more += [word for one in given or () for word in (name, one)]
    with tempfile.TemporaryDirectory(prefix="gpuassist-walk-") as home:
        # Outside of the home, whose place is of any length.
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "LANG": "C.UTF-8",
            "QT_QPA_PLATFORM": f"offscreen:configfile={_screen(home, factor)}",
            "PYTHONPATH": str(ROOT),
        }
        arguments = ["--child", "--language", language, "--text-size", str(factor), *more]
        command = [sys.executable, "-m", "tools.walk_window", *arguments]
        return min(1, subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode)


def _screen(home: str, factor: float) -> str:
    """A file that tells the platform of a large screen with so many dots an inch; `QT_FONT_DPI` it does not heed."""
    dots = round(_DOTS_AN_INCH * factor)
    screen = {"name": "walk", "x": 0, "y": 0, "width": 3840, "height": 2160, "logicalDpi": dots, "logicalBaseDpi": dots, "dpr": 1}
    place = Path(home, "screen.json")
    place.write_text(json.dumps({"screens": [screen]}))
    return str(place)


def _walk(options: argparse.Namespace) -> int:
    from PySide6.QtWidgets import QApplication

    from tools.window_stops import Stand, stops

    application = QApplication(["walk"])
    language, factor = options.language[0], options.text_size[0]
    sizes = [tuple(map(int, one.split("x"))) for one in options.size or SIZES]
    found: dict[str, list[str]] = {}
    looked = 0
    with Stand(application, language) as stand:
        for name in stops(stand, options.machine, options.place):
            for width, height in sizes:
                stand.resize(width, height)
                looked += 1
                for line in _cramped(stand):
                    found.setdefault(line, []).append(f"{name} {width}x{height}")
                    if options.pictures:
                        _keep(stand, Path(options.pictures), f"{name}-{width}x{height}-{language}-{factor}")
    for line, where in found.items():
        print(f"{line}\n    at {', '.join(where[:3])}{f' and {len(where) - 3} more' if len(where) > 3 else ''}")
    print(f"{looked} looks, {len(found)} kinds of trouble", flush=True)
    return 1 if found else 0


def _cramped(stand: Stand) -> Iterator[str]:
    from tools.window_room import cramped

    if cramped(stand.shown):
        stand.rest()  # what is laid out a moment later was never seen as it was
        yield from (str(one) for one in cramped(stand.shown))


def _keep(stand: Stand, folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name.replace('/', '-').replace(' ', '-')}.png"
    if not place.exists():
        stand.shown.grab().save(str(place))


if __name__ == "__main__":
    sys.exit(main())
