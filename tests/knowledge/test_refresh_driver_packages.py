"""The script that reads the indexes of package repositories: each kind of index on a small one of its format, what differs is told,
and rows of other shelves stay.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.refresh_driver_packages import Package, read_aur, read_listing, read_packages, read_primary

SCRIPT = Path("tools/refresh_driver_packages.py").resolve()
HEADER: dict[str, Any] = {"kind": "driver_packages", "schema": 1, "sources": {"page": {"text": "a page", "checked": "2026-01-01"}}}
HAND = {"distribution": "fedora", "release": "44", "holder": "rpmfusion", "branch": 470, "package": "akmod-nvidia-470xx"}
HAND |= {"newest_kernel": "7.0", "modules": ["proprietary"], "seen": "page", "source": "page"}
OTHER = {"distribution": "arch", "release": "", "holder": "aur", "branch": 580, "modules": ["proprietary"]}
OTHER |= {"seen": "page", "source": "page"}

DEBIAN = """\
Package: nvidia-driver
Version: 550.163.01-2
Depends: nvidia-driver-libs (= 550.163.01-2), nvidia-kernel-dkms (= 550.163.01-2) | nvidia-kernel-550.163.01
Description: NVIDIA metapackage

Package: nvidia-open-kernel-dkms
Version: 550.163.01-2
Depends: dkms
Description: NVIDIA binary kernel module DKMS source

Package: nvidia-tesla-450-driver
Version: 450.248.02-7~deb11u1
Depends: nvidia-tesla-470-driver
Description: NVIDIA metapackage (Tesla 450 version)

Package: nvidia-tesla-470-driver
Version: 470.256.02-1~deb12u1
Depends: nvidia-tesla-470-driver-libs (= 470.256.02-1~deb12u1), nvidia-installer-cleanup
Description: NVIDIA metapackage (Tesla 470 version)

Package: nvidia-cuda-toolkit
Version: 12.4.131~12.4.1-2
Description: NVIDIA CUDA development toolkit
"""
UBUNTU = """\
Package: nvidia-driver-570-open
Version: 570.211.01-0ubuntu1.24.04.1
Depends: nvidia-driver-580-open
Description: NVIDIA driver (open kernel) metapackage (transitional package)

Package: nvidia-driver-570
Version: 570.211.01-0ubuntu1.24.04.1
Depends: nvidia-driver-580
Description: NVIDIA driver metapackage (transitional package)

Package: nvidia-driver-580
Version: 580.173.02-0ubuntu0.24.04.1
Depends: libnvidia-gl-580 (= 580.173.02-0ubuntu0.24.04.1), nvidia-dkms-580 (<= 580.173.02-1)
Description: NVIDIA driver metapackage

