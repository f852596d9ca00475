"""`gpuassist use cuda` over all start-up files: which lines are retired, rewritten or left, and the same taken back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes.undo import undo
from gpuassist.cli import use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import make_toolkit, world_at
from tests.cli.runs import run


@pytest.fixture
def session(home: Path) -> Session:
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    old = f"{home}/cuda-11.7"
    (home / ".bashrc").write_text(f"export PATH={old}/bin:$PATH\nif true; then\n  export CUDA_HOME={old}\nfi\n")
    (home / ".profile").write_text(f". ~/.bashrc\nexport LD_LIBRARY_PATH={old}/lib64:/mine:$LD_LIBRARY_PATH\n")
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(run(use, session, "cuda", "12.4", *options, "--json").out)
    assert isinstance(document, dict)
    return document


def _choices(document: dict[str, Any]) -> dict[str, str]:
    home = str(Path.home())
    mine = (line for line in document["lines"] if line["file"].startswith(home))
    return {f"{Path(line['file']).name}:{line['line']}": line["choice"] for line in mine}


def test_suggests_for_every_file(session: Session) -> None:
    assert _choices(_json(session, "--dry-run")) == dict.fromkeys((".bashrc:1", ".bashrc:3", ".profile:2"), "rewrite")


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        (("--retire", "none"), ("leave", "leave", "leave")),
        (("--retire", "all"), ("retire", "retire", "retire")),
        (("--retire", "{home}/.bashrc:3"), ("leave", "retire", "leave")),
        (("--rewrite", "{home}/.bashrc:3"), ("rewrite", "rewrite", "rewrite")),
        (("--keep", "all"), ("leave", "leave", "leave")),
        (("--keep", "~/.profile:2"), ("rewrite", "rewrite", "leave")),
        (("--comment-out", "{home}/.bashrc:3", "--replace", "~/.profile:2"), ("leave", "retire", "rewrite")),
        (("--retire", "none", "--rewrite", "{home}/.bashrc:1,{home}/.bashrc:3"), ("rewrite", "rewrite", "leave")),
        (("--retire", "all", "--rewrite", "~/.profile:2"), ("retire", "retire", "rewrite")),
    ],
)
def test_options_choose_the_lines(session: Session, home: Path, options: tuple[str, ...], choices: tuple[str, ...]) -> None:
    document = _json(session, "--dry-run", *(option.format(home=home) for option in options))
    found = _choices(document)
    assert tuple(found[line] for line in (".bashrc:1", ".bashrc:3", ".profile:2")) == choices


def test_every_file_is_changed_and_proved_and_comes_back(session: Session, home: Path) -> None:
    before = {name: (home / name).read_bytes() for name in (".bashrc", ".profile")}
    document = _json(session, "--yes", "--rewrite", "~/.bashrc:3")
    assert (document["result"], document["proof"]["holds"]) == ("modified", True)
    assert [Path(file["file"]).name for file in document["files"]] == [".bashrc", ".profile"]
    old, new = f"{home}/cuda-11.7", f"{home}/cuda-12.4"
    after = {name: (home / name).read_text() for name in before}
    assert after == {name: content.decode().replace(old, new) for name, content in before.items()}
    undo(session.world, document["change"])
    assert {name: (home / name).read_bytes() for name in before} == before


def test_twice_is_once(session: Session, home: Path) -> None:
    _json(session, "--yes", "--retire", "all")
    once = (home / ".bashrc").read_bytes(), (home / ".profile").read_bytes()
    assert _json(session, "--yes", "--retire", "all")["result"] == "unchanged"
    assert ((home / ".bashrc").read_bytes(), (home / ".profile").read_bytes()) == once


def test_what_becomes_of_a_line_is_shown(session: Session, home: Path) -> None:
    out = run(use, session, "cuda", "12.4", "--dry-run").out
    assert f"  {home}/.profile:\n  [~] 2: puts" in out
    assert f"      becomes: export LD_LIBRARY_PATH={home}/cuda-12.4/lib64:/mine:$LD_LIBRARY_PATH" in out
    assert "3 lines of yours are changed where they name the toolkit" in out


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("12", "names no line"),
        ("~/.bashrc:x", "names no line"),
        ("~/.bashrc:2", "sets none of the variables"),
        ("~/.other:1", "sets none of the variables"),
    ],
)
def test_a_line_that_is_none_is_wrong_usage(session: Session, option: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        run(use, session, "cuda", "12.4", "--dry-run", "--retire", option.replace("~", str(Path.home())))
    assert says in ENGLISH(raised.value.reason)


def test_a_file_that_may_not_be_written_is_left_with_a_word(session: Session, home: Path) -> None:
    (home / ".profile").chmod(0o444)
    document = _json(session, "--dry-run")
    assert _choices(document)[".profile:2"] == "leave"
    (line,) = (line for line in document["lines"] if line["file"] == f"{home}/.profile")
    assert "read-only" in line["why"]


@pytest.mark.parametrize("options", [(), ("--also-login",)])
def test_the_login_file_gets_the_block_where_it_does_not_read_the_other(
    session: Session, home: Path, options: tuple[str, ...]
) -> None:
    (home / ".profile").write_text("alias x=y\n")
    document = _json(session, "--yes", *options)
    assert any("the same lines are written there" in note for note in document["notes"])
    assert "# >>> gpuassist" in (home / ".profile").read_text()
    undo(session.world)
    assert (home / ".profile").read_text() == "alias x=y\n"


def test_a_block_in_the_login_file_follows(session: Session, home: Path) -> None:
    (home / ".profile").write_text("alias x=y\n")
    run(use, session, "cuda", "11.7", "--yes", "--also-login")
    _json(session, "--yes")
    assert f"CUDA_HOME={home}/cuda-12.4\n" in (home / ".profile").read_text()


def test_unknown_places_are_no_choice(session: Session) -> None:
    assert run(use, session, "cuda", "12.4", "--dry-run", "--retire", " , ").exit is Exit.HEALTHY
