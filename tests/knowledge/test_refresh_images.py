"""The script that reads what NVIDIA tells of its monthly images: pages of the form of its own, and Triton's repository."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path("tools/refresh_images.py").resolve()
TRITON = "nvcr.io/nvidia/tritonserver"
# As the release notes have been worded since 2019; 26.02 kept a sentence of an older month.
NOTES = """<html><h1>Triton Inference Server Release 24.08</h1><p>Ubuntu 22.04 including Python 3.10</p>
<h2>Driver Requirements</h2><p>Release 24.08 is based on CUDA&nbsp;12.6.0.022 which requires NVIDIA Driver release 560 or later.
However, if you are running on a data center GPU, you can use NVIDIA driver release 470.57 (or later R470), or 560.28
(or later R560).</p><p>Release 24.08 supports CUDA compute capability 6.0 and later.</p></html>"""
KEPT = """Triton Inference Server Release 26.02 ... Release 26.02 is based on CUDA 13.1.1 which requires NVIDIA Driver release 575
or later. However, you can use NVIDIA driver release 470.57 (or later R470). Release 26.02 supports CUDA compute capability 7.5."""
# As NVIDIA lays its support matrices out: a table a year, the releases in its first line.
MATRIX = """<h2>TensorFlow: 24.xx Container Images</h2><table>
<tr><th>Container Release</th><th>Release 24.09</th><th>Release 24.08</th></tr>
<tr><td>Operating System</td><td>Ubuntu 22.04</td><td>Ubuntu 22.04</td></tr>
<tr><td>NVIDIA Driver</td><td>Release 24.09 requires 560 or later</td><td>requires 560.28 or later</td></tr>
<tr><td>NVIDIA CUDA</td><td>NVIDIA CUDA 12.6.1.006</td><td>12.6.0.022</td></tr>
<tr><td>NVIDIA TensorRT</td><td>10.4.0.26</td><td>–</td></tr>
<tr><td>Python</td><td>3.10</td><td>3.10</td></tr>
<tr><td>TensorFlow</td><td>2.16.1</td><td>2.16.1</td></tr>
</table><table><tr><td>something else</td><td>1</td></tr></table>"""
_TRTLLM = "Python 3.10.12 | 2.4.0a0+3bcc3cddb5.nv24.7 | 10.3.0 | 0.12.0 | 12.5.1.007 | 555.42.06 | 21G |"
COMPATIBILITY = f"""| 24.08 | {TRITON}:24.08-trtllm-python-py3 | {_TRTLLM}
| 24.08 | {TRITON}:24.08-vllm-python-py3 | Python 3.10.12  | 0.5.0 post1 | 12.6.0.022 | 560.35.03 | 19G |
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    table = tmp_path / "resources/knowledge/images.json"
    table.parent.mkdir(parents=True)
    header = {"kind": "images", "schema": 1, "sources": {"prints": {"text": "an image", "checked": "2026-01-01"}}}
    kept = {
        "family": "nvcr.io/nvidia/pytorch",
        "month": "24.08",
        "cuda": "12.6.0",
        "torch": "2.5.0a0+872d972e41",
        "source": "prints",
    }
    table.write_text(json.dumps([header, kept]), "utf-8")
    return tmp_path


def refresh(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), *arguments]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def page(project: Path, words: str) -> str:
    place = project / f"page{len(words)}.html"
    place.write_text(words, "utf-8")
    return str(place)


def rows(project: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    _, *written = json.loads((project / "resources/knowledge/images.json").read_text("utf-8"))
    return {(row["family"].rpartition("/")[2], row["month"], row.get("variant", "")): row for row in written}


def test_release_notes_are_read(project: Path) -> None:
    assert refresh(project, "--checked", "2026-11-23", "--notes", page(project, NOTES)).returncode == 0
    row = rows(project)["tritonserver", "24.08", ""]
    assert (row["cuda"], row["driver"], row["compat_drivers"]) == ("12.6.0", "560", ["470.57"])
    assert (row["python"], row["system"], row["capability_min"], row["torch"]) == ("3.10", "ubuntu22.04", "6.0", "")


def test_driver_that_cannot_run_its_cuda_is_not_taken(project: Path) -> None:
    refresh(project, "--checked", "2026-11-23", "--notes", page(project, KEPT))
    row = rows(project)["tritonserver", "26.02", ""]
    assert (row["cuda"], row["capability_min"], "driver" in row, "compat_drivers" in row) == ("13.1.1", "7.5", False, False)


def test_support_matrix_is_read_by_its_columns(project: Path) -> None:
    refresh(project, "--checked", "2026-11-23", "--matrix", page(project, MATRIX))
    found = rows(project)
    newer, older = found["tensorflow", "24.09", ""], found["tensorflow", "24.08", ""]
    assert (newer["cuda"], newer["tensorrt"], newer["version"], newer["driver"]) == ("12.6.1", "10.4.0.26", "2.16.1", "560")
    assert (older["cuda"], older["driver"], older["system"], "tensorrt" in older) == ("12.6.0", "560.28", "ubuntu22.04", False)


def test_page_that_names_no_image_is_told(project: Path) -> None:
    done = refresh(project, "--check", "--notes", page(project, "<p>nothing</p>"))
    assert (done.returncode, "names no image and month" in done.stderr) == (1, True)


def test_what_a_page_does_not_tell_stays_and_its_day_is_noted(project: Path) -> None:
    words = NOTES.replace("Triton Inference Server", "PyTorch")
    refresh(project, "--checked", "2026-11-23", "--notes", page(project, words))
    assert rows(project)["pytorch", "24.08", ""]["torch"] == "2.5.0a0+872d972e41"
    header, *_ = json.loads((project / "resources/knowledge/images.json").read_text("utf-8"))
    assert header["sources"]["own-notes"]["checked"] == "2026-11-23"
    assert header["sources"]["prints"]["checked"] == "2026-01-01"


def test_check_tells_and_writes_nothing_and_is_quiet_afterwards(project: Path) -> None:
    place = page(project, NOTES)
    first = refresh(project, "--check", "--notes", place)
    assert (first.returncode, "24.08: " in first.stdout) == (1, True)
    assert len(rows(project)) == 1
    refresh(project, "--checked", "2026-11-23", "--notes", place)
    assert refresh(project, "--check", "--notes", place).returncode == 0


@pytest.mark.needs("git")
def test_versions_of_triton_are_those_of_its_branches(project: Path) -> None:
    repository = project / "server"
    (repository / "docs/introduction").mkdir(parents=True)
    (repository / "TRITON_VERSION").write_text("2.49.0\n", "utf-8")
    (repository / "docs/introduction/compatibility.md").write_text(COMPATIBILITY, "utf-8")
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q", "-b", "r24.08", str(repository)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "x"], check=True)
    assert refresh(project, "--checked", "2026-11-23", "--triton", str(repository)).returncode == 0
    found = rows(project)
    assert found["tritonserver", "24.08", ""]["version"] == "2.49.0"
    engine = found["tritonserver", "24.08", "trtllm-python"]
    assert (engine["cuda"], engine["torch"], engine["tensorrt"]) == ("12.5.1", "2.4.0a0+3bcc3cddb5", "10.3.0")
    assert found["tritonserver", "24.08", "vllm-python"]["cuda"] == "12.6.0"
