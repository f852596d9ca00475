"""`gpuassist use cuda` over all start-up files: which lines are retired, rewritten or left, and the same taken back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes import use_toolkit
from gpuassist.changes.undo import undo
from gpuassist.cli import use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.use import look
from gpuassist.system.terminal import Opening, ShellState, ask_ways
from tests.changes.homes import make_toolkit, world_at
from tests.cli.runs import run


@pytest.fixture
def session(home: Path) -> Session:
    return _session(home)


def _session(home: Path) -> Session:
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    old = f"{home}/cuda-11.7"
    (home / ".bashrc").write_text(f"export PATH={old}/bin:$PATH\nif true; then\n  export CUDA_HOME={old}\nfi\n")
    (home / ".profile").write_text(f". ~/.bashrc\nexport LD_LIBRARY_PATH={old}/lib64:/mine:$LD_LIBRARY_PATH\n")
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


@dataclass(frozen=True)
class Looked:
    """Such a home that nothing is changed in, and what was seen of it."""

    session: Session
    home: Path
    machine: Machine
    shells: dict[Opening, ShellState]


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Looked:
    """Its shells are asked once: which lines an option chooses does not hang on them."""
    home = tmp_path_factory.mktemp("looked")
    session = _session(home)
    return Looked(session, home, look(session), ask_ways(session.world))


@pytest.fixture
def again(looked: Looked, monkeypatch: pytest.MonkeyPatch) -> Looked:
    """For dry runs."""
    monkeypatch.setenv("HOME", str(looked.home))  # what `~` stands for in an option
    monkeypatch.setattr(use, "look", lambda _: looked.machine)
    monkeypatch.setattr(use_toolkit, "ask_ways", lambda _, openings: {one: looked.shells[one] for one in openings})
    return looked


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(run(use, session, "cuda", "12.4", *options, "--json").out)
    assert isinstance(document, dict)
    return document


def _choices(document: dict[str, Any], home: Path) -> dict[str, str]:
    mine = (line for line in document["lines"] if line["file"].startswith(str(home)))
    return {f"{Path(line['file']).name}:{line['line']}": line["choice"] for line in mine}


def test_suggests_for_every_file(session: Session, home: Path) -> None:
    assert _choices(_json(session, "--dry-run"), home) == dict.fromkeys((".bashrc:1", ".bashrc:3", ".profile:2"), "rewrite")


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
def test_options_choose_the_lines(again: Looked, options: tuple[str, ...], choices: tuple[str, ...]) -> None:
    document = _json(again.session, "--dry-run", *(option.format(home=again.home) for option in options))
    found = _choices(document, again.home)
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
def test_a_line_that_is_none_is_wrong_usage(again: Looked, option: str, says: str) -> None:
    with pytest.raises(UsageError) as raised:
        run(use, again.session, "cuda", "12.4", "--dry-run", "--retire", option.replace("~", str(again.home)))
    assert says in ENGLISH(raised.value.reason)


def test_a_file_that_may_not_be_written_is_left_with_a_word(session: Session, home: Path) -> None:
    (home / ".profile").chmod(0o444)
    document = _json(session, "--dry-run")
    assert _choices(document, home)[".profile:2"] == "leave"
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
