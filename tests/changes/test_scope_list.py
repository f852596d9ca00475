"""The scopes of a machine: which there are, what is chosen there, and why one may not be changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.devices_plan import plan_use_devices
from gpuassist.changes.scope_find import ListedScope, list_scopes, scopes_json
from gpuassist.changes.scope_plan import plan_in_scope
from gpuassist.changes.scopes.kinds import Kind, ViewingProgram
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.wishes import UseCuda, UseDevices
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.changes.homes import make_toolkit
from tests.changes.scoped import furnish, machine, session_at


@pytest.fixture
def session(home: Path) -> Session:
    return session_at(furnish(home))


def _own(session: Session, home: Path) -> dict[str, ListedScope]:
    found = list_scopes(session, f"{home}/project")
    return {one.words: one for one in found if all(path.startswith(str(home)) for path in one.files)}


def test_lists_what_is_on_this_machine(session: Session, home: Path) -> None:
    assert list(_own(session, home)) == [
        "shell",
        "conda:base",
        "conda:ml",
        "conda:other",
        f"venv:{home}/project/.venv",
        f"envrc:{home}/project",
        f"dotenv:{home}/project",
        "jupyter:ml",
        "desktop",
    ]


def test_says_what_is_chosen(session: Session, home: Path) -> None:
    here = machine(home)
    carry_out(session.world, plan_in_scope(session.world, here, UseCuda("12.4", scope="conda:ml")))
    carry_out(session.world, plan_in_scope(session.world, here, UseDevices("1", scope="jupyter:ml")))
    carry_out(session.world, plan_use_devices(session.world, here, UseDevices("0,2")))
    found = _own(session, home)
    assert found["conda:ml"].held == ScopeValues(f"{home}/cuda-12.4")
    assert found["jupyter:ml"].held == ScopeValues(devices=("1",))
    assert found["shell"].held == ScopeValues(devices=("0", "2"))
    assert found["desktop"].held == ScopeValues()


@pytest.mark.parametrize("directory", ["cuda-12.4", "my cuda's"])
def test_a_projects_toolkit_stays_when_gpus_are_chosen_too(session: Session, home: Path, directory: str) -> None:
    make_toolkit(home / directory, "12.4.131")
    here = replace(machine(home), toolkits=Known((Toolkit(f"{home}/{directory}", version=Known(Version.parse("12.4"), "x")),), "x"))
    scope = f"envrc:{home}/project"
    carry_out(session.world, plan_in_scope(session.world, here, UseCuda("12.4", scope=scope)))
    carry_out(session.world, plan_in_scope(session.world, here, UseDevices("0,2", scope=scope)))
    assert _own(session, home)[scope].held == ScopeValues(f"{home}/{directory}", devices=("0", "2"))


def test_names_that_two_environments_share_become_paths(session: Session, home: Path) -> None:
    (home / "miniforge3/envs/ml/conda-meta").mkdir(parents=True)
    assert {f"conda:{home}/miniconda3/envs/ml", f"conda:{home}/miniforge3/envs/ml"} <= set(_own(session, home))


def test_every_listed_scope_can_be_named(session: Session, home: Path) -> None:
    here = machine(home)
    for words in _own(session, home):
        if words != "shell":
            chosen = plan_in_scope(session.world, here, UseDevices("0", scope=words)).scope
            assert chosen is not None
            assert chosen.scope.words == words


def test_says_why_one_may_not_be_changed(home: Path) -> None:
    found = _own(session_at(furnish(home), uid=os.geteuid() + 1), home)
    assert all(one.obstacle is not None for one in found.values())


def test_a_damaged_file_is_a_reason_and_no_end(session: Session, home: Path) -> None:
    (home / ".local/share/jupyter/kernels/ml/kernel.json").write_text("{,}")
    (home / "project/.env").write_text("# <<< gpuassist <<<\n")
    (home / ".bashrc").write_text("# <<< gpuassist <<<\n")
    found = _own(session, home)
    assert "it is not JSON" in ENGLISH(found["jupyter:ml"].obstacle) if found["jupyter:ml"].obstacle else False
    assert found[f"dotenv:{home}/project"].obstacle is not None
    assert list_scopes(session, "")[0].obstacle is not None


def test_the_document_is_for_programs(session: Session, home: Path) -> None:
    document: Any = scopes_json(list_scopes(session, f"{home}/project"), ENGLISH)
    assert [kind["kind"] for kind in document["kinds"]] == [kind.value for kind in Kind]
    assert all(len(kind["seen_by"]) == len(ViewingProgram) for kind in document["kinds"])
    assert document["scopes"][0]["scope"] == "shell"
