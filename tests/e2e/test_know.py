"""`gpuassist know`: what it prints to a reader, a script and a pipe, and what a damaged copy of gpuassist says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import gpuassist as package
from gpuassist.session.lookup.ask import KINDS
from tests.e2e.command import Done, gpuassist, gpuassist_here, in_shell
from tests.e2e.contract import check_base, check_record, check_unknown
from tests.e2e.test_examples import PATHS

EXAMPLE = next(path for path in PATHS if "cuda-11-7-first" in path)
KNOWN = (
    ("gpu", "RTX 4090"),
    ("gpu", "10de:2684"),
    ("gpu", "0x2684"),
    ("gpu", "NVIDIA GeForce RTX 4090 Laptop GPU"),
    ("gpu", "GeForce GT 730"),
    ("cuda", "12.4"),
    ("cuda", "12"),
    ("torch", "2.6"),
    ("torch", "2.1.0+cu121"),
    ("torch", "2.6.0a0+git123"),
    ("torch", "1.2"),
    ("driver", "550"),
    ("driver", "550.54.14-0ubuntu1"),
    ("arch", "sm_90a"),
    ("arch", "Ada Lovelace"),
    ("image", "pytorch:23.10-py3"),
    ("wheel", "nvidia-cudnn-cu12"),
    ("conda", "py3.12_cuda12.4_cudnn9.1.0_0"),
    ("xid", "79"),
    ("nvml", "18"),
    ("gpu", "RTX 9090"),
    ("cuda", "99.1"),
    ("torch", "9.9"),
    ("driver", "9999"),
    ("arch", "sm_200"),
)
UNKNOWN = (
    ("gpu", "RTX 4909"),
    ("cuda", "12.7"),
    ("cuda", "latest"),
    ("torch", "2.1.0+cu130"),
    ("driver", "558"),
    ("arch", "sm_82"),
)
WRONG = ((), ("--json",), ("--all",), ("gpuu", "RTX 4090"), ("gpu", "x", "--frobnicate"), ("--all", "--json", "cuda"))


def know(home: Path, *arguments: str) -> Done:
    return gpuassist_here(home, "know", *arguments)


@pytest.mark.parametrize("question", KNOWN, ids=" ".join)
def test_known_name_is_one_sourced_record(home: Path, question: tuple[str, str]) -> None:
    done = know(home, *question, "--json")
    assert (done.status, done.err) == (0, b"")
    document = done.document()
    check_record(document)
    assert document["kind"] == question[0]


@pytest.mark.parametrize("question", UNKNOWN, ids=" ".join)
def test_unknown_name_gets_the_nearest(home: Path, question: tuple[str, str]) -> None:
    done = know(home, *question, "--json")
    assert (done.status, done.err) == (3, b"")
    check_unknown(done.document())
    assert done.document()["nearest"]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_64_and_prints_nothing(home: Path, arguments: tuple[str, ...]) -> None:
    done = know(home, *arguments)
    assert (done.status, done.out) == (64, b"")
    assert done.err


def test_whole_base_is_one_document(home: Path) -> None:
    done = gpuassist(home, "know", "--all", "--json")
    assert (done.status, done.err) == (0, b"")
    check_base(done.document())


@pytest.mark.parametrize("question", [KNOWN[0], KNOWN[7], UNKNOWN[0]], ids=" ".join)
def test_text_says_the_answer_first(home: Path, question: tuple[str, str]) -> None:
    done = know(home, *question)
    first = done.text.splitlines()[0]
    assert question[1] in first
    assert not first.startswith(" ")


def test_names_can_be_piped(home: Path) -> None:
    done = in_shell(home, "$gpuassist know gpu | head -1")
    assert (done.text.count("\n"), done.err) == (1, b"")


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_a_kind_are_the_same_either_way(home: Path, kind: str) -> None:
    assert know(home, kind).text.splitlines() == know(home, kind, "--json").document()["names"]


@pytest.mark.parametrize("variables", [{"LANG": "zh_CN.UTF-8"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_json_is_the_same_anywhere(home: Path, variables: dict[str, str]) -> None:
    done = gpuassist(home, "know", "gpu", "RTX 4909", "--json", **variables)
    assert json.loads(done.out) == know(home, "gpu", "RTX 4909", "--json").document()


def test_help_names_the_kinds(home: Path) -> None:
    done = know(home, "--help")
    assert done.status == 0
    assert all(kind in done.text for kind in KINDS)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gpuassist with its resources, at a place of its own, where one knowledge file can be damaged."""
    here = tmp_path_factory.mktemp("copy")
    package_directory = Path(package.__file__).parent
    shutil.copytree(package_directory, here / "gpuassist")
    if not (package_directory / "_resources").is_dir():
        shutil.copytree(package_directory.parent / "resources", here / "resources")
    return here


def _damaged(copy: Path, home: Path, command: str) -> Done:
    """Runs a command in a copy whose list of architectures has lost one line."""
    for file in copy.rglob("knowledge/architectures.json"):
        lines = file.read_bytes().splitlines()
        file.write_bytes(b"\n".join((*lines[:2], b"@@@", *lines[3:])))
    return in_shell(home, f"cd '{copy}' && $gpuassist {command}")


DAMAGED = b"knowledge/architectures.json, line 3 is damaged and was skipped\n"


@pytest.mark.parametrize(
    "command", ["know gpu 'RTX 4090' --json", "know arch ada --json", f"doctor --json --machine '{EXAMPLE}'", "know --all --json"]
)
def test_damaged_copy_names_the_line_and_works(copy: Path, home: Path, command: str) -> None:
    done = _damaged(copy, home, command)
    assert DAMAGED in done.err
    assert done.status in {0, 1, 2, 3}
    document: Any = done.document()
    assert document["schema"] == 1


def test_damage_elsewhere_is_not_told(copy: Path, home: Path) -> None:
    done = _damaged(copy, home, "know torch 2.6 --json")
    assert (done.status, done.err) == (0, b"")
