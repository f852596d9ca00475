"""What lies below `share/` wherever gpuassist is installed: the entry of the desktop's menu, icons, what a software centre shows,
the manual page, and what bash, zsh and fish complete.

Run from anywhere: `python packaging/make_share.py DIRECTORY`. A build of the wheel runs it (`hatch_build.py`), and the bundle's.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import shtab

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT), str(HERE)]  # as a build of the wheel runs it: nothing of ours is installed

import man_page  # noqa: E402 -- beside this file

from gpuassist import __version__  # noqa: E402
from gpuassist.cli.main import COMMANDS, parser_of  # noqa: E402
from gpuassist.model.words import ENGLISH  # noqa: E402

LANGUAGES = tuple(sorted(["en", *(one.stem for one in (ROOT / "resources" / "words").glob("*.po"))]))
COMPLETIONS = {  # where each shell looks below share/, pipx as well
    "bash": "bash-completion/completions/gpuassist",
    "zsh": "zsh/site-functions/_gpuassist",
    "fish": "fish/vendor_completions.d/gpuassist.fish",
}
APPLICATION_ID = "io.github.gpuassist.gpuassist"
_FILES = {"FILE", "OTHER", "PATH", "SOURCE", "MODEL"}
_DIRECTORIES = {"DIR"}


def main() -> None:
    """Makes all of it below the directory that is named."""
    target = Path(sys.argv[1])
    for place, content in share():
        path = target / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    print(f"{sum(1 for one in target.rglob('*') if one.is_file())} files below {target}")


def share() -> Iterator[tuple[str, bytes]]:
    """Each file's place below share/, and its bytes."""
    yield "applications/gpuassist.desktop", (HERE / "share" / "gpuassist.desktop").read_bytes()
    yield f"metainfo/{APPLICATION_ID}.metainfo.xml", (HERE / "share" / f"{APPLICATION_ID}.metainfo.xml").read_bytes()
    yield from _icons()
    yield "man/man1/gpuassist.1", man_page.written(whole_parser(), __version__).encode()
    for shell, place in COMPLETIONS.items():
        yield place, completion(shell).encode()


def _icons() -> Iterator[tuple[str, bytes]]:
    drawn = ROOT / "resources" / "icons"
    yield "icons/hicolor/scalable/apps/gpuassist.svg", (drawn / "gpuassist.svg").read_bytes()
    yield "icons/hicolor/symbolic/apps/gpuassist-symbolic.svg", (drawn / "gpuassist-symbolic.svg").read_bytes()
    for picture in sorted((HERE / "icons").glob("*.png")):
        yield f"icons/hicolor/{picture.stem}x{picture.stem}/apps/gpuassist.png", picture.read_bytes()


def whole_parser() -> argparse.ArgumentParser:
    """The command line with all subcommands and their options, in English."""
    return parser_of(COMMANDS, ENGLISH, LANGUAGES)


def completion(shell: str) -> str:
    """What that shell reads to complete our command line."""
    parser = whole_parser()
    for one in (parser, *subcommands(parser).values()):
        for action in one._actions:
            _say_kind(action)
    return str(shtab.complete(parser, shell))


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """By name, as the parser has them."""
    (verbs,) = (one for one in parser._actions if isinstance(one, argparse._SubParsersAction))
    return dict(verbs.choices)


def _say_kind(action: argparse.Action) -> None:
    if action.metavar in _FILES:
        action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab looks for it
    elif action.metavar in _DIRECTORIES:
        action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
