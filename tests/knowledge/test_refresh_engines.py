"""The script that reads PyPI's documents and a project's matrix of wheels finds in them what the table says of these releases."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.rows import for_each
from tools.refresh_engines import (
    Torches,
    flash_row,
    grouped,
    linux_tags,
    measured_rows,
    pythons_asked,
    pythons_of,
    read_document,
)
from tools.tables import read_table

SCRIPT = Path("tools/refresh_engines.py").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
RECORDED = json.loads(Path("tests/cases/engines/pypi.json").read_text("utf-8"))
TABLES = ("engines.json", "engine_releases.json", "torch.json", "torch_releases.json")
# The recorded documents are cut down to some of their files and of what they ask for.
CUT = {"releases", "pythons", "machines", "libraries", "measured"}
WORKFLOW = """
        os: [ubuntu-22.04, ubuntu-22.04-arm]
        python-version: ["3.10", "3.11"]
        torch-version: ["2.8.0", "2.9.1", "2.10.0.dev20251001"]
        cuda-version: ["12.9.1", "13.0.1"]
        cxx11_abi: ["FALSE", "TRUE"]
"""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    made = tmp_path / "documents"
    made.mkdir()
    for one in RECORDED:
        (made / f"{one['info']['name']}-{one['info']['version']}.json").write_text(json.dumps(one), "utf-8")
    return made


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    for name in TABLES:
        shutil.copy(KNOWLEDGE / name, tmp_path / "resources/knowledge")
    return tmp_path


def measured(documents: Path) -> list[dict[str, Any]]:
    header, engines = read_table(KNOWLEDGE / "engines.json")
    return list(measured_rows(engines, header, documents, Torches(KNOWLEDGE / "torch.json", KNOWLEDGE / "torch_releases.json")))


def test_recorded_documents_say_what_the_table_does(documents: Path) -> None:
    _, rows = read_table(KNOWLEDGE / "engine_releases.json")
    found = measured(documents)
    assert len(found) == len(RECORDED)
    for row in found:
        (release,) = row["releases"]
        known = next(one for one in rows if one["package"] == row["package"] and release in one["releases"])
        assert {key: row[key] for key in row if key not in CUT} == {key: known[key] for key in known if key not in CUT}
        assert set(row.get("machines", ())) <= set(known.get("machines", ()))
        assert set(row.get("pythons", ())) <= set(known.get("pythons", ()))
        assert set(row.get("libraries", {}).items()) <= set(known.get("libraries", {}).items())


@for_each(
    ("package", "field", "value"),
    [
        ("xformers", "torch", ["==2.10.0"]),
        ("vllm", "torch", ["==2.10.0"]),
        ("vllm", "cuda", [12]),
        ("jax[cuda12]", "cuda", [12]),
        ("onnxruntime-gpu[cuda,cudnn]", "cuda", [13]),
        ("tensorflow[and-cuda]", "cuda", [12]),
        ("torch-tensorrt", "torch", ["<2.9.0,>=2.8.0"]),
        ("torch-tensorrt", "cuda", [12]),
        ("triton", "torch", ["==2.9.1"]),
        ("isaaclab", "cuda", [13]),
        ("sglang", "cuda", [13]),
        ("cupy-cuda12x[ctk]", "cuda", [12]),
    ],
)
def test_fields_are_what_the_documents_show(documents: Path, package: str, field: str, value: object) -> None:
    assert value in [row[field] for row in measured(documents) if row["package"] == package]


@for_each(
    ("files", "asked", "python", "pythons"),
    [
        (("a-1-cp310-cp310-manylinux_2_28_x86_64.whl", "a-1-cp39-cp39-manylinux_2_28_x86_64.whl"), "", "", ["3.9", "3.10"]),
        (("a-1-cp38-abi3-manylinux_2_28_x86_64.whl",), ">=3.10,<3.14", "<3.14,>=3.10", []),
        (("a-1-cp310-abi3-manylinux_2_28_x86_64.whl",), ">=3.8", ">=3.8,>=3.10", []),
        (("a-1-py3-none-any.whl",), ">=3.9", ">=3.9", []),
        (("a-1-cp313-cp313t-manylinux_2_28_x86_64.whl",), "", "", ["3.13"]),
    ],
)
def test_pythons_are_those_of_the_wheels(files: tuple[str, ...], asked: str, python: str, pythons: list[str]) -> None:
    wheels = [tags for name in files if (tags := linux_tags(name)) is not None]
    assert (pythons_asked(asked, wheels), pythons_of(wheels)) == (python, pythons)


@for_each("name", ["a-1-cp310-cp310-win_amd64.whl", "a-1-cp310-cp310-macosx_11_0_arm64.whl", "a-1.tar.gz", "a.whl", ""])
def test_what_is_no_wheel_for_linux_is_left_out(name: str) -> None:
    assert linux_tags(name) is None


def test_a_document_of_another_package_is_left_out(tmp_path: Path) -> None:
    place = tmp_path / "jax-cuda12-plugin-1.json"
    place.write_text(json.dumps({"info": {"name": "jax-cuda12-plugin", "version": "1"}, "urls": []}), "utf-8")
    assert read_document(place, "jax") is None


def test_a_matrix_of_wheels_is_read() -> None:
    row = flash_row("2.9", WORKFLOW)
    assert row is not None
    assert (row["torch"], row["cuda"], row["pythons"], row["machines"]) == (
        ["==2.8.*", "==2.9.*"],
        [12, 13],
        ["3.10", "3.11"],
        ["aarch64", "x86_64"],
    )
    assert flash_row("2.9", "name: something else") is None


def test_neighbours_that_ask_for_the_same_share_a_row() -> None:
    rows = [{"releases": ["3"], "torch": ["==2.9.1"]}, {"releases": ["2"], "torch": ["==2.9.1"]}, {"releases": ["1"], "torch": []}]
    assert [row["releases"] for row in grouped(rows)] == [["3", "2"], ["1"]]


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    environment = {"PYTHONPATH": str(SCRIPT.parent.parent), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False, env=environment)


def test_a_difference_is_shown_and_only_shown(workplace: Path, documents: Path) -> None:
    before = (workplace / "resources/knowledge/engine_releases.json").read_bytes()
    outcome = refresh(workplace, "--check", str(documents))
    assert outcome.returncode == 1
    assert '+ {"engine": "vllm"' in outcome.stdout
    assert (workplace / "resources/knowledge/engine_releases.json").read_bytes() == before


def test_rows_by_hand_stay(workplace: Path, documents: Path) -> None:
    assert refresh(workplace, "--checked", "2026-12-01", str(documents)).returncode == 0
    header, rows = read_table(workplace / "resources/knowledge/engine_releases.json")
    _, before = read_table(KNOWLEDGE / "engine_releases.json")
    assert header["sources"]["pypi"]["checked"] == "2026-12-01"
    assert [row for row in rows if row["source"] != "pypi"] == [row for row in before if row["source"] != "pypi"]
    assert refresh(workplace, "--check", str(documents)).returncode == 0
