"""Every command in another user's home, as under `sudo -E`: nothing of his is run, and the answer says what it goes without."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import ModuleType

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.cli import detect, doctor, explain, plan, shell, undo, use
from gpuassist.context import Session
from gpuassist.install.records import installs, root
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.system.untrusted_state import UntrustedStateError
from tests.changes.homes import make_toolkit, world_at
from tests.cli.runs import run
from tests.strangers import given_away

START_UP = (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish")


@pytest.fixture
def theirs(home: Path) -> Path:
    """A home whose start-up files say that they were run."""
    for name in START_UP:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"touch {home}/ran\nexport CUDA_HOME={home}/cuda-12.4\n")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "cuda-12.4" / "version.json").write_text('{"cuda": {"version": "12.4.1"}}')
    (home / "cuda-12.4" / "bin" / "nvcc").write_text(f"#!/bin/sh\ntouch {home}/asked\n")
    return home


def _session(home: Path) -> Session:
    return replace(compose("en"), world=given_away(world_at(home), home, *home.rglob("*")))


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        (doctor, ()),
        (detect, ()),
        (plan, ("torch",)),
        (explain, ("-",)),
        (shell, ()),
        (use, ("cuda", "12.4", "--yes")),
        (use, ("devices", "all", "--yes")),
    ],
)
def test_nothing_of_another_users_is_run(
    theirs: Path, monkeypatch: pytest.MonkeyPatch, verb: ModuleType, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"nothing")))
    done = run(verb, _session(theirs), *arguments)
    assert "belongs to another user" in " ".join((done.out + done.err).split())
    assert not (theirs / "ran").exists()
    assert not (theirs / ".local").exists()
    assert "cuda-12.4" not in (theirs / ".bashrc").read_text().replace(f"{theirs}/cuda-12.4", "")


@pytest.mark.parametrize("verb", [doctor, detect])
def test_a_strangers_nvcc_is_not_run_as_root(theirs: Path, verb: ModuleType) -> None:
    session = _session(theirs)
    if session.world.surroundings.uid:
        pytest.skip("NOT RUN: an ordinary user runs what he finds; tests/detect hold the rule itself")
    done = run(verb, session)
    assert verb is doctor or "is not run as root" in " ".join(done.out.split())
    assert not (theirs / "asked").exists()


def test_nothing_is_installed_into_another_users_home(theirs: Path) -> None:
    with pytest.raises(UntrustedStateError) as error:
        run(plan, _session(theirs), "--resume", "--yes")
    assert "belongs to another user" in ENGLISH(error.value.reason)
    assert not (theirs / ".local").exists()


def test_undo_says_why_it_takes_nothing_from_a_journal_that_others_write(home: Path) -> None:
    session = Session(world_at(home), compose("en").knowledge, ENGLISH)
    journal = home / ".local" / "state" / "gpuassist" / "journal"
    journal.mkdir(parents=True)
    journal.chmod(0o777)
    for arguments in ((), ("--list",), ("--list", "--json"), ("20990101-000000-aaaaaa",)):
        done = run(undo, session, *arguments)
        assert done.exit is Exit.PROBLEMS
        assert "everybody may write in it" in " ".join((done.out + done.err).split())


def test_undo_list_names_what_it_leaves_out(home: Path) -> None:
    session = Session(world_at(home), compose("en").knowledge, ENGLISH)
    journal = home / ".local" / "state" / "gpuassist" / "journal"
    journal.mkdir(parents=True, mode=0o700)
    for place in list(journal.parents)[:3]:
        place.chmod(0o755)
    (journal / "one.json").write_text("{}")
    (journal / "one.json").chmod(0o666)
    done = run(undo, session, "--list")
    assert done.exit is Exit.HEALTHY
    assert f"{journal}/one is not used" in done.err


def test_the_doctor_says_that_installs_on_record_are_not_looked_at(home: Path) -> None:
    session = replace(compose("en"), world=world_at(home))
    place = Path(root(session.world))
    place.mkdir(parents=True)
    place.chmod(0o777)
    assert installs(session.world) == ()
    assert "everybody may write in it" in run(doctor, session).err


def test_a_plan_warns_of_what_others_could_write(theirs: Path) -> None:
    (theirs / ".bashrc").write_text("# mine\n")
    (theirs / ".bashrc").chmod(0o666)
    theirs.chmod(0o777)
    done = run(use, replace(compose("en"), world=world_at(theirs)), "cuda", "12.4", "--dry-run")
    said = " ".join(done.out.split())
    assert (said.count(f"`chmod go-w {theirs}`"), said.count(f"`chmod go-w {theirs}/.bashrc`")) == (1, 1)
