"""The documents name only what is there, and the page of the JSON documents has the keys that the commands print."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gpuassist.cli import detect, doctor, explain, holders, plan, setup, shell
from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from tests.cli.made_session import live_session, run_live
from tests.values import knowledge

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
MACHINE = ROOT / "resources" / "machines" / "02-rtx-4090-cuda-11-7-first.json"
NAMED = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
LINKED = re.compile(r"\]\(([^)#:]+)\)")


def _is_there(name: str) -> bool:
    return any((base / name).exists() for base in (ROOT, ROOT / "gpuassist", ROOT / "resources"))


def test_files_that_a_page_names_are_there() -> None:
    missing: list[str] = []
    for page in PAGES:
        written = page.read_text("utf-8")
        missing += [f"{page.name}: {link}" for link in LINKED.findall(written) if not (page.parent / link).exists()]
        if page.parent.name != "decisions":  # those also name what stood there before
            named = {name for name in NAMED.findall(written) if name.endswith((".py", ".md", ".json", ".toml", "/"))}
            missing += [f"{page.name}: {name}" for name in sorted(named) if "/" in name and not _is_there(name)]
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
