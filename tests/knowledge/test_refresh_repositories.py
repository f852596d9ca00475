"""The script that reads what a repository lists finds toolkits and drivers in each of its lists, and can only look."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tools import refresh_repositories
from tools.refresh_repositories import NoListError, main, packages, row_of

KNOWLEDGE = Path("resources/knowledge").resolve()
RELEASES = ("12.4", "12.5", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2", "13.3")
# In the shape of NVIDIA's pages: packages of parts, of a major, and others whose names begin the same must not count.
PAGE = """<html><body><h1>Index of /compute/cuda/repos/made44/x86_64</h1><table>
<tr><td><a href='cuda-13-3-13.3.0-1.x86_64.rpm'>cuda-13-3-13.3.0-1.x86_64.rpm</a></td><td>8.0KB</td></tr>
<tr><td><a href='cuda-drivers-610.43.02-1.fc44.x86_64.rpm'>cuda-drivers-610.43.02-1.fc44.x86_64.rpm</a></td></tr>
<tr><td><a href='cuda-drivers-fabricmanager-650-650.57.01-1.x86_64.rpm'>x</a></td></tr>
<tr><td><a href='cuda-toolkit-13-1-13.1.0-1.x86_64.rpm'>cuda-toolkit-13-1-13.1.0-1.x86_64.rpm</a></td></tr>
<tr><td><a href='cuda-toolkit-13-3-13.3.0-1.x86_64.rpm'>cuda-toolkit-13-3-13.3.0-1.x86_64.rpm</a></td></tr>
<tr><td><a href='cuda-toolkit-13-9-config-common-13.9.29-1.noarch.rpm'>x</a></td></tr>
<tr><td><a href='cuda-toolkit-13.3.0-1.x86_64.rpm'>x</a></td></tr>
<tr><td><a href='nvidia-open-615.10.01-1.fc44.noarch.rpm'>nvidia-open-615.10.01-1.fc44.noarch.rpm</a></td></tr>
</table></body></html>
"""
TEXT_PAGE = (
    "Index of /x\n..\ncuda-toolkit-12-4_12.4.0-1_amd64.deb\n4.0KB\n2024-02-29\ncuda-drivers_550.54.14-0ubuntu1_amd64.deb\n4.0KB\n"
)
PACKAGES = """Package: cuda-drivers
Version: 550.54.14-1
Architecture: amd64
Depends: cuda-drivers-550 (>= 550.54.14)

Package: cuda-toolkit-12-4
Version: 12.4.1-1
Architecture: amd64

Package: cuda-toolkit-12-6
Priority: optional
Version: 12.6.0-1

Package: cuda-toolkit-12-config-common
Version: 12.8.0-1

Package: nvidia-driver-pinning-580
Version: 580.65.06-1

"""
PRIMARY = """<?xml version="1.0"?><metadata xmlns="http://linux.duke.edu/metadata/common" packages="2">
<package type="rpm"><name>cuda-toolkit-13-2</name><arch>x86_64</arch>
  <version epoch="0" ver="13.2.1" rel="1"/></package>
<package type="rpm"><name>cuda-drivers</name><arch>x86_64</arch><version epoch="3" ver="595.45.04" rel="1.fc43"/></package>
</metadata>
"""


def read(tmp_path: Path, words: str) -> dict[str, Any]:
    path = tmp_path / "list"
    path.write_text(words, "utf-8")
    before = {"repository": "made44", "architecture": "x86_64"}
    return row_of(before, packages(path), RELEASES, "2026-12-01")


def ends(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("first_toolkit", "last_toolkit", "first_driver", "last_driver"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (PAGE, ("13.1", "13.3", "610.43.02", "615.10.01")),
        (TEXT_PAGE, ("12.4", "12.4", "550.54.14", "550.54.14")),
        (PACKAGES, ("12.4", "12.6", "550.54.14", "550.54.14")),
        (PRIMARY, ("13.2", "13.2", "595.45.04", "595.45.04")),
        ("Index of /x\nnvfwupd-2.1.3-1.aarch64.rpm\n", (None, None, None, None)),
    ],
)
def test_each_list_says_the_first_and_last_toolkit_and_driver(tmp_path: Path, words: str, expected: tuple[str | None, ...]) -> None:
    row = read(tmp_path, words)
    assert ends(row) == expected
    assert (row["begins"], row["seen"], row["checked"]) == (True, "index", "2026-12-01")


def test_releases_between_that_are_missing_are_named(tmp_path: Path) -> None:
    assert read(tmp_path, PAGE)["lacks"] == ["13.2"]
    assert read(tmp_path, PACKAGES)["lacks"] == ["12.5"]
    assert "lacks" not in read(tmp_path, PRIMARY)


def test_packages_that_keep_a_branch_are_found_and_stay(tmp_path: Path) -> None:
    assert read(tmp_path, PACKAGES)["pins"] == [580]
    path = tmp_path / "list"
    path.write_text(PAGE, "utf-8")
    before = {"repository": "made44", "architecture": "x86_64", "pins": [570]}
    assert row_of(before, packages(path), RELEASES, "")["pins"] == [570]


def test_packed_list_reads_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "Packages.gz"
    packed.write_bytes(gzip.compress(PACKAGES.encode()))
    assert ends(row_of({"repository": "a", "architecture": "sbsa"}, packages(packed), RELEASES, "")) == ends(
        read(tmp_path, PACKAGES)
    )


@pytest.mark.parametrize("words", ["", "<html>404 Not Found</html>", "Release: 1\n"])
def test_what_lists_no_packages_is_refused(tmp_path: Path, words: str) -> None:
    with pytest.raises(NoListError):
        read(tmp_path, words)


@pytest.mark.parametrize(("last", "stays"), [("13.3", True), ("13.1", False)])
def test_row_that_got_a_newer_release_does_not_end_any_more(tmp_path: Path, last: str, stays: bool) -> None:
    path = tmp_path / "list"
    path.write_text(PAGE, "utf-8")
    before = {"repository": "made44", "architecture": "x86_64", "last_toolkit": last, "ends": True}
    assert ("ends" in row_of(before, packages(path), RELEASES, "")) is stays


def test_table_is_written_with_the_day_and_only_looked_at_with_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = tmp_path / "repositories.json", tmp_path / "index.html"
    shutil.copy(KNOWLEDGE / "repositories.json", table)
    page.write_text(PAGE, "utf-8")
    monkeypatch.setattr(refresh_repositories, "TABLE", table)
    before = table.read_bytes()
    monkeypatch.setattr("sys.argv", ["refresh", "--check", "fedora44", "x86_64", str(page)])
    assert main() == 1
    assert "13.1" in capsys.readouterr().out
    assert table.read_bytes() == before
    monkeypatch.setattr("sys.argv", ["refresh", "--checked", "2026-12-01", "made44", "x86_64", str(page)])
    assert main() == 0
    rows = json.loads(table.read_text("utf-8"))
    assert rows[-1]["repository"] == "made44"
    assert rows[:-1] == json.loads(before)
    monkeypatch.setattr("sys.argv", ["refresh", "--check", "made44", "x86_64", str(page)])
    assert main() == 0
