"""The managed block: what its lines do in real shells, and how it is found again."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.model.text import Text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError, devices_section, find, quoted, render
from gpuassist.shellfiles.dialect import Dialect
from tests.shellfiles.written import block_lines, older_file, older_lines

ROOT = "/usr/local/cuda-12.4"
BIN = f"{ROOT}/bin"
SHELLS = [pytest.param("bash", marks=pytest.mark.needs("bash")), pytest.param("dash", marks=pytest.mark.needs("dash"))]
NASTY = [
    "/opt/my cuda",
    "/opt/it's",
    "/opt/$(touch hacked)",
    "/opt/`touch hacked`",
    '/opt/"q"',
    "/opt/a;touch hacked",
    "/opt/[a]*?",
    "/opt/$HOME",
    "/opt/back\\slash",
    "/opt/!x",
    "/opt/ümlaut",
    "/opt/显卡",
]


def _run(shell: str, lines: tuple[bytes, ...], before: str, show: str, cwd: Path) -> str:
    script = before.encode() + b"\n" + b"\n".join(lines) + b"\nprintf '%s' \"" + show.encode() + b'"\n'
    done = subprocess.run(
        [f"/bin/{shell}", "-s"], input=script, capture_output=True, cwd=cwd, env={"PATH": "/usr/bin:/bin"}, timeout=10
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("path", ["/usr/bin:/bin", f"/usr/bin:{BIN}", "/with space/bin:/b", "/a:*:[b]:/c", ":/leading:", "/a::/b"])
def test_puts_the_directory_first_and_keeps_the_rest(shell: str, path: str, tmp_path: Path) -> None:
    assert _run(shell, block_lines(ROOT), f"PATH='{path}'", "$PATH", tmp_path) == f"{BIN}:{path}"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("unset LD_LIBRARY_PATH", f"{ROOT}/lib64"),
        ("LD_LIBRARY_PATH=", f"{ROOT}/lib64"),
        ("LD_LIBRARY_PATH=/a:/b", f"{ROOT}/lib64:/a:/b"),
    ],
)
def test_makes_no_empty_library_element(shell: str, before: str, after: str, tmp_path: Path) -> None:
    assert _run(shell, block_lines(ROOT, f"{ROOT}/lib64"), before, "$LD_LIBRARY_PATH", tmp_path) == after


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("root", NASTY)
def test_a_strange_path_is_inert(shell: str, root: str, tmp_path: Path) -> None:
    before = "PATH=/usr/bin"
    assert _run(shell, block_lines(root), before, "$CUDA_HOME|$PATH", tmp_path) == f"{root}|{root}/bin:/usr/bin"
    assert list(tmp_path.iterdir()) == []


OPTIONS = ["set -u", "set -e", "set -f", "shopt -s nocasematch", "shopt -s extglob", "set -o posix", "IFS=:/", "set -o noclobber"]


@pytest.mark.parametrize("option", OPTIONS)
def test_shell_options_do_not_matter(option: str, tmp_path: Path) -> None:
    before = f"PATH='/usr/local/CUDA-12.4/bin:/usr/bin'\n{option}"
    assert _run("bash", block_lines(ROOT), before, "$PATH", tmp_path) == f"{BIN}:/usr/local/CUDA-12.4/bin:/usr/bin"


def test_leaves_no_variable_behind(tmp_path: Path) -> None:
    before = "PATH=/usr/bin; LD_LIBRARY_PATH=/x"
    names = "$(set | cut -d= -f1 | grep -v -e _ -e BASH -e PIPE | sort | tr '\\n' ' ')"
    lines = block_lines(ROOT, f"{ROOT}/lib64")
    assert _run("bash", lines, before, names, tmp_path) == _run("bash", (), before, names, tmp_path)


def test_starts_no_process(tmp_path: Path) -> None:
    before = "PATH=/nowhere\nulimit -u 0"
    assert _run("bash", block_lines(ROOT, f"{ROOT}/lib64"), before, "$PATH", tmp_path) == f"{BIN}:/nowhere"


def test_exports_what_it_sets(tmp_path: Path) -> None:
    before = "PATH=/usr/bin; unset LD_LIBRARY_PATH CUDA_HOME"
    shown = _run("bash", block_lines(ROOT, f"{ROOT}/lib64"), before, "$(export -p)", tmp_path)
    for name in ("PATH", "LD_LIBRARY_PATH", "CUDA_HOME"):
        assert f"declare -x {name}=" in shown


@pytest.mark.parametrize("root", ["/a\nb", "/a\rb", "/a\0b", "/a:b", "relative/cuda", "", "/"])
def test_refuses_a_path_no_line_can_hold(root: str) -> None:
    with pytest.raises(RepairError) as raised:
        block_lines(root)
    assert ENGLISH(raised.value.reason)


@settings(deadline=None)
@given(st.text(st.characters(exclude_characters="\0\n\r:", exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_quoting_is_undone_by_the_shell(words: str) -> None:
    done = subprocess.run(
        ["/bin/dash", "-s"], input=b"printf %s " + quoted(words) + b"\n", capture_output=True, check=True, timeout=10
    )
    assert done.stdout == words.encode()


def test_a_path_that_is_not_utf_8_keeps_its_bytes() -> None:
    assert quoted("/caf\udce9") == b"'/caf\xe9'"


@pytest.mark.parametrize("root", ["/usr/local/cuda-12.4", "/opt/a+b/cuda_12,4@x"])
def test_a_plain_path_is_written_without_quotes(root: str) -> None:
    assert quoted(root) == root.encode()


def test_it_is_what_an_expert_would_write() -> None:
    assert block_lines(ROOT, f"{ROOT}/lib64") == (
        b"export CUDA_HOME=/usr/local/cuda-12.4",
        b'export PATH="$CUDA_HOME/bin:$PATH"',
        b'export LD_LIBRARY_PATH="$CUDA_HOME/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
    )


@pytest.mark.parametrize("dialect", [Dialect.BASH, Dialect.ZSH, Dialect.FISH])
def test_nothing_in_it_is_run_where_it_is_data(dialect: Dialect) -> None:
    """Inside a here-document that nothing ends every comment of it is text in which a shell runs back-ticks and `$(`."""
    lines = (*block_lines(ROOT, f"{ROOT}/lib64", dialect), *devices_section(("0",), dialect))
    block = render("20261121-090000-abc", 0, lines)
    assert b"`" not in block
    assert b"$(" not in block
    assert b'("gpuassist undo" takes these lines out again)' in block.split(b"\n")[0]


def test_a_block_of_before_is_found() -> None:
    change = "20261121-090000-abc"
    lines = older_lines(ROOT, f"{ROOT}/lib64")
    block = find(b"a\n" + older_file(change, lines, 1))
    assert block is not None
    assert (block.change, block.added, block.lines) == (change, 1, lines)


def test_finds_what_it_rendered() -> None:
    lines = block_lines(ROOT)
    content = b"above\n" + render("20261121-090000-abc", 1, lines)
    block = find(content)
    assert block is not None
    assert (block.change, block.added, block.lines) == ("20261121-090000-abc", 1, lines)
    assert content[block.first_byte : block.end_byte] == render("20261121-090000-abc", 1, lines)


@pytest.mark.parametrize(
    "content", [b"", b"export PATH=/x\n", b"echo '# >>> gpuassist '\n", b"  # >>> gpuassist version=1 change=x added=0 >>>\n"]
)
def test_finds_no_block_where_none_is(content: bytes) -> None:
    assert find(content) is None


BEGIN = b"# >>> gpuassist version=1 change=x added=0 >>>\n"
END = b"# <<< gpuassist <<<\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (BEGIN, "1 that begin, 0 that end; line numbers: 1"),
        (b"a\n" + END, "0 that begin, 1 that end; line numbers: 2"),
        (END + BEGIN, "line numbers: 1, 2"),
        (BEGIN + END + BEGIN + END, "2 that begin, 2 that end"),
        (BEGIN + BEGIN + END, "2 that begin, 1 that end"),
        (BEGIN.replace(b"version=1", b"version=9") + END, "another version"),
        (BEGIN.replace(b"added=0", b"added=lots") + END, "another version"),
        (b"# >>> gpuassist >>>\n" + END, "another version"),
    ],
)
def test_refuses_markers_that_do_not_pair(content: bytes, says: str) -> None:
    with pytest.raises(RepairError) as raised:
        find(content)
    assert says in ENGLISH(raised.value.reason)


def test_an_error_carries_its_reason() -> None:
    assert RepairError(Text("x")).reason == Text("x")
