"""The script that refreshes torch.json reads an installed torch and pip's reports, and tells what differs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path("tools/refresh_torch.py").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
URL = "https://index/torch-{version}-cp312-cp312-manylinux_2_28_{machine}.whl#sha256=0"


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    shutil.copy(KNOWLEDGE / "torch.json", tmp_path / "resources/knowledge")
    return tmp_path


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), "--checked", "2026-12-01", *arguments]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def rows(directory: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((directory / "resources/knowledge/torch.json").read_text("utf-8"))[1:]
    return found


def row(directory: Path, release: str, tag: str, machine: str = "x86_64") -> dict[str, Any]:
    return next(one for one in rows(directory) if (one["release"], one["tag"], one["machine"]) == (release, tag, machine))


def report(directory: Path, version: str, *requires: str, machine: str = "x86_64") -> str:
    metadata = {"name": "torch", "version": version, "requires_dist": list(requires)}
    item = {"download_info": {"url": URL.format(version=version, machine=machine)}, "metadata": metadata}
    other = {"download_info": {"url": "https://index/x.tar.gz"}, "metadata": {"name": "x", "version": "1"}}
    (directory / "report.json").write_text(json.dumps({"version": "1", "install": [other, item]}), "utf-8")
    return "report.json"


def installed(directory: Path, version: str, cuda: str | None, *requires: str) -> str:
    package = directory / "site-packages/torch"
    (package / "lib").mkdir(parents=True)
    (package / "version.py").write_text(f"__version__ = '{version}'\ncuda = {cuda!r}\n", "utf-8")
    (package / "lib/libtorch_python.so").write_bytes(b"\x7fELF\0sm_75 sm_80 sm_130 compute_130\0")
    information = package.parent / f"torch-{version}.dist-info"
    information.mkdir()
    asked = "".join(f"Requires-Dist: {words}\n" for words in requires)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n{asked}\nwords\n", "utf-8")
    (information / "WHEEL").write_text("Wheel-Version: 1.0\nTag: cp312-cp312-manylinux_2_28_x86_64\n", "utf-8")
    return "site-packages/torch"


def pins(directory: Path, release: str, tag: str) -> list[str]:
    return [f"{name}=={versions}" for name, versions in row(directory, release, tag)["pins"].items()]


def test_report_that_agrees_is_no_difference(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", report(workplace, "2.7.1", *pins(workplace, "2.7", "cu126")))
    assert (outcome.returncode, outcome.stdout) == (0, "2.7.1 x86_64: no difference\n")


def test_version_without_a_tag_is_the_default_build(workplace: Path) -> None:
    refresh(workplace, report(workplace, "2.9.2", "nvidia-nccl-cu12==2.30.1; platform_system == 'Linux'"))
    assert row(workplace, "2.9", "cu128")["newest"] == "2.9.2"
    assert row(workplace, "2.9", "cu128")["pins"] == {"nvidia-nccl-cu12": "2.30.1"}
    assert row(workplace, "2.9", "cu126")["newest"] == "2.9.1"


def test_only_rows_that_differ_get_the_day(workplace: Path) -> None:
    refresh(workplace, report(workplace, "2.9.2+cu130", "triton==3.5.2"))
    assert [one["tag"] for one in rows(workplace) if one.get("checked") == "2026-12-01"] == ["cu130"]


def test_check_writes_nothing_and_fails(workplace: Path) -> None:
    before = rows(workplace)
    outcome = refresh(workplace, "--check", report(workplace, "2.7.1", "triton==9"))
    assert outcome.returncode == 1
    assert "'pins': {'triton': '9'}" in outcome.stdout
    assert rows(workplace) == before


def test_what_is_asked_for_elsewhere_is_no_pin(workplace: Path) -> None:
    asked = (
        "triton~=3.9.0; python_version < '3.13'",
        "nvidia-x==1; platform_machine == 'x86_64'",
        "numpy>=1",
        "cuda-y==1; extra == 'y'",
    )
    refresh(workplace, report(workplace, "2.15.1", *asked, machine="aarch64"))
    assert row(workplace, "2.15", "cu132", "aarch64")["pins"] == {"triton": "~=3.9.0"}


def test_toolkit_with_its_parts_is_one_pin(workplace: Path) -> None:
    refresh(workplace, report(workplace, "2.15.1", "cuda-toolkit[cublas,cudart]==13.2.9; platform_system == 'Linux'"))
    assert row(workplace, "2.15", "cu132")["pins"] == {"cuda-toolkit": "13.2.9"}


def test_older_patch_changes_nothing(workplace: Path) -> None:
    before = rows(workplace)
    outcome = refresh(workplace, report(workplace, "2.7.0", "triton==3.3.0"))
    assert outcome.stdout == "2.7.0 x86_64: older than 2.7.1, which the table describes\n"
    assert rows(workplace) == before


def test_unknown_build_is_told_and_left_to_somebody(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", report(workplace, "2.99.0+cu140", "triton==9"))
    assert outcome.returncode == 1
    assert outcome.stdout.startswith("2.99.0+cu140 x86_64: not in the table")


def test_installed_torch_is_measured(workplace: Path) -> None:
    refresh(workplace, installed(workplace, "2.15.1+cu134", "13.4", "triton~=3.9.0"))
    changed = row(workplace, "2.15", "cu134")
    assert (changed["targets"], changed["pins"]) == (["sm_75", "sm_80", "sm_130", "compute_130"], {"triton": "~=3.9.0"})
    assert (changed["newest"], changed["cuda"], changed["checked"]) == ("2.15.1", "13.4", "2026-12-01")


def test_cpu_build_has_no_architectures_to_measure(workplace: Path) -> None:
    refresh(workplace, installed(workplace, "2.15.1+cpu", None))
    assert "targets" not in row(workplace, "2.15", "cpu")


@pytest.mark.parametrize(("words", "url"), [("not a version", URL), ("2.7.1", "https://index/torch-2.7.1.tar.gz")])
def test_what_is_no_wheel_is_refused(workplace: Path, words: str, url: str) -> None:
    item = {
        "download_info": {"url": url.format(version="2.7.1", machine="x86_64")},
        "metadata": {"name": "torch", "version": words},
    }
    (workplace / "report.json").write_text(json.dumps({"install": [item]}), "utf-8")
    outcome = refresh(workplace, "report.json")
    assert outcome.returncode == 1
    assert "not a " in outcome.stderr


def test_written_table_is_one_row_a_line(workplace: Path) -> None:
    refresh(workplace, report(workplace, "2.7.1", *pins(workplace, "2.7", "cu126")))
    lines = (workplace / "resources/knowledge/torch.json").read_text("utf-8").splitlines()
    assert (lines[0], lines[-1], len(lines)) == ("[", "]", len(rows(workplace)) + 3)
