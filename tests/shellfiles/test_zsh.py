"""zsh files as people write them: arrays, flags, qualifiers, and what bash's grammar must not trip over."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.statements import Assignment, Reading, Statement, StatementPlace
from gpuassist.shellfiles.zsh import read
from tests.rows import for_each

HOME = {"HOME": "/home/you"}


def _read(content: str | bytes) -> Reading:
    return read(content.encode() if isinstance(content, str) else content, HOME)


def _only(content: str) -> Statement:
    (statement,) = _read(content).statements
    return statement


def _shown(assignment: Assignment) -> list[str]:
    return ["<before>" if element.previous else element.directory or "?" for element in assignment.elements]


@for_each(
    ("line", "elements"),
    [
        ("export PATH=/c/bin:$PATH", ["/c/bin", "<before>"]),
        ('export "PATH=/c/bin:$PATH"', ["/c/bin", "<before>"]),
        ("typeset -gx PATH=/c/bin:$PATH", ["/c/bin", "<before>"]),
        ("path=(/c/bin $path)", ["/c/bin", "<before>"]),
        ("path=($path /c/bin)", ["<before>", "/c/bin"]),
        ("path+=(/c/bin /d)", ["<before>", "/c/bin", "/d"]),
        ("path+=/c/bin", ["<before>", "/c/bin"]),
        ("path=(/c/bin)", ["/c/bin"]),
        ("export path=(/c/bin $path)", ["/c/bin", "<before>"]),
        ('path=("/c bin" $path) # as an array', ["/c bin", "<before>"]),
        ("path=(~/bin $HOME/x $path)", ["/home/you/bin", "/home/you/x", "<before>"]),
        ('path=(/c/bin "$path[@]")', ["/c/bin", "<before>"]),
        ('path=("${path[@]}" /c/bin)', ["<before>", "/c/bin"]),
        ("path=(${(@)path} /c/bin)", ["<before>", "/c/bin"]),
        ("path=(/c/bin(N) $path)", ["/c/bin", "<before>"]),
        ("path=(/c/bin(N-/) $path)", ["/c/bin", "<before>"]),
        ("path=(/c/bin ${path:#/old/*})", ["/c/bin", "?"]),
        ("path=($^roots/bin(N) $path)", ["?", "<before>"]),
        ("path=(${(s.:.)EXTRA} $path)", ["?", "<before>"]),
        ("PATH=${PATH:s/a/b}:/c/bin", ["?", "/c/bin"]),
        ("path[1,0]=/c/bin", ["?"]),
        ("PATH=$path:/c/bin", ["<before>", "/c/bin"]),
    ],
)
def test_reads_every_way_to_write_it(line: str, elements: list[str]) -> None:
    statement = _only(line + "\n")
    assert statement.assignments[0].variable == "PATH"
    assert _shown(statement.assignments[0]) == elements
    assert (statement.place, statement.shared) == (StatementPlace.TOP, False)


@pytest.mark.parametrize(
    "line", ["typeset -U path", "typeset -U path PATH", "fpath=(~/.z $fpath)", "cdpath=(~)", "x=$path", "rehash"]
)
def test_finds_nothing_where_nothing_is_set(line: str) -> None:
    assert _read(line + "\n").statements == ()


def test_an_array_may_stand_on_several_lines() -> None:
    statement = _only("path=(\n  # the newest first\n  /a(N)\n  /b\n  $path\n)\nx\n")
    assert (statement.line, statement.last_line) == (1, 6)
    assert _shown(statement.assignments[0]) == ["/a", "/b", "<before>"]


@pytest.mark.parametrize("tie", ["typeset -xT", "export -TU", "typeset -x -T", "declare -T"])
def test_an_array_that_is_tied_sets_its_variable(tie: str) -> None:
    statement = _read(f"{tie} LD_LIBRARY_PATH ld_library_path\nld_library_path=(/a $ld_library_path)\n").statements[-1]
    assert statement.assignments[0].variable == "LD_LIBRARY_PATH"
    assert _shown(statement.assignments[0]) == ["/a", "<before>"]


def test_an_array_that_is_not_tied_sets_nothing() -> None:
    assert _read("ld_library_path=(/a)\n").statements == ()


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("() {\n local x=1\n path+=(/a)\n}\n", StatementPlace.FUNCTION),
        ("if (( $+commands[nvcc] )); then\n path+=(/a)\nfi\n", StatementPlace.BRANCH),
        ("if [[ -n ${(M)path:#*/x} ]]; then\n path+=(/a)\nfi\n", StatementPlace.BRANCH),
        ("[[ -d /a ]] && path=(/a $path)\n", StatementPlace.CONDITION),
        ("for d in /a(N) /b(N/); do\n path+=($d)\ndone\n", StatementPlace.LOOP),
    ],
)
def test_knows_what_a_line_stands_in(content: str, place: StatementPlace) -> None:
    reading = _read(content)
    assert reading.unreadable_line == 0
    assert [statement.place for statement in reading.statements] == [place]


@for_each(
    "content",
    [
        "x=${${(%):-%x}:A:h}\n",
        'print -P "%F{red}${(q)x}%f"\n',
        "if (( ! $+functions[x] )); then\n y\nfi\n",
        "autoload -Uz compinit && compinit\n",
        "zstyle ':completion:*' matcher-list 'm:{a-z}={A-Z}'\n",
        "alias -g L='| less'\n",
        'x=(${(f)"$(ls)"})\n',
        "source ${ZDOTDIR:-$HOME}/.x\n",
        "for f in ~/.z/*.zsh(N); do\n . $f\ndone\n",
        "[[ ! -f ~/.p10k.zsh ]] || source ~/.p10k.zsh\n",
        "${=EDITOR} x\n",
        "echo ${name:t} ${name:h:h}\n",
    ],
)
def test_understands_what_only_zsh_knows(content: str) -> None:
    assert _read(content).unreadable_line == 0


def test_what_it_does_not_understand_it_says() -> None:
    assert _read("for d (/a /b) path+=($d)\n").unreadable_line == 1


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ("source ${ZDOTDIR:-$HOME}/.x\n", "/home/you/.x"),
        ("for f in ~/.z/*.zsh(N); do\n . $f\ndone\n", "/home/you/.z/*.zsh"),
        ("ZDOTDIR=~/z\nsource $ZDOTDIR/x\n", "/home/you/z/x"),
        ("source ${${(%):-%x}:A:h}/x\n", ""),
    ],
)
def test_finds_the_files_that_it_reads_in(content: str, path: str) -> None:
    assert [source.path for source in _read(content).sources] == [path]


def test_tells_where_zsh_looks_for_the_rest() -> None:
    assert ("ZDOTDIR", "/home/you/z") in _read("export ZDOTDIR=$HOME/z\n").values


def test_a_guard_may_ask_the_options() -> None:
    (ending,) = _read("[[ -o interactive ]] || return\n").endings
    assert ending.interactive


def test_the_text_is_the_files_own() -> None:
    assert _only("path=(/x(N) ${path:#/y})\n").text == "path=(/x(N) ${path:#/y})"


_PIECES = [
    "path",
    "+=",
    "=",
    "(",
    ")",
    "/a",
    "(N)",
    "${",
    "}",
    "$",
    "$path",
    "(M)",
    ":#",
    '"',
    "'",
    "\n",
    " ",
    "() {",
    "}",
    "if ",
    "é",
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join))
def test_never_fails_and_bounds_whole_lines(content: str) -> None:
    raw = content.encode()
    for statement in _read(raw).statements:
        assert statement.first_byte == 0 or raw[statement.first_byte - 1 : statement.first_byte] == b"\n"
        assert statement.end_byte == len(raw) or raw[statement.end_byte - 1 : statement.end_byte] == b"\n"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_reads_any_bytes(content: bytes) -> None:
    assert _read(content).unreadable_line >= 0
