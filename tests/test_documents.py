"""The documents name only what is there, and the page of the JSON documents has the keys that the commands print."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.cli import detect, doctor, explain, holders, plan, setup, shell
from gpuassist.cli.main import COMMANDS, parser_of
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.session import own_state
from tests.cli.made_session import live_session, run_live
from tests.values import knowledge

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
MACHINE = ROOT / "resources" / "machines" / "02-rtx-4090-cuda-11-7-first.json"
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
LINKED = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)|src(?:set)?=\"([^\":]+)\"")
MADE = ("dist/", "share/", "licences/", "_internal/")  # below dist/, by `make package`
GUIDE = (ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md")), ROOT / "docs" / "security.md")
PICTURES = ROOT / "docs" / "guide" / "pictures"
PICTURES_BYTES_AT_MOST = 3_000_000
LABEL = re.compile(r"\*\*([^*\n]+)\*\*")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def _is_there(name: str) -> bool:
    return any((base / name).exists() for base in (ROOT, ROOT / "gpuassist", ROOT / "resources"))


def test_files_that_a_page_names_are_there() -> None:
    missing: list[str] = []
    for page in PAGES:
        written = page.read_text("utf-8")
        links = [link or picture for link, picture in LINKED.findall(written)]
        missing += [f"{page.name}: {link}" for link in links if not (page.parent / link).exists()]
        if page.parent.name != "decisions":  # those also name what stood there before
            named = {
                name
                for name in NAMED.findall(written)
                if name.endswith((".py", ".md", ".json", ".toml", "/")) and not name.startswith(MADE)
            }
            missing += [f"{page.name}: {name}" for name in sorted(named) if "/" in name and not _is_there(name)]
    assert missing == []


def test_headings_that_a_page_leads_to_are_there() -> None:
    missing = []
    for page in PAGES:
        for name, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text("utf-8")):
            headings = re.findall(r"^#+ (.+)$", (page.parent / name if name else page).read_text("utf-8"), re.MULTILINE)
            if anchor not in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}:
                missing.append(f"{page.name}: {name}#{anchor}")
    assert missing == []


def test_page_of_json_documents_has_the_keys_that_are_printed(tmp_path: Path) -> None:
    rows = re.findall(r"^\| `(\w+)[^|]*\| (.*) \|$", (ROOT / "docs" / "json.md").read_text("utf-8"), re.MULTILINE)
    told = {command: re.findall(r"`(\w+)`", keys) for command, keys in rows}
    pasted = tmp_path / "pasted.txt"
    pasted.write_text("nvcc fatal   : Unsupported gpu architecture 'compute_89'\n")
    session = Session(live_session({}).world, knowledge(), ENGLISH)
    runs = ((detect, ()), (doctor, ()), (explain, (str(pasted),)), (plan, ("torch",)), (setup, ()), (holders, ()), (shell, ()))
    for verb, arguments in runs:
        printed = json.loads(run_live(verb, *arguments, "--json", session=session, machine_file=str(MACHINE)).out)
        assert list(printed) == ["schema", *told[verb.NAME]]


def test_labels_that_the_guide_names_are_those_of_the_window() -> None:
    """What stands in bold in a page of the guide is what the window writes there, letter by letter."""
    files = (path for room in ("ui", "session", "present", "knowledge") for path in (ROOT / "gpuassist" / room).rglob("*.py"))
    strings = {string for path in files for string in STRING.findall(path.read_text("utf-8"))}
    told = {(page.name, label) for page in GUIDE[1:-1] for label in LABEL.findall(page.read_text("utf-8"))}
    assert len(told) > 100
    left = [(name, label) for name, label in sorted(told) if label not in strings]
    with_slots = [_with_slots(string) for string in strings if "{" in string and re.match(r"[A-Z]\w\w", string)] if left else []
    assert [one for one in left if not any(pattern.fullmatch(one[1]) for pattern in with_slots)] == []


def _with_slots(string: str) -> re.Pattern[str]:
    return re.compile(".+".join(re.escape(part) for part in re.split(r"\{\w+\}", string)))


def test_commands_that_the_guide_names_are_understood(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(COMMANDS, ENGLISH, ("zh_CN",))
    wrong = [f"{page}: {line}" for page, line, words in _commands() if not _parses(parser, words)]
    assert (wrong, capsys.readouterr().err) == ([], "")


def _parses(parser: argparse.ArgumentParser, words: list[str]) -> bool:
    try:
        parser.parse_args(words)
    except SystemExit:
        return False
    return True


def _commands() -> Iterator[tuple[str, str, list[str]]]:
    for page in GUIDE:
        for block in re.findall(r"^```\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL):
            for line in block.splitlines():
                words = shlex.split(line, comments=True)
                start = next((place for place, word in enumerate(words) if word.startswith("gpuassist")), None)
                if start is None:
                    continue
                given = words[start + 1 :]
                ends = [given.index(sign) for sign in ("--", ">", "|") if sign in given]
                yield page.name, line, given[: min(ends, default=len(given))]


def test_every_picture_is_shown_in_both_themes_and_all_of_them_are_small() -> None:
    written = "".join(page.read_text("utf-8") for page in GUIDE)
    shown = {Path(name).name for name in re.findall(r"[\w./-]+\.png", written)}
    assert {path.name for path in PICTURES.glob("*.png")} == shown
    light = {name for name in shown if name.endswith("-light.png")}
    assert {name.replace("-light", "-dark") for name in light} | light | {"card.png"} == shown
    assert sum(path.stat().st_size for path in PICTURES.glob("*.png")) <= PICTURES_BYTES_AT_MOST


def test_everything_that_is_kept_is_told_of_in_the_security_page() -> None:
    written = (ROOT / "docs" / "security.md").read_text("utf-8")
    assert [name for name in own_state._STATE if f"gpuassist/{name}`" not in written] == []
