"""Directories on LD_LIBRARY_PATH that make a program load an older library than its own."""

from __future__ import annotations

from pathlib import Path

from gpuassist.changes.clean_plan import hurting, on_library_path
from gpuassist.changes.shell_files import shell_files
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from tests.changes.homes import world_at
from tests.changes.test_library_path import ENVIRONMENTS
from tests.detect.test_libraries import SITE, TOOLKIT, versioned
from tests.fakes import put, world_under
from tests.formats.made_elf import shared_object


def test_a_directory_that_hurts_says_whom(tmp_path: Path) -> None:
    versioned(tmp_path, TOOLKIT, "libnvJitLink.so.12", "12.1.105")
    wheel = f"{SITE}/nvidia/cusparse/lib/libcusparse.so.12"
    put(tmp_path, wheel, shared_object(("libnvJitLink.so.12",), runpath="$ORIGIN/../../nvjitlink/lib"))
    own = versioned(tmp_path, f"{SITE}/nvidia/nvjitlink/lib", "libnvJitLink.so.12", "12.4.127")
    found = hurting(world_under(tmp_path), Machine(environments=ENVIRONMENTS), (TOOLKIT, "/harmless", TOOLKIT))
    assert found.keys() == {TOOLKIT}
    assert f"libcusparse.so.12 in train loads {TOOLKIT}/libnvJitLink.so.12.1.105 in place of its own {own}" in ENGLISH(
        found[TOOLKIT]
    )


def test_nothing_hurts_where_no_environment_is_known(tmp_path: Path) -> None:
    assert hurting(world_under(tmp_path), Machine(), (TOOLKIT,)) == {}


def test_looks_at_what_the_lines_put_there(home: Path) -> None:
    (home / ".bashrc").write_text("export LD_LIBRARY_PATH=/a/:$X:b:/c:$LD_LIBRARY_PATH PATH=/d:$PATH\n")
    assert list(on_library_path((shell_files(world_at(home)).main,))) == ["/a", "/c"]
