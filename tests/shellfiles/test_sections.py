"""The sections of the managed block: what each does in real shells, and that changing one keeps the others."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.block import (
    RepairError,
    Sections,
    devices_section,
    loader_section,
    quoted_for,
    read_sections,
    toolkit_section,
)
from gpuassist.shellfiles.dialect import Dialect
from tests.rows import for_each
from tests.shellfiles.written import older_lines

ROOT = "/usr/local/cuda-12.4"
BIN = f"{ROOT}/bin"
DIALECTS = tuple(dialect for dialect in Dialect if dialect is not Dialect.ENVIRONMENT)


def _sections(dialect: Dialect, devices: tuple[str, ...] = ("0", "2")) -> Sections:
    return Sections(
        toolkit_section(ROOT, dialect), loader_section(ROOT, f"{ROOT}/lib64", dialect), devices_section(devices, dialect)
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_sections_are_found_again(dialect: Dialect) -> None:
    sections = _sections(dialect)
    assert read_sections(sections.lines) == sections


@for_each("dialect", DIALECTS)
@for_each("left_out", ["toolkit", "loader", "devices"])
def test_any_section_may_be_missing(dialect: Dialect, left_out: str) -> None:
    sections = _sections(dialect)
    if left_out == "toolkit":
        fewer = Sections(devices=sections.devices)
    else:
        fewer = Sections(sections.toolkit, devices=sections.devices if left_out == "loader" else ())
    assert read_sections(fewer.lines) == fewer


def test_blocks_of_before_are_told_apart_in_the_same_way() -> None:
    lines = (*older_lines(ROOT, f"{ROOT}/lib64"), b"# Programs see these GPUs alone;", b"export CUDA_VISIBLE_DEVICES='0'")
    sections = read_sections(lines)
    assert (sections.toolkit, sections.loader, sections.devices) == (lines[1:7], lines[7:11], lines[11:])


def test_a_block_of_fish_of_before_is_told_apart_in_the_same_way() -> None:
    libraries = (b"# The toolkit's libraries come first for the loader.", b"while contains -- $CUDA_HOME/lib64 $LD_LIBRARY_PATH")
    toolkit = (b"# The toolkit's directory is taken out of the list wherever it stands, then put first.", b"set -gx CUDA_HOME '/c'")
    sections = read_sections((b"# Written by gpuassist, which", *toolkit, *libraries))
    assert (sections.toolkit, sections.loader) == (toolkit, libraries)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_else_would_stay_at_another_toolkit_is_set_as_well(dialect: Dialect) -> None:
    lines = toolkit_section(ROOT, dialect, (("CUDA_PATH", ROOT), ("CUDACXX", f"{BIN}/nvcc")))
    assert [line.split()[1 if dialect is not Dialect.FISH else 2].partition(b"=")[0] for line in lines] == [
        *(b"CUDA_HOME", b"CUDA_PATH", b"CUDACXX", b"PATH"),
    ]
    assert read_sections(lines).toolkit == lines


@pytest.mark.parametrize("dialect", DIALECTS)
def test_libraries_without_a_toolkit_name_their_own_directory(dialect: Dialect) -> None:
    lines = loader_section(ROOT, f"{ROOT}/lib64", dialect, home=False)
    assert b"$CUDA_HOME" not in b"".join(lines)
    assert f"{ROOT}/lib64".encode() in lines[-1]
    assert read_sections(lines).loader == lines


def test_a_block_without_sections_is_none() -> None:
    assert Sections().lines == ()


@pytest.mark.parametrize(
    ("devices", "order"), [(("0",), True), (("0", "2"), True), (("GPU-0123",), False), (("MIG-1", "MIG-2"), False), (("",), False)]
)
def test_indices_alone_need_an_order(devices: tuple[str, ...], order: bool) -> None:
    assert (b"export CUDA_DEVICE_ORDER=PCI_BUS_ID" in devices_section(devices, Dialect.BASH)) is order


PATHS = [
    ("PATH=/usr/bin:/bin", f"{BIN}:/usr/bin:/bin"),
    (f"PATH=/usr/bin:{BIN}64", f"{BIN}:/usr/bin:{BIN}64"),
    ("PATH='/a:*:[b]:/c d'", f"{BIN}:/a:*:[b]:/c d"),
]


def _answers(command: list[str], script: list[bytes], cwd: Path) -> list[str]:
    environment = {"HOME": str(cwd), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, input=b"\n".join(script) + b"\n", capture_output=True, cwd=cwd, env=environment, timeout=100)
    assert done.stderr == b""
    return done.stdout.decode().splitlines()


@pytest.mark.needs("zsh")
@pytest.mark.parametrize("option", ["", "typeset -U path PATH", "setopt extendedglob nounset ksharrays shwordsplit noglob errexit"])
def test_zsh_puts_the_directory_first(option: str, tmp_path: Path) -> None:
    block = [*toolkit_section(ROOT, Dialect.ZSH), b'builtin print -r -- "$PATH"']
    script = [line for before, _ in PATHS for line in (option.encode(), before.encode(), *block)]
    assert _answers(["/usr/bin/zsh", "-f"], script, tmp_path) == [after for _, after in PATHS]


@pytest.mark.needs("zsh")
def test_zsh_makes_no_empty_library_element(tmp_path: Path) -> None:
    block = [*_sections(Dialect.ZSH).lines, b'builtin print -r -- "$LD_LIBRARY_PATH $CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER"']
    for before in (b"unset LD_LIBRARY_PATH", b"LD_LIBRARY_PATH="):
        assert _answers(["/usr/bin/zsh", "-f"], [before, *block], tmp_path) == [f"{ROOT}/lib64 0,2 PCI_BUS_ID"]


def _for_fish(before: str) -> bytes:
    words = before.removeprefix("PATH=").strip("'").split(":")
    return b"set -gx PATH " + b" ".join(quoted_for(word, Dialect.FISH) for word in words if word)


@pytest.mark.needs("fish")
def test_fish_puts_the_directory_first(tmp_path: Path) -> None:
    block = [*toolkit_section(ROOT, Dialect.FISH), b"string join : $PATH"]
    script = [line for before, _ in PATHS for line in (_for_fish(before), *block)]
    assert _answers(["/usr/bin/fish", "--no-config"], script, tmp_path) == [after for _, after in PATHS]


@pytest.mark.needs("fish")
def test_fish_hands_all_of_it_to_programs(tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    block = [*_sections(Dialect.FISH, ("GPU-1", "GPU-2")).lines]
    shown = _answers(["/usr/bin/fish", "--no-config"], [*block, b"/usr/bin/env"], tmp_path)
    expected = {
        f"CUDA_HOME={ROOT}",
        f"PATH={BIN}:/usr/bin:/bin",
        f"LD_LIBRARY_PATH={ROOT}/lib64",
        "CUDA_VISIBLE_DEVICES=GPU-1,GPU-2",
    }
    assert expected <= set(shown)


@pytest.mark.needs("fish")
@pytest.mark.parametrize("before", [b"set -gx LD_LIBRARY_PATH ''", b"set -e LD_LIBRARY_PATH", b"set -gx LD_LIBRARY_PATH"])
def test_fish_makes_no_empty_library_element(before: bytes, tmp_path: Path) -> None:
    script = [before, *_sections(Dialect.FISH).lines, b"/usr/bin/env"]
    assert f"LD_LIBRARY_PATH={ROOT}/lib64" in _answers(["/usr/bin/fish", "--no-config"], script, tmp_path)


@pytest.mark.needs("fish")
def test_fish_starts_no_process_and_leaves_no_variable(tmp_path: Path) -> None:
    block = [*_sections(Dialect.FISH).lines]
    names = {"CUDA_HOME", "LD_LIBRARY_PATH", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES"}
    before = _answers(["/usr/bin/fish", "--no-config"], [b"set -gx PATH /nowhere", b"set -n"], tmp_path)
    after = _answers(["/usr/bin/fish", "--no-config"], [b"set -gx PATH /nowhere", *block, b"set -n"], tmp_path)
    assert set(after) - set(before) == names


NASTY = ["/opt/my cuda", "/opt/it's", "/opt/$(touch hacked)", '/opt/"q"', "/opt/a;touch hacked", "/opt/[a]*?", "/opt/back\\slash"]


@pytest.mark.needs("fish")
def test_strange_paths_are_inert_in_fish(tmp_path: Path) -> None:
    script = [line for root in NASTY for line in (*toolkit_section(root, Dialect.FISH), b"echo $PATH[1]")]
    assert _answers(["/usr/bin/fish", "--no-config"], script, tmp_path) == [f"{root}/bin" for root in NASTY]
    assert not (tmp_path / "hacked").exists()


@for_each("dialect", DIALECTS)
@for_each("root", ["/a\nb", "/a:b", "relative", "/"])
def test_refuses_a_path_no_line_can_hold(dialect: Dialect, root: str) -> None:
    with pytest.raises(RepairError):
        toolkit_section(root, dialect)


PATHS_OF_ANY_KIND = st.text(st.characters(exclude_characters="\0\n\r", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(PATHS_OF_ANY_KIND)
def test_whatever_stands_in_it_is_one_word_of_sh(words: str) -> None:
    assert shlex.split(quoted_for(words, Dialect.BASH).decode()) == [words]


@given(PATHS_OF_ANY_KIND)
def test_zsh_is_quoted_as_sh_is(words: str) -> None:
    assert quoted_for(words, Dialect.ZSH) == quoted_for(words, Dialect.BASH)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plain", b"plain"),
        ("it's", b"'it\\'s'"),
        ("a\\b", b"'a\\\\b'"),
        ("$HOME", b"'$HOME'"),
        ("", b"''"),
        ("caf\udce9", b"'caf\xe9'"),
    ],
)
def test_how_fish_is_quoted(words: str, expected: bytes) -> None:
    assert quoted_for(words, Dialect.FISH) == expected


@given(st.lists(st.sampled_from(["0", "3", "GPU-0123", "MIG-1"]), min_size=1, max_size=4).map(tuple), st.sampled_from(DIALECTS))
def test_any_choice_of_gpus_is_found_again(devices: tuple[str, ...], dialect: Dialect) -> None:
    sections = Sections(devices=devices_section(devices, dialect))
    assert read_sections(sections.lines) == sections
    assert ",".join(devices).encode() in sections.devices[-1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_changing_the_gpus_keeps_the_toolkit(dialect: Dialect) -> None:
    before = read_sections(_sections(dialect).lines)
    after = read_sections(_sections(dialect, ("1",)).lines)
    assert (after.toolkit, after.loader) == (before.toolkit, before.loader)
    assert after.devices != before.devices


@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_line_of_a_block_is_empty(dialect: Dialect) -> None:
    assert all(line.strip() and b"\n" not in line for line in _sections(dialect).lines)


def test_no_lines_hold_no_section() -> None:
    assert read_sections(()) == Sections()


def test_a_line_that_nobody_knows_stays_with_what_is_above_it() -> None:
    lines = (*_sections(Dialect.BASH).lines, b"export MINE=1")
    assert read_sections(lines).devices[-1] == b"export MINE=1"
