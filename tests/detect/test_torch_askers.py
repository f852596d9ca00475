"""Packages that ask for a torch are read from the heads of their metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import torch_askers
from gpuassist.model.environment import TorchAsker
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from tests.rows import for_each

SITE = "/venv/lib/python3.12/site-packages"
PYTHON = Version.parse("3.12.3")


def installed(root: Path, name: str, version: str, *lines: str, site: str = SITE) -> None:
    record = root / site.lstrip("/") / f"{name.replace('-', '_')}-{version}.dist-info"
    record.mkdir(parents=True)
    head = [f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}", *lines]
    (record / "METADATA").write_text("\n".join(head) + "\n\nDescription\nRequires-Dist: torch==0.1\n", "utf-8")


def read(root: Path, *sites: str) -> tuple[TorchAsker, ...]:
    return torch_askers.read(Files(str(root)), sites or (SITE,), PYTHON)


@for_each(
    ("line", "wanted"),
    [
        ("Requires-Dist: torch==2.8.0", "==2.8.0"),
        ("Requires-Dist: torch (==2.0.1)", "==2.0.1"),
        ("requires-dist: torch >=2.10", ">=2.10"),
        ("Requires-Dist: Torch<3,>=2.3", "<3,>=2.3"),
        ("Requires-Dist: torch", ""),
        ("Requires-Dist: torchvision==0.24.1", ""),
        ("Requires-Dist: torch==2.8.0; extra == 'gpu'", ""),
        ('Requires-Dist: torch==2.8.0; platform_system == "Windows"', ""),
        ('Requires-Dist: torch==2.8.0; python_version >= "3.12"', "==2.8.0"),
        ("Requires-Dist: torch @ https://example.org/torch.whl", ""),
        ("Requires-Dist: torch>==2*", ""),
        ("Requires-Dist: numpy", ""),
    ],
)
def test_what_asks_is_read_as_pip_reads_it(tmp_path_factory: pytest.TempPathFactory, line: str, wanted: str) -> None:
    root = tmp_path_factory.mktemp("root")
    installed(root, "vllm", "0.11.0", line)
    assert read(root) == ((TorchAsker("vllm", "0.11.0", wanted),) if wanted else ())


def test_several_are_told_by_name_and_torch_itself_is_none(tmp_path: Path) -> None:
    installed(tmp_path, "xformers", "0.0.34", "Requires-Dist: torch==2.10.0")
    installed(tmp_path, "bitsandbytes", "0.50.2", "Requires-Dist: torch<3,>=2.4")
    installed(tmp_path, "torch", "2.10.0", "Requires-Dist: torch==2.10.0")
    assert [one.package for one in read(tmp_path)] == ["bitsandbytes", "xformers"]


def test_of_two_directories_the_first_counts(tmp_path: Path) -> None:
    installed(tmp_path, "vllm", "0.11.0", "Requires-Dist: torch==2.8.0")
    installed(tmp_path, "vllm", "0.12.0", "Requires-Dist: torch==2.9.0", site="/other")
    assert [one.version for one in read(tmp_path, SITE, "/other")] == ["0.11.0"]


def test_a_record_that_is_half_removed_is_none(tmp_path: Path) -> None:
    (tmp_path / SITE.lstrip("/") / "vllm-0.11.0.dist-info").mkdir(parents=True)
    assert read(tmp_path) == ()
    assert read(tmp_path, "/nowhere") == ()
