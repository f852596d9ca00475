"""Adding NVIDIA's repository for a toolkit leaves the driver as it is: pinned where another repository brings it, or where the card
needs an older branch.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from gpuassist.install.outlook import install_ways
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove, ToolkitMove, VersionChange
from gpuassist.knowledge.families import Family
from gpuassist.model.outlook import Method
from gpuassist.model.plan import Step
from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import knowledge

version = Version.parse
ORIGIN = "/etc/apt/preferences.d/00-nvidia-driver-stays"
BRANCH = "nvidia-driver-pinning-580"
EXCLUDED = "setopt cuda-fedora43-x86_64.excludepkgs='nvidia-*"
LOCKED = "zypper addlock --repo cuda-suse16-x86_64 'nvidia-*'"
VERSIONS = "versionlock add '*nvidia*'580'*'"


@dataclass(frozen=True)
class Case:
    """A driver (`there`), what ends with which branch, and the words that the step must have; none where no step is needed."""

    name: str
    family: Family
    repository: str
    there: str
    last: int | None
    release: str
    words: tuple[str, ...] = ()
    release_of_system: str = ""


CASES = (
    Case("Ubuntu's own", Family.UBUNTU, "ubuntu2404", "595.45.04", None, "12.8", (ORIGIN,)),
    Case("Ubuntu's own for Pascal", Family.UBUNTU, "ubuntu2404", "580.95.05", 580, "12.8", (ORIGIN, BRANCH)),
    Case("Ubuntu's own for Pascal, no package that pins", Family.UBUNTU, "ubuntu2204", "580.95.05", 580, "12.8", (ORIGIN,)),
    Case("no driver at all", Family.UBUNTU, "ubuntu2404", "", None, "12.8"),
    Case("Debian's own, which NVIDIA's lacks", Family.DEBIAN, "debian13", "550.163.01", 580, "13.1", (ORIGIN,)),
    Case("NVIDIA's on Debian", Family.DEBIAN, "debian12", "595.45.04", None, "12.8"),
    Case("NVIDIA's on Debian for Pascal", Family.DEBIAN, "debian12", "580.95.05", 580, "12.8", (BRANCH,)),
    Case("RPM Fusion's", Family.FEDORA, "fedora43", "595.45.04", None, "13.2", (EXCLUDED,)),
    Case("RPM Fusion's for Pascal", Family.FEDORA, "fedora43", "580.95.05", 580, "13.2", (EXCLUDED,)),
    Case("SUSE's", Family.OPENSUSE, "suse16", "595.45.04", None, "13.2", (LOCKED,)),
    Case("NVIDIA's on RHEL", Family.RHEL, "rhel10", "595.45.04", None, "13.2"),
    Case("NVIDIA's on RHEL for Volta", Family.RHEL, "rhel10", "580.95.05", 580, "13.0", (VERSIONS,)),
)


def place_of(case: Case) -> InstallPlace:
    system = System(case.repository, driver=version(case.there) if case.there else None, last_branch=case.last, home="/home/you")
    return InstallPlace((case.family, Family.ANY), case.repository, "x86_64", system=system)


def packages(case: Case, place: InstallPlace, driver: DriverMove | None = None) -> tuple[Step, ...]:
    change = VersionChange(driver, toolkit=ToolkitMove(version(case.release)))
    return next(one.steps for one in install_ways(change, place, knowledge()) if one.way is Method.PACKAGES)


@for_each("case", CASES)
def test_driver_stays_as_it_is(case: Case) -> None:
    steps = packages(case, place_of(case))
    told = [line for one in steps for line in one.commands]
    installs = next(number for number, one in enumerate(steps) if any("install cuda-toolkit-" in line for line in one.commands))
    before = "\n".join(line for one in steps[:installs] for line in one.commands)
    assert all(words in before for words in case.words)
    assert bool(before) == bool(case.words)
    assert sum(words in line for line in told for words in (ORIGIN, BRANCH, EXCLUDED, LOCKED, VERSIONS)) == len(case.words)


@for_each("case", [case for case in CASES if ORIGIN in case.words])
def test_apt_is_told_before_it_knows_the_repository(case: Case) -> None:
    lines = [line for one in packages(case, place_of(case)) for line in one.commands]
    told, known = (next(number for number, line in enumerate(lines) if words in line) for words in (ORIGIN, "cuda-keyring"))
    assert told < known


def test_driver_of_nvidias_own_installer_is_no_package_and_that_of_windows_is_not_here() -> None:
    case = CASES[1]
    place = place_of(case)
    for other in (
        replace(place, system=replace(place.system, uninstaller="/usr/bin/nvidia-uninstall")),
        replace(place, families=(Family.WSL, Family.UBUNTU, Family.ANY), repository="wsl-ubuntu"),
        replace(place, families=(Family.CONTAINER, Family.UBUNTU, Family.ANY)),
    ):
        assert not any(ORIGIN in line or BRANCH in line for one in packages(case, other) for line in one.commands)


def test_driver_that_comes_with_the_plan_is_kept_as_well() -> None:
    case = next(one for one in CASES if one.name == "no driver at all")
    steps = packages(case, place_of(case), DriverMove(version("595"), open_module=True))
    assert any(ORIGIN in line for one in steps for line in one.commands)


def test_repository_that_brought_the_driver_is_not_added_again() -> None:
    case = next(one for one in CASES if one.name == "NVIDIA's on Debian")
    place = replace(place_of(case), system=replace(place_of(case).system, driver=None))
    steps = packages(case, place, DriverMove(version("595"), open_module=True))
    lines = [line for one in steps for line in one.commands]
    assert sum("cuda-keyring_1.1-1_all.deb" in line and line.startswith("wget") for line in lines) == 1
