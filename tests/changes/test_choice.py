"""Which toolkit a version means, what forbids it, and what is decided about LD_LIBRARY_PATH."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.choice import choose_toolkit, require_executable, version_of
from gpuassist.changes.library_path import choose_loader_path, library_directory
from gpuassist.changes.wishes import LdLibraryPath, WishError
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from tests.fakes import link, put, world_under

AUTO, ON, OFF = LdLibraryPath.AUTO, LdLibraryPath.ON, LdLibraryPath.OFF


def _toolkit(version: str, root: str = "", *, origin: Origin = Origin.LOCAL, nvcc: Fact[str] = NOT_ASKED) -> Toolkit:
    return Toolkit(root or f"/usr/local/cuda-{version}", Known(origin, "x"), Known(Version.parse(version), "x"), nvcc)


def _installed(*toolkits: Toolkit) -> Fact[tuple[Toolkit, ...]]:
    return Known(toolkits, "x")


def _refusal(toolkits: Fact[tuple[Toolkit, ...]], wish: str) -> str:
    with pytest.raises(RepairError) as raised:
        choose_toolkit(toolkits, wish)
    return ENGLISH(raised.value.reason)


ALL = _installed(_toolkit("11.7.1"), _toolkit("12.4.0", "/usr/local/cuda-12.4.0"), _toolkit("12.4.1"), _toolkit("12.8.0"))


@pytest.mark.parametrize(
    ("wish", "root"),
    [
        ("12.4", "/usr/local/cuda-12.4.1"),
        ("12.4.0", "/usr/local/cuda-12.4.0"),
        ("12", "/usr/local/cuda-12.8.0"),
        ("11", "/usr/local/cuda-11.7.1"),
        ("11.7", "/usr/local/cuda-11.7.1"),
        ("v12.8", "/usr/local/cuda-12.8.0"),
        (" 12.8 ", "/usr/local/cuda-12.8.0"),
    ],
)
def test_takes_the_newest_that_fits(wish: str, root: str) -> None:
    assert choose_toolkit(ALL, wish).root == root


def test_takes_a_version_that_only_nvcc_says() -> None:
    toolkit = Toolkit("/opt/cuda", nvcc_version=Known(Version.parse("12.4.131"), "nvcc --version"))
    assert choose_toolkit(_installed(toolkit), "12.4") is toolkit
    assert version_of(toolkit) == "12.4.131"


def test_prefers_usr_local_among_equals() -> None:
    home = _toolkit("12.4.1", "/home/you/cuda-12.4", origin=Origin.HOME)
    assert choose_toolkit(_installed(home, _toolkit("12.4.1")), "12.4").root == "/usr/local/cuda-12.4.1"


@pytest.mark.parametrize("wish", ["12.1", "1", "124", "12.40", "12.4.1.1"])
def test_lists_what_is_installed(wish: str) -> None:
    said = _refusal(ALL, wish)
    assert f"CUDA {wish} is not installed" in said
    assert "12.8.0 (/usr/local/cuda-12.8.0)" in said


def test_says_where_no_toolkit_is() -> None:
    assert "no other toolkit is" in _refusal(_installed(), "12.4")


def test_says_where_nobody_knows() -> None:
    assert "not known: the disk was away" in _refusal(Unknown(text("the disk was away")), "12.4")


@pytest.mark.parametrize("wish", ["", "banana", "12.x", "12.4; rm -rf ~", "12.4rc1", "-1", "12..4", "v"])
def test_a_wish_that_is_no_version_is_wrong_usage(wish: str) -> None:
    with pytest.raises(WishError):
        choose_toolkit(ALL, wish)


@pytest.mark.parametrize(
    ("toolkit", "says"),
    [
        (_toolkit("12.1", "/home/you/conda", origin=Origin.CONDA), "belongs to a Python environment"),
        (_toolkit("12.1", "/home/you/.venv/nvidia", origin=Origin.WHEEL), "belongs to a Python environment"),
        (_toolkit("12.1", "/usr", origin=Origin.PACKAGE), "are on every PATH"),
        (_toolkit("12.1", nvcc=Known("", "x")), "holds no nvcc"),
    ],
)
def test_says_why_a_toolkit_cannot_be_used(toolkit: Toolkit, says: str) -> None:
    assert says in _refusal(_installed(toolkit), "12.1")
    assert "12.1" not in _refusal(_installed(toolkit), "12.2").partition("Installed")[2]


def test_passes_over_what_cannot_be_used() -> None:
    conda = _toolkit("12.4.9", "/home/you/conda", origin=Origin.CONDA)
    assert choose_toolkit(_installed(conda, _toolkit("12.4.1")), "12.4").root == "/usr/local/cuda-12.4.1"


def test_a_version_may_be_unknown() -> None:
    assert version_of(Toolkit("/opt/cuda")) == "?"


@pytest.mark.parametrize(("wish", "on", "says"), [(ON, True, "you asked for it"), (OFF, False, "you asked for no toolkit on it")])
def test_does_as_asked_with_the_loader_path(tmp_path: Path, wish: LdLibraryPath, on: bool, says: str) -> None:
    choice = choose_loader_path(world_under(tmp_path).files, _toolkit("12.4"), wish)
    assert choice.on is on
    assert says in ENGLISH(choice.reason)


@pytest.mark.parametrize(
    "line", ["/usr/local/cuda-12.4/lib64\n", "# NVIDIA\n/usr/local/cuda-12.4/lib64/  # all\n", "/usr/local/cuda/lib64\n"]
)
def test_auto_names_the_file_that_lists_the_toolkit(tmp_path: Path, line: str) -> None:
    put(tmp_path, "/usr/local/cuda-12.4/lib64/libcudart.so.12")
    link(tmp_path, "/usr/local/cuda", "cuda-12.4")
    put(tmp_path, "/etc/ld.so.conf.d/cuda.conf", line)
    choice = choose_loader_path(world_under(tmp_path).files, _toolkit("12.4"), AUTO)
    assert not choice.on
    assert "/etc/ld.so.conf.d/cuda.conf" in ENGLISH(choice.reason)


def test_auto_says_what_it_rests_on(tmp_path: Path) -> None:
    put(tmp_path, "/etc/ld.so.conf.d/other.conf", "/usr/local/cuda-11.7/lib64\ninclude x\n")
    for files in (world_under(tmp_path).files, None):
        choice = choose_loader_path(files, _toolkit("12.4"), AUTO)
        assert not choice.on
        assert "no program of this machine was looked at" in ENGLISH(choice.reason)


@pytest.mark.parametrize(("present", "found"), [("lib64", "lib64"), ("lib", "lib"), ("", "lib64")])
def test_finds_the_library_directory(tmp_path: Path, present: str, found: str) -> None:
    if present:
        put(tmp_path, f"/usr/local/cuda-12.4/{present}/x")
    assert library_directory(world_under(tmp_path).files, _toolkit("12.4")) == f"/usr/local/cuda-12.4/{found}"


def test_a_recording_has_the_usual_library_directory() -> None:
    assert library_directory(None, _toolkit("12.4")) == "/usr/local/cuda-12.4/lib64"


@pytest.mark.parametrize(("mode", "says"), [(None, "does not exist"), (0o644, "is not executable")])
def test_an_nvcc_that_cannot_win_is_refused(tmp_path: Path, mode: int | None, says: str) -> None:
    if mode is not None:
        put(tmp_path, "/usr/local/cuda-12.4/bin/nvcc", mode=mode)
    with pytest.raises(RepairError) as raised:
        require_executable(world_under(tmp_path).files, _toolkit("12.4"))
    assert says in ENGLISH(raised.value.reason)


def test_an_executable_nvcc_is_accepted(tmp_path: Path) -> None:
    put(tmp_path, "/usr/local/cuda-12.4/bin/nvcc", mode=0o755)
    require_executable(world_under(tmp_path).files, _toolkit("12.4"))
