"""The blocks of .envrc, .env and environment.d, read by the programs that read such files."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.changes.scopes import conda, venv
from gpuassist.changes.scopes.block_files import DESKTOP_FILE, desktop_lines, dotenv_lines, envrc_lines, read_envrc
from gpuassist.changes.scopes.values import ScopeValues, Wanted, read_settings, settings_line
from gpuassist.shellfiles.block import RepairError, Sections, devices_section, find, loader_section, toolkit_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, take_back, write
from tests.changes.scopes.shells import BASE, states, watched
from tests.rows import for_each

CHANGE = "20261121-090000-abcdef"
HELD = ScopeValues("/opt/cuda-12.4", "/opt/cuda-12.4/lib64", ("0", "2"))
GENERATOR = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
KINDS = {
    "conda": lambda held: conda.activate_lines("/x", held),
    "conda off": lambda held: conda.deactivate_lines("/x", held),
    "conda fish": lambda held: conda.activate_fish("/x", held),
    "conda fish off": lambda held: conda.deactivate_fish("/x", held),
    "venv": venv.activate_lines,
    "venv fish": venv.activate_fish,
    "envrc": envrc_lines,
    "dotenv": dotenv_lines,
    "desktop": desktop_lines,
}


def test_an_envrc_is_run_with_the_strictest_bash(tmp_path: Path) -> None:
    (tmp_path / ".envrc").write_bytes(write(b"export MINE=1\n", envrc_lines(HELD), LineChanges(), CHANGE))
    (state,) = states("bash", f"set -euo pipefail\n. {tmp_path}/.envrc\n@", {"LD_LIBRARY_PATH": "/x"})
    assert watched(state) == {
        "PATH": "/opt/cuda-12.4/bin:/usr/bin:/bin",
        "CUDA_HOME": "/opt/cuda-12.4",
        "LD_LIBRARY_PATH": "/opt/cuda-12.4/lib64:/x",
        "CUDA_VISIBLE_DEVICES": "0,2",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    assert state["MINE"] == "1"


def test_a_dotenv_holds_no_shell_syntax_and_no_path(tmp_path: Path) -> None:
    content = write(b"TOKEN='a b'\n", dotenv_lines(HELD), LineChanges(), CHANGE)
    block = find(content)
    assert block is not None
    said = [line for line in block.lines if not line.startswith(b"#")]
    assert said == [b"CUDA_HOME=/opt/cuda-12.4", b"CUDA_DEVICE_ORDER=PCI_BUS_ID", b"CUDA_VISIBLE_DEVICES=0,2"]
    (tmp_path / ".env").write_bytes(content)
    (state,) = states("bash", f"set -a\n. {tmp_path}/.env\n@")
    assert (state["CUDA_HOME"], state["CUDA_VISIBLE_DEVICES"], state["TOKEN"]) == ("/opt/cuda-12.4", "0,2", "a b")


@pytest.mark.skipif(not GENERATOR.exists(), reason="NOT RUN: needs systemd's generator, install the package systemd")
def test_systemd_reads_the_file_of_the_desktop(tmp_path: Path) -> None:
    place = tmp_path / DESKTOP_FILE
    place.parent.mkdir(parents=True)
    place.write_bytes(write(b"", desktop_lines(HELD), LineChanges(), CHANGE))
    given_ = {**BASE, "HOME": str(tmp_path), "PATH": "/usr/bin"}
    said = subprocess.run([GENERATOR], env=given_, capture_output=True, timeout=100, check=True).stdout.decode().splitlines()
    assert {"PATH=/opt/cuda-12.4/bin:/usr/bin", "LD_LIBRARY_PATH=/opt/cuda-12.4/lib64", "CUDA_VISIBLE_DEVICES=0,2"} <= set(said)


@pytest.mark.parametrize("kind", KINDS)
def test_what_nothing_is_chosen_for_has_no_lines(kind: str) -> None:
    assert KINDS[kind](ScopeValues()) == ()


@pytest.mark.parametrize("root", ["/opt/my cuda", "/opt/$x", "/opt/a'b", "/opt/a#b", "/opt/é"])
@pytest.mark.parametrize("kind", ["dotenv", "desktop"])
def test_a_path_that_would_need_quotes_is_refused(kind: str, root: str) -> None:
    with pytest.raises(RepairError):
        KINDS[kind](ScopeValues(root))


@for_each("root", ["/opt/a\nb", "/opt/a:b", "opt", "/"])
@for_each("kind", KINDS)
def test_a_path_that_no_line_holds_is_refused(kind: str, root: str) -> None:
    with pytest.raises(RepairError):
        KINDS[kind](ScopeValues(root))


_paths = st.text(st.characters(exclude_characters="\n\r\0:/", codec="utf-8"), min_size=1, max_size=8).map("/opt/{}".format)
_held = st.builds(ScopeValues, _paths, st.just(""), st.lists(st.sampled_from(("0", "3", "GPU-1")), max_size=2).map(tuple))


@given(_held)
def test_what_is_held_is_read_back_from_its_line(held: ScopeValues) -> None:
    assert read_settings((b"# x", settings_line(held), b"export A=1")) == held


@pytest.mark.parametrize(
    "line", [b"", b"# Settings: ", b"# Settings: []", b'# Settings: {"devices": 1}', b"# Settings: 7", b"CUDA_HOME=/x"]
)
def test_a_line_that_somebody_broke_says_nothing(line: bytes) -> None:
    assert read_settings((line,)) == ScopeValues()


def test_what_is_chosen_leaves_the_rest() -> None:
    both = Wanted("/opt/b", "", None).over(ScopeValues("/opt/a", "/opt/a/lib", ("0",)))
    assert both == ScopeValues("/opt/b", "", ("0",))
    assert Wanted(devices=()).over(both) == ScopeValues("/opt/b")


@pytest.mark.parametrize("kind", KINDS)
@given(
    content=st.binary(max_size=200).filter(lambda content: b"gpuassist" not in content),
    devices=st.sampled_from((("0",), ("GPU-1", "GPU-2"))),
)
def test_the_block_changes_no_byte_of_the_file(kind: str, content: bytes, devices: tuple[str, ...]) -> None:
    lines = KINDS[kind](ScopeValues("/opt/cuda", "", devices))
    once = write(content, lines, LineChanges(), CHANGE)
    assert once.startswith(content)
    assert write(once, lines, LineChanges(), "20261121-090001-abcdef") == once
    assert take_back(once, CHANGE) == content


_SHELL_HELD = st.builds(
    lambda root, libraries, devices: ScopeValues(root, f"{root}/lib64" if root and libraries else "", devices),
    st.just("") | _paths,
    st.booleans(),
    st.lists(st.sampled_from(("0", "3", "GPU-1")), max_size=2).map(tuple),
)


@given(_SHELL_HELD)
def test_an_envrc_is_read_from_its_lines(held: ScopeValues) -> None:
    assert read_envrc(envrc_lines(held)) == held


def test_the_lines_of_a_start_up_file_are_read_alike() -> None:
    for dialect in (Dialect.BASH, Dialect.FISH):
        toolkit, loader = toolkit_section("/opt/c", dialect), loader_section("/opt/c", "/opt/c/lib64", dialect)
        lines = Sections(toolkit, loader, devices_section(("0", "2"), dialect)).lines
        assert read_envrc(lines) == ScopeValues("/opt/c", "/opt/c/lib64", ("0", "2"))