Package: nvidia-driver-580-open
Version: 580.173.02-0ubuntu0.24.04.1
Depends: libnvidia-gl-580 (= 580.173.02-0ubuntu0.24.04.1)
Description: NVIDIA driver (open kernel) metapackage
"""
PRIMARY = """\
<?xml version="1.0" encoding="UTF-8"?>
<metadata xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm" packages="3">
<package type="rpm"><name>akmod-nvidia</name><arch>x86_64</arch><version epoch="3" ver="610.43.03" rel="1.fc44"/></package>
<package type="rpm"><name>akmod-nvidia-470xx</name><arch>x86_64</arch><version epoch="3" ver="470.256.02" rel="18.fc44"/></package>
<package type="rpm"><name>steam</name><arch>i686</arch><version epoch="0" ver="1.0.0.85" rel="1.fc44"/></package>
</metadata>
"""
LISTING = """\
<a href="cuda-drivers-610.43.02-1.fc44.x86_64.rpm">cuda-drivers-610.43.02-1.fc44.x86_64.rpm</a> 8.0KB 2026-05-19
<a href="cuda-drivers-615.71.09-1.fc44.x86_64.rpm">cuda-drivers-615.71.09-1.fc44.x86_64.rpm</a> 8.0KB 2026-09-01
<a href="cuda-drivers-fabricmanager-610.43.02-1.x86_64.rpm">cuda-drivers-fabricmanager-610.43.02-1.x86_64.rpm</a>
"""
AUR = json.dumps({"resultcount": 1, "results": [{"Name": "nvidia-580xx-dkms", "Version": "580.159.03-1"}], "type": "multiinfo"})


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    lines = ",\n".join(json.dumps(one) for one in (HEADER, HAND, OTHER))
    (tmp_path / "resources/knowledge/driver_packages.json").write_text(f"[\n{lines}\n]\n", "utf-8")
    return tmp_path


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], cwd=directory, capture_output=True, text=True, check=False)


def given(directory: Path, shelf: str, content: str | bytes) -> str:
    file = directory / "index"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return f"{shelf}={file}"


def rows(directory: Path, **wanted: object) -> list[dict[str, Any]]:
    every: list[dict[str, Any]] = json.loads((directory / "resources/knowledge/driver_packages.json").read_text("utf-8"))[1:]
    return [row for row in every if wanted.items() <= row.items()]


def test_debians_index_has_drivers_under_three_kinds_of_names() -> None:
    assert list(read_packages(DEBIAN)) == [
        Package("nvidia-driver", "550.163.01-2"),
        Package("nvidia-open-kernel-dkms", "550.163.01-2"),
        Package("nvidia-tesla-450-driver", "450.248.02-7~deb11u1", "nvidia-tesla-470-driver"),
        Package("nvidia-tesla-470-driver", "470.256.02-1~deb12u1"),
    ]


def test_ubuntus_transitional_packages_say_where_they_lead() -> None:
    assert {one.name: one.leads for one in read_packages(UBUNTU)} == {
        "nvidia-driver-570-open": "nvidia-driver-580-open",
        "nvidia-driver-570": "nvidia-driver-580",
        "nvidia-driver-580": "",
        "nvidia-driver-580-open": "",
    }


def test_dnfs_metadata_names_version_apart_from_epoch() -> None:
    assert list(read_primary(PRIMARY)) == [Package("akmod-nvidia", "610.43.03"), Package("akmod-nvidia-470xx", "470.256.02")]


def test_a_listing_tells_drivers_from_what_is_named_like_them() -> None:
    assert {one.version for one in read_listing(LISTING)} == {"610.43.02", "615.71.09"}


def test_the_aur_answers_in_json() -> None:
    assert list(read_aur(AUR)) == [Package("nvidia-580xx-dkms", "580.159.03-1")]


def test_whole_index_also_says_what_is_not_in_it(workplace: Path) -> None:
    assert refresh(workplace, "--checked", "2026-11-23", given(workplace, "apt:debian:13:own", DEBIAN)).returncode == 0
    found = {row["branch"]: row for row in rows(workplace, distribution="debian")}
    assert {branch: row.get("brings", branch) for branch, row in found.items()} == {390: 0, 450: 470, 470: 470, 550: 550, 580: 0}
    assert found[550]["modules"] == ["open", "proprietary"]
    assert {row["seen"] for row in found.values()} == {"index"}


def test_testing_is_mixed_with_unstable_and_lacks_nothing_for_sure(workplace: Path) -> None:
    refresh(workplace, "--checked", "2026-11-23", given(workplace, "apt:debian:testing:own", DEBIAN))
    assert all(row.get("brings") != 0 for row in rows(workplace, distribution="debian"))


def test_ubuntus_two_packages_of_a_branch_are_one_row(workplace: Path) -> None:
    refresh(workplace, "--checked", "2026-11-23", given(workplace, "apt:ubuntu:24.04:own", UBUNTU))
    (row,) = rows(workplace, distribution="ubuntu", branch=570)
    assert (row["package"], row["brings"], row["modules"]) == ("nvidia-driver-570", 580, ["open", "proprietary"])


def test_what_an_index_does_not_say_stays(workplace: Path) -> None:
    refresh(workplace, "--checked", "2026-11-23", given(workplace, "rpm:fedora:44:rpmfusion", gzip.compress(PRIMARY.encode())))
    (row,) = rows(workplace, distribution="fedora", branch=470)
    assert (row["newest_kernel"], row["version"], row["seen"]) == ("7.0", "470.256.02", "index")


def test_nvidias_repository_is_where_it_begins(workplace: Path) -> None:
    refresh(workplace, "--checked", "2026-11-23", given(workplace, "listing:fedora:44:nvidia", LISTING))
    (row,) = rows(workplace, holder="nvidia")
    assert (row["branch"], row["extent"], row["version"]) == (610, "begins", "610.43.02")


def test_rows_of_other_shelves_stay(workplace: Path) -> None:
    refresh(workplace, "--checked", "2026-11-23", given(workplace, "apt:debian:13:own", DEBIAN))
    assert rows(workplace, distribution="arch") == [OTHER]


def test_what_differs_is_told_and_check_writes_nothing(workplace: Path) -> None:
    before = rows(workplace)
    outcome = refresh(workplace, "--check", given(workplace, "aur:arch::aur", AUR))
    assert outcome.returncode == 1
    assert "arch::aur 580 nvidia-580xx-dkms" in outcome.stdout
    assert rows(workplace) == before


def test_the_same_index_again_is_no_difference(workplace: Path) -> None:
    index = given(workplace, "apt:debian:13:own", DEBIAN)
    refresh(workplace, "--checked", "2026-11-23", index)
    outcome = refresh(workplace, "--check", index)
    assert (outcome.returncode, outcome.stdout) == (0, "")


def test_place_that_names_no_shelf_is_refused(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", "debian=/nowhere")
    assert outcome.returncode == 1
    assert "not KIND:DISTRIBUTION:RELEASE:HOLDER=FILE" in outcome.stderr
