"""The scripts that refresh knowledge read what they are given and say what changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.printed_names import memory_sizes

TOOLS = Path("tools").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
IDS = """# a list
10de  NVIDIA Corporation
\t0fb0  GM200 High Definition Audio
\t128b  GK208B [GeForce GT 710]
\t\t1043 85e7  GeForce GT 710 of a maker
\t1af1  GA100 [A100 NVSwitch]
\t1e30  TU102GL [Quadro RTX 6000/8000]
\t\t10de 129e  Quadro RTX 8000
\t\t10de 12ba  Quadro RTX 6000
\t\t10de 12bb  G-12345
\t2342  GH100 [GH200 120GB / 480GB]
\t2684  AD102 [GeForce RTX 4090]
\t2900  GB100 [Reserved Dev ID A]
\t2b00  GB10B [Jetson AGX Thor]
\t22d1  GB20B PCI bridge
\t2f95  TB500 RP x16
1002  Somebody else
\t744c  AD102 [of another maker]
"""


def run(tool: str, *arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(TOOLS / tool), *arguments], cwd=directory, capture_output=True, text=True, check=False
    )


def written(directory: Path, kind: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((directory / f"resources/knowledge/{kind}.json").read_text("utf-8"))
    return rows


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    shutil.copytree(KNOWLEDGE, tmp_path / "resources/knowledge")
    (tmp_path / "pci.ids").write_text(IDS, "utf-8")
    return tmp_path


def refresh_gpus(directory: Path) -> subprocess.CompletedProcess[str]:
    return run("refresh_gpus.py", "pci.ids", "--package", "a list 1.0", "--checked", "2026-11-21", directory=directory)


def test_gpus_are_taken_from_the_list(workplace: Path) -> None:
    refresh_gpus(workplace)
    rows = {row["pci_id"]: row for row in written(workplace, "gpus")[1:] if row["pci_id"]}
    assert {key: (row["name"], row["chip"]) for key, row in rows.items()} == {
        "10de:128b": ("GeForce GT 710", "GK208"),
        "10de:1e30": ("Quadro RTX 6000/8000", "TU102"),
        "10de:2342": ("GH200 120GB / 480GB", "GH100"),
        "10de:2684": ("GeForce RTX 4090", "AD102"),
        "10de:2900": ("GB100", "GB100"),
        "10de:2b00": ("Jetson AGX Thor", "GB10B"),
    }


def test_names_of_cards_become_aliases(workplace: Path) -> None:
    refresh_gpus(workplace)
    rows = {row["pci_id"]: row for row in written(workplace, "gpus")[1:]}
    assert rows["10de:1e30"]["aliases"] == ["Quadro RTX 8000", "Quadro RTX 6000"]
    assert rows["10de:2342"]["open_module"] == "required"


RELEASED = """
    { 0x1E30, 0x0000, 0x0000, "Quadro RTX 6000" },
    { 0x2235, 0x145a, 0x10de, "NVIDIA A40" },
    { 0x2235, 0x14d5, 0x10de, "NVIDIA A40-1B" },
    { 0x2235, 0x14d7, 0x10de, "NVIDIA A40-48" },
    { 0x2235, 0x14d9, 0x10de, "NVIDIA A40-48Q" },
    { 0x2235, 0x14da, 0x10de, "NVIDIA GeForce RTX 3060" },
    { 0x2684, 0x0000, 0x0000, "NVIDIA GeForce RTX 4090" },
