"""The script that reads NVIDIA's headers finds what the table lacks, keeps what a person said of a code, and can only look."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path("tools/refresh_codes.py").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
NCCL = """
/* Error type; a brace } in a comment ends nothing */
typedef enum { ncclSuccess                 =  0,
               ncclUnhandledCudaError      =  1, // and an = as well
               %s
               ncclNumResults              =  9 } ncclResult_t;
"""


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    shutil.copy(KNOWLEDGE / "codes.json", tmp_path / "resources/knowledge")
    return tmp_path


def wheel(directory: Path, name: str, header: str, words: str) -> str:
    with zipfile.ZipFile(directory / name, "w") as archive:
        archive.writestr(f"nvidia/include/{header}", words)
    return str(directory / name)


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], cwd=directory, capture_output=True, text=True, check=False)


def rows(directory: Path, enum: str) -> dict[str, dict[str, Any]]:
    table: list[dict[str, Any]] = json.loads((directory / "resources/knowledge/codes.json").read_text("utf-8"))
    return {row["name"]: row for row in table[1:] if row["enum"] == enum}


def test_codes_as_the_table_knows_them_are_no_difference(workplace: Path) -> None:
    header = wheel(workplace, "nvidia_nccl_cu12-2.32.3-py3-none-any.whl", "nccl.h", NCCL % "ncclSystemError = 2,")
    outcome = refresh(workplace, "--check", header)
    assert (outcome.returncode, "->" in outcome.stdout) == (0, False), outcome.stderr
    assert "not named any more" in outcome.stdout  # the other six


def test_new_code_is_shown_and_written_for_a_person_to_judge(workplace: Path) -> None:
    before = rows(workplace, "ncclResult_t")
    header = wheel(workplace, "nvidia_nccl_cu12-3.0.0-py3-none-any.whl", "nccl.h", NCCL % "ncclSystemError, ncclGone = 0x2A,")
    assert refresh(workplace, "--check", header).returncode == 1
    assert rows(workplace, "ncclResult_t") == before
    outcome = refresh(workplace, "--checked", "2026-12-01", header)
    assert "ncclResult_t 42 ncclGone: new" in outcome.stdout
    after = rows(workplace, "ncclResult_t")
    assert (after["ncclGone"]["number"], after["ncclGone"]["state"], after["ncclGone"]["checked"]) == (42, "", "2026-12-01")
    assert {name: row for name, row in after.items() if name != "ncclGone"} == before


def test_number_of_an_older_release_is_told_as_such(workplace: Path) -> None:
    status = "typedef enum { CUDNN_STATUS_SUCCESS = 0, CUDNN_STATUS_ODD = 77, CUDNN_STATUS_NOT_INITIALIZED = 1 } cudnnStatus_t;"
    new = wheel(workplace, "nvidia_cudnn_cu12-9.9.0-py3-none-any.whl", "cudnn_graph.h", status.replace("ODD = 77", "EVEN = 78"))
    old = wheel(workplace, "nvidia_cudnn_cu11-8.1.0.77-py3-none-any.whl", "cudnn_ops_infer.h", status)
    assert refresh(workplace, "--checked", "2026-12-01", new, "--older", old).returncode == 0
    found = rows(workplace, "cudnnStatus_t")
    assert (found["CUDNN_STATUS_ODD"]["until"], "until" in found["CUDNN_STATUS_EVEN"]) == ("8.1", False)


def test_header_without_its_enum_stops_it(workplace: Path) -> None:
    (workplace / "nvml.h").write_text("int nothing;", "utf-8")
    outcome = refresh(workplace, "--check", str(workplace / "nvml.h"))
    assert outcome.returncode != 0
    assert "no nvmlReturn_t" in outcome.stderr
