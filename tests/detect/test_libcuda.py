"""The driver's library where the loader is led to it, and where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from gpuassist.detect import libcuda
from gpuassist.detect.libcuda import LibcudaFacts
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.version import Version
from tests.facts import reason, value
from tests.fakes import link, put, world_under
from tests.formats.made_elf import loader_cache, shared_object
from tests.machines import libcuda as installed

VERSION = "580.95.05"
DEFAULT = "/usr/lib/x86_64-linux-gnu"


def driver_in(root: Path, folder: str, version: str = VERSION) -> str:
    """A driver's library under both of its names; its real file."""
    put(root, f"{folder}/libcuda.so.{version}", shared_object(soname=libcuda.SONAME))
    link(root, f"{folder}/libcuda.so.1", f"libcuda.so.{version}")
    return f"{folder}/libcuda.so.{version}"


def cache(root: Path, *directories: str) -> None:
    """The loader's cache of a system where ldconfig has run."""
    entries = [(libcuda.SONAME, f"{one}/libcuda.so.1") for one in directories]
    put(root, "/etc/ld.so.cache", loader_cache(*entries, ("libc.so.6", "/lib/libc.so.6")))


def probe(root: Path, library_path: str = "", *, own: Mapping[str, str] | None = None) -> LibcudaFacts:
    variables = (Variable("LD_LIBRARY_PATH", library_path),) if library_path else ()
    terminal: Fact[Terminal] = Known(Terminal("/bin/bash", variables, ()), "bash -i")
    return libcuda.probe(world_under(root, variables=dict(own or {})), terminal)


def paths(found: LibcudaFacts) -> list[str]:
    return [one.path for one in value(found.libraries)]


@pytest.mark.parametrize("folder", ["/opt/cluster/nvidia/lib64", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib"])
def test_library_of_a_new_terminals_variable_is_the_drivers(tmp_path: Path, folder: str) -> None:
    file = driver_in(tmp_path, folder)
    cache(tmp_path)
    found = probe(tmp_path, f"/somewhere/else:{folder}/")
    assert (paths(found), value(found.taken)) == ([file], file)
    assert str(value(value(found.libraries)[0].version)) == VERSION


def test_library_of_this_terminals_variable_counts_too(tmp_path: Path) -> None:
    file = driver_in(tmp_path, "/opt/loaded-module/lib")
    cache(tmp_path)
    found = libcuda.probe(world_under(tmp_path, variables={"LD_LIBRARY_PATH": "/opt/loaded-module/lib"}), NOT_ASKED)
    assert (paths(found), value(found.taken)) == ([file], file)


def test_library_of_the_cache_is_the_drivers(tmp_path: Path) -> None:
    file = driver_in(tmp_path, "/opt/vendor/lib")
    cache(tmp_path, "/opt/vendor/lib")
    found = probe(tmp_path)
    assert (paths(found), value(found.taken)) == ([file], file)


def test_library_to_which_nothing_leads_is_there_and_not_taken(tmp_path: Path) -> None:
    file = driver_in(tmp_path, "/usr/local/nvidia/lib64")
    cache(tmp_path)
    found = probe(tmp_path)
    assert (paths(found), value(found.taken)) == ([file], "")


def test_default_directory_needs_no_cache_entry(tmp_path: Path) -> None:
    file = driver_in(tmp_path, DEFAULT)
    cache(tmp_path)
    assert value(probe(tmp_path).taken) == file


def test_system_without_a_cache_does_not_tell(tmp_path: Path) -> None:
    driver_in(tmp_path, "/run/opengl-driver/lib")
    found = probe(tmp_path)
    assert paths(found) == ["/run/opengl-driver/lib/libcuda.so.580.95.05"]
    assert "/etc/ld.so.cache" in reason(found.taken)


@pytest.mark.parametrize("by_cache", [False, True])
def test_stub_is_taken_and_is_no_library_of_a_driver(tmp_path: Path, by_cache: bool) -> None:
    stubs = "/usr/local/cuda-12.4/lib64/stubs"
    file = driver_in(tmp_path, DEFAULT)
    put(tmp_path, f"{stubs}/libcuda.so.1", shared_object(soname=libcuda.SONAME))
    cache(tmp_path, *([stubs] if by_cache else []))
    found = probe(tmp_path, "" if by_cache else stubs)
    assert (paths(found), value(found.taken)) == ([file], f"{stubs}/libcuda.so.1")


@pytest.mark.parametrize("folder", ["/usr/local/cuda-12.8/compat", "/usr/local/cuda/compat/lib", "/usr/local/cuda/compat/lib.real"])
def test_compatibility_library_is_not_a_second_driver(tmp_path: Path, folder: str) -> None:
    file = driver_in(tmp_path, DEFAULT, "550.54.14")
    newer = driver_in(tmp_path, folder, "570.86.10")
    cache(tmp_path, folder)
    found = probe(tmp_path)
    assert (paths(found), value(found.taken)) == ([file], newer)


def test_library_of_32_bit_is_nobodys(tmp_path: Path) -> None:
    put(tmp_path, "/opt/games/lib/libcuda.so.1", b"\x7fELF\x01 for games")
    cache(tmp_path)
    found = probe(tmp_path, "/opt/games/lib")
    assert (paths(found), value(found.taken)) == ([], "")


def test_source_says_where_was_looked(tmp_path: Path) -> None:
    cache(tmp_path)
    found = probe(tmp_path, "/opt/lib")
    assert isinstance(found.libraries, Known)
    assert isinstance(found.taken, Known)
    assert found.libraries.source == "/usr/lib*/libcuda.so*, /etc/ld.so.cache, LD_LIBRARY_PATH"
    assert found.taken.source == "LD_LIBRARY_PATH, /etc/ld.so.cache"


def test_libcuda_is_its_real_file_once(tmp_path: Path) -> None:
    installed(tmp_path, "580.95.05")
    (library,) = value(probe(tmp_path).libraries)
    assert library.path == "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"
    assert value(library.version) == Version.parse(VERSION)


def test_two_drivers_side_by_side_are_both_listed(tmp_path: Path) -> None:
    installed(tmp_path, "550.54.14")
    put(tmp_path, "/usr/lib/x86_64-linux-gnu/libcuda.so.535.183.01")
    versions = [str(value(library.version)) for library in value(probe(tmp_path).libraries)]
    assert sorted(versions) == ["535.183.01", "550.54.14"]


def test_debians_alternatives_lead_to_one_file(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.183.01")
    link(tmp_path, "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/etc/alternatives/glx--libcuda.so.1")
    link(tmp_path, "/etc/alternatives/glx--libcuda.so.1", "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.535.183.01")
    (library,) = value(probe(tmp_path).libraries)
    assert str(value(library.version)) == "535.183.01"


def test_library_of_wsl_has_no_version_in_its_name(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/wsl/lib/libcuda.so.1.1")
    link(tmp_path, "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so.1.1")
    (library,) = value(probe(tmp_path).libraries)
    assert "does not carry the driver's version" in reason(library.version)


def test_library_of_32_bit_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/libcuda.so.470.1", b"\x7fELF\x01 for games")
    put(tmp_path, "/usr/lib64/libcuda.so.580.95.05", b"\x7fELF\x02")
    assert [library.path for library in value(probe(tmp_path).libraries)] == ["/usr/lib64/libcuda.so.580.95.05"]


def test_dangling_link_is_no_library(tmp_path: Path) -> None:
    link(tmp_path, "/usr/lib64/libcuda.so.1", "libcuda.so.580.95.05")
    assert value(probe(tmp_path).libraries) == ()