"""
LEGACY = '    { 0x128B, 0x0000, 0x0000,  8,      "GeForce GT 710 Other" },'


def refresh_with_names(directory: Path) -> dict[str, dict[str, Any]]:
    (directory / "pci.ids").write_text(IDS.replace("\t2342", "\t2235  GA102GL [A40]\n\t2342"), "utf-8")
    (directory / "released.h").write_text(RELEASED, "utf-8")
    (directory / "legacy.h").write_text(LEGACY, "utf-8")
    given = ("--released", "released.h", "--legacy", "legacy.h", "--tag", "1.2.3")
    run("refresh_gpus.py", "pci.ids", "--package", "a list", "--checked", "2026-11-21", *given, directory=directory)
    return {row["pci_id"]: row for row in written(directory, "gpus")[1:]}


def test_printed_names_become_aliases(workplace: Path) -> None:
    rows = refresh_with_names(workplace)
    assert rows["10de:128b"]["aliases"] == ["GeForce GT 710 Other"]
    assert "aliases" not in rows["10de:2235"]


def test_largest_virtual_gpu_tells_the_memory(workplace: Path) -> None:
    assert refresh_with_names(workplace)["10de:2235"]["memory_bytes"] == [48 * 2**30]


def test_product_that_no_list_has_is_marked(workplace: Path) -> None:
    rows = refresh_with_names(workplace)
    assert [pci_id for pci_id, row in rows.items() if row.get("unlisted")] == ["10de:2342", "10de:2900", "10de:2b00"]


def test_lists_of_names_are_part_of_the_source(workplace: Path) -> None:
    refresh_with_names(workplace)
    assert "driver 1.2.3" in written(workplace, "gpus")[0]["sources"]["pci.ids"]["text"]


@pytest.mark.parametrize(
    ("name", "names", "gib"),
    [
        ("A100 PCIe 80GB", ("NVIDIA A100 80GB PCIe",), [80]),
        ("RTX 3080 8GB/16GB", (), [8, 16]),
        ("RTX PRO 5000 / RTX PRO 5000 72GB", ("NVIDIA RTX PRO 5000",), []),
        ("GH200 120GB / 480GB", ("NVIDIA GH200 480GB",), []),
        ("GH200 120GB / 480GB", ("NVIDIA GH200 480GB", "NVIDIA GH200-96C"), [96]),
        ("T1000", ("NVIDIA T1000", "NVIDIA T1000 8GB"), []),
        ("T1000", ("NVIDIA T1000 8GB",), [8]),
    ],
)
def test_memory_is_what_every_name_of_it_says(name: str, names: tuple[str, ...], gib: list[int]) -> None:
    assert memory_sizes(name, names) == [size * 2**30 for size in gib]


def test_list_is_named_as_the_source(workplace: Path) -> None:
    refresh_gpus(workplace)
    source = written(workplace, "gpus")[0]["sources"]["pci.ids"]
    assert source["text"].startswith("a list 1.0")
    assert source["checked"] == "2026-11-21"


def test_changed_names_are_shown(workplace: Path) -> None:
    refresh_gpus(workplace)
    (workplace / "pci.ids").write_text(IDS.replace("GeForce RTX 4090", "GeForce RTX 4090 Renamed"), "utf-8")
    outcome = refresh_gpus(workplace)
    assert "0 added, 1 changed, 0 dropped" in outcome.stdout
    assert "changed 10de:2684: GeForce RTX 4090 -> GeForce RTX 4090 Renamed" in outcome.stdout


@pytest.mark.needs("git")
def test_first_driver_of_a_later_product_is_that_which_lists_it(workplace: Path) -> None:
    """Not of what the first list had, of its generation's first, or of a developer beta, whose numbers look older than they are."""
    repository = workplace / "modules"
    git = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    listed = "| Product | PCI ID |\n| ---- | ---- |\n| Quadro RTX 6000 | 1E30 |\n"
    for tag, more in (
        ("515.48.07", ""),
        ("525.47.07", "| RTX 4090 | 2684 |\n| RTX 4060 | 2882 |\n"),
        ("525.78.01", "| RTX 4090 | 2684 |\n"),
        ("525.147.05", "| RTX 4090 | 2684 |\n| RTX 4060 | 2882 |\n| of a maker | 2882 1043 85E7 |\n"),
    ):
        (repository / "README.md").write_text(listed + more, "utf-8")
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", tag], check=True)
        subprocess.run([*git, "tag", tag], check=True)
    (workplace / "pci.ids").write_text(IDS.replace("\t2900", "\t2882  AD107 [GeForce RTX 4060]\n\t2900"), "utf-8")
    arguments = ("pci.ids", "--package", "a list 1.0", "--checked", "2026-11-21", "--listed", "modules")
    assert run("refresh_gpus.py", *arguments, directory=workplace).returncode == 0
    _, *rows = written(workplace, "gpus")
    assert {row["pci_id"]: row["first_driver"] for row in rows if "first_driver" in row} == {"10de:2882": "525.147.05"}
