"""The loader's choice among made-up libraries, and beside the real loader's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.detect.loader import Loaded, Loader
from gpuassist.system.files import Files
from tests.fakes import link, put
from tests.formats.made_elf import loader_cache, shared_object


def library(root: Path, path: str, *needed: str, rpath: str = "", runpath: str = "") -> None:
    put(root, path, shared_object(needed, soname=path.rsplit("/", 1)[-1], rpath=rpath, runpath=runpath))


def load(root: Path, program: str, library_path: str = "") -> dict[str, Loaded]:
    return Loader(Files(str(root))).load(program, library_path)


def paths(root: Path, program: str, library_path: str = "") -> dict[str, str]:
    return {soname: one.path for soname, one in load(root, program, library_path).items()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The same library in every place where the loader may look."""
    for directory in ("own", "variable", "cached", "usr/lib"):
        library(tmp_path, f"/{directory}/liba.so")
    put(tmp_path, "/etc/ld.so.cache", loader_cache(("liba.so", "/cached/liba.so")))
    return tmp_path


@pytest.mark.parametrize(
    ("rpath", "runpath", "variable", "found"),
    [
        ("/own", "", "/variable", "/own/liba.so"),
        ("", "/own", "/variable", "/variable/liba.so"),
        ("/own", "/none", "/variable", "/variable/liba.so"),  # a RUNPATH takes the RPATH's force away
        ("", "/own", "", "/own/liba.so"),
        ("", "", "/variable", "/variable/liba.so"),
        ("", "", "", "/cached/liba.so"),
        ("$ORIGIN/../own", "", "", "/own/liba.so"),
        ("${ORIGIN}/../own", "", "", "/own/liba.so"),
        ("/none:/own", "", "", "/own/liba.so"),
        ("", "", ":/none:", "/cached/liba.so"),
    ],
)
def test_order_is_that_of_the_loader(root: Path, rpath: str, runpath: str, variable: str, found: str) -> None:
    library(root, "/app/program", "liba.so", rpath=rpath, runpath=runpath)
    one = load(root, "/app/program", variable)["liba.so"]
    assert os.path.normpath(one.path) == found
    assert one.by_variable is (found.startswith("/variable"))


def test_rpath_of_what_loaded_it_counts_too(root: Path) -> None:
    library(root, "/app/program", "libb.so", rpath="/own")
    library(root, "/own/libb.so", "liba.so")
    assert paths(root, "/app/program")["liba.so"] == "/own/liba.so"


def test_runpath_of_what_loaded_it_does_not(root: Path) -> None:
    library(root, "/app/program", "libb.so", runpath="/own")
    library(root, "/own/libb.so", "liba.so")
    assert paths(root, "/app/program")["liba.so"] == "/cached/liba.so"


def test_what_is_loaded_already_is_taken_again(root: Path) -> None:
    library(root, "/app/program", "liba.so", "libb.so", rpath="/own")
    library(root, "/own/libb.so", "liba.so", runpath="/variable")
    assert paths(root, "/app/program") == {"liba.so": "/own/liba.so", "libb.so": "/own/libb.so"}


def test_library_that_is_nowhere_has_no_path(root: Path) -> None:
    library(root, "/app/program", "libnone.so")
    assert paths(root, "/app/program") == {"libnone.so": ""}


def test_file_that_is_no_library_is_passed_over(root: Path) -> None:
    library(root, "/app/program", "liba.so", rpath="/script:/own")
    put(root, "/script/liba.so", "GROUP ( liba.so.1 )")
    assert paths(root, "/app/program") == {"liba.so": "/own/liba.so"}


def test_origin_is_where_the_file_really_lies(root: Path) -> None:
    library(root, "/real/program", "liba.so", rpath="$ORIGIN/../own")
    link(root, "/bin/program", "/real/program")
    assert os.path.normpath(paths(root, "/bin/program")["liba.so"]) == "/own/liba.so"


def test_circle_of_libraries_ends(root: Path) -> None:
    library(root, "/own/libb.so", "libc.so", rpath="/own")
    library(root, "/own/libc.so", "libb.so", rpath="/own")
    assert set(paths(root, "/own/libb.so")) == {"libb.so", "libc.so"}


def test_what_is_no_program_loads_nothing(root: Path) -> None:
    put(root, "/app/script", "#!/bin/sh\n")
    assert load(root, "/app/script") == {}
    assert load(root, "/app/none") == {}


@pytest.mark.parametrize("variable", ["", "{own}"])
def test_choice_is_the_real_loaders(tmp_path: Path, variable: str) -> None:
    real = next((one for one in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1") if os.path.exists(one)), "")
    assert real, "this machine has no loader that the test knows"
    program = os.path.realpath(sys.executable)
    own = tmp_path / "own"
    own.mkdir()
    other = next(one for one in Loader(Files()).load(program).values() if not one.soname.startswith(("libc.so", "ld-")))
    (own / other.soname).write_bytes(Path(other.path).read_bytes())
    library_path = variable.format(own=own)
    environment = {"LD_LIBRARY_PATH": library_path} if library_path else {}
    said = subprocess.run([real, "--list", program], capture_output=True, text=True, env=environment, check=True).stdout
    listed = {words[0]: words[2] for words in map(str.split, said.splitlines()) if words[1:2] == ["=>"]}
    mine = {soname: one.path for soname, one in Loader(Files()).load(program, library_path).items()}
    assert {soname: os.path.realpath(mine[soname]) for soname in listed} == {
        soname: os.path.realpath(path) for soname, path in listed.items()
    }


def test_rpath_beside_a_runpath_is_not_inherited(tmp_path: Path) -> None:
    library(tmp_path, "/lib/program", "libmiddle.so", rpath="/hidden", runpath="/seen")
    library(tmp_path, "/seen/libmiddle.so", "liba.so")
    library(tmp_path, "/hidden/liba.so")
    assert paths(tmp_path, "/lib/program") == {"libmiddle.so": "/seen/libmiddle.so", "liba.so": ""}
