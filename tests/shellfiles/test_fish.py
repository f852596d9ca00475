"""fish files as people write them: what each line does to the variables, and what it stands in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.fish import read
from gpuassist.shellfiles.statements import Assignment, Reading, Statement, StatementPlace
from tests.rows import for_each

HOME = {"HOME": "/home/you"}


def _read(content: str | bytes) -> Reading:
    return read(content.encode() if isinstance(content, str) else content, HOME)


def _only(content: str) -> Statement:
    (statement,) = _read(content).statements
    return statement


def _first(content: str) -> Assignment:
    return _only(content).assignments[0]


def _shown(assignment: Assignment) -> list[str]:
    return ["<before>" if element.previous else element.directory or "?" for element in assignment.elements]


@for_each(
    ("line", "elements"),
    [
        ("set -gx PATH /c/bin $PATH", ["/c/bin", "<before>"]),
        ("set -x PATH /c/bin $PATH /d", ["/c/bin", "<before>", "/d"]),
        ("set -x -g PATH $PATH /c/bin", ["<before>", "/c/bin"]),
        ("set --export --global PATH /c/bin $PATH", ["/c/bin", "<before>"]),
        ("set PATH /c/bin", ["/c/bin"]),
        ("set -gxp PATH /c/bin /d", ["/c/bin", "/d", "<before>"]),
        ("set --prepend PATH /c/bin", ["/c/bin", "<before>"]),
        ("set -a PATH /c/bin", ["<before>", "/c/bin"]),
        ("set --append --path PATH /c/bin", ["<before>", "/c/bin"]),
        ("set -U fish_user_paths /c/bin $fish_user_paths", ["/c/bin", "<before>"]),
        ("set -Ua fish_user_paths /c/bin", ["/c/bin", "<before>"]),
        ("fish_add_path /c/bin", ["/c/bin", "<before>"]),
        ("fish_add_path -gP /c/bin /d", ["/c/bin", "/d", "<before>"]),
        ("fish_add_path --append /c/bin", ["<before>", "/c/bin"]),
        ("fish_add_path -a -- /c/bin", ["<before>", "/c/bin"]),
        ("builtin set -gx PATH /c/bin $PATH", ["/c/bin", "<before>"]),
        ("set -gx PATH ~/bin $PATH", ["/home/you/bin", "<before>"]),
        ('set -gx PATH "$HOME/a b" $PATH', ["/home/you/a b", "<before>"]),
        ("set -gx PATH '/a b' $PATH", ["/a b", "<before>"]),
        ("set -gx PATH /a\\ b $PATH", ["/a b", "<before>"]),
        ("set -gx PATH '/it\\'s' $PATH", ["/it's", "<before>"]),
        ('set -gx PATH "/a\\"b\\$c" $PATH', ['/a"b$c', "<before>"]),
        ("set -gx PATH /a:/b $PATH", ["/a", "/b", "<before>"]),
        ("set -gx PATH $HOME/a:$HOME/b", ["/home/you/a", "/home/you/b"]),
        ("set -gx PATH (brew --prefix)/bin $PATH", ["?", "<before>"]),
        ("set -gx PATH $(brew --prefix)/bin $PATH", ["?", "<before>"]),
        ('set -gx PATH "$(brew --prefix)/bin" $PATH', ["?", "<before>"]),
        ("set -gx PATH $UNKNOWN/bin $PATH", ["?", "<before>"]),
        ("set -gx PATH {/a,/b}/bin $PATH", ["?", "<before>"]),
        ("set -gx PATH /opt/*/bin $PATH", ["?", "<before>"]),
        ("set -gx PATH $PATH[2..-1]", ["?"]),
        ("set PATH[1] /c/bin", ["?"]),
        ("set -gx PATH /opt/é $PATH", ["/opt/é", "<before>"]),
        ("set -gx PATH", []),
        ('export PATH="/c/bin:$PATH"', ["/c/bin", "<before>"]),
        ("set -gx PATH /c/bin $PATH # a comment", ["/c/bin", "<before>"]),
        ("set -gx PATH /c/bin \\\n    $PATH", ["/c/bin", "<before>"]),
        ("  set -gx PATH /c/bin $PATH  ", ["/c/bin", "<before>"]),
    ],
)
def test_reads_every_way_to_write_it(line: str, elements: list[str]) -> None:
    statement = _only(line + "\n")
    assert statement.assignments[0].variable == "PATH"
    assert _shown(statement.assignments[0]) == elements
    assert statement.place is StatementPlace.TOP
    assert not statement.shared


@for_each(
    "line",
    [
        "set -q PATH",
        "set --query PATH; and echo yes",
        "set -S PATH",
        "set -l PATH /x",
        "set",
        "set -gx",
        "set -gx GOPATH /x",
        "fish_add_path",
        "fish_add_path -n /x",
        "echo set -gx PATH /x",
        "# set -gx PATH /x",
        "echo 'x\nset -gx PATH /x\n'",
        "echo (set -gx PATH /x)",
        "set -e GOPATH",
    ],
)
def test_finds_nothing_where_nothing_is_set(line: str) -> None:
    assert _read(line + "\n").statements == ()


def test_an_erased_variable_is_unset() -> None:
    assignment = _first("set -e CUDA_HOME\n")
    assert assignment.unsets
    assert assignment.elements == ()


def test_an_erased_element_is_a_change_nobody_knows() -> None:
    assert _shown(_first("set -e PATH[1]\n")) == ["?", "<before>"]


@for_each(
    ("content", "place", "inside"),
    [
        ("if test -d /c\n  set PATH /c\nend\n", StatementPlace.BRANCH, "if test -d /c"),
        ("if x\n :\nelse\n  set PATH /c\nend\n", StatementPlace.BRANCH, "if x"),
        ("if x\n :\nelse if y\n  set PATH /c\nend\n", StatementPlace.BRANCH, "if x"),
        ("function f --on-event fish_prompt\n  set PATH /c\nend\n", StatementPlace.FUNCTION, "function f --on-event fish_prompt"),
        ("for d in a b\n  set PATH /c\nend\n", StatementPlace.LOOP, "for d in a b"),
        ("while x\n  set PATH /c\nend\n", StatementPlace.LOOP, "while x"),
        ("switch $x\n case a\n  set PATH /c\nend\n", StatementPlace.CASE, "switch $x"),
        ("begin\n  set PATH /c\nend\n", StatementPlace.GROUP, "begin"),
        ("function f\n if x\n  set PATH /c\n end\nend\n", StatementPlace.FUNCTION, "if x"),
        ("test -d /c; and set PATH /c\n", StatementPlace.CONDITION, ""),
        ("test -d /c && set PATH /c\n", StatementPlace.CONDITION, ""),
        ("not test -d /c; or set PATH /c\n", StatementPlace.CONDITION, ""),
        ("test -d /c\nand set PATH /c\n", StatementPlace.CONDITION, ""),
        ("if x\n :\nend\nset PATH /c\n", StatementPlace.TOP, ""),
        ("PATH=/c make\n", StatementPlace.COMMAND, ""),
    ],
)
def test_knows_what_a_line_stands_in(content: str, place: StatementPlace, inside: str) -> None:
    statement = _only(content)
    assert (statement.place, statement.inside) == (place, inside)


@pytest.mark.parametrize(
    ("content", "lines", "shared"),
    [
        ("set PATH /c\n", (1, 1), False),
        ("set PATH /c", (1, 1), False),
        ("x\n\nset PATH \\\n  /a \\\n  /b\ny\n", (3, 5), False),
        ("set PATH /a; set CUDA_HOME /b\n", (1, 1), False),
        ("test -d /c; and \\\n set PATH /a\n", (1, 2), False),
        ("set PATH /a; ls\n", (1, 1), True),
        ("ls; set PATH /a\n", (1, 1), True),
        ("if x; set PATH /a; end\n", (1, 1), True),
        ("begin; set PATH /a; end\n", (1, 1), True),
        ("ls; and set PATH /a\n", (1, 1), True),
        ("set -q X; or set PATH /a\n", (1, 1), False),
    ],
)
def test_counts_lines_and_says_who_shares_them(content: str, lines: tuple[int, int], shared: bool) -> None:
    statement = _only(content)
    assert (statement.line, statement.last_line, statement.shared) == (*lines, shared)
    rows = content.encode().splitlines(keepends=True)
    assert content.encode()[statement.first_byte : statement.end_byte] == b"".join(rows[lines[0] - 1 : lines[1]])


@pytest.mark.parametrize(
    ("content", "directory"),
    [
        ("set CUDA_HOME /c\nset PATH $CUDA_HOME/bin $PATH\n", "/c/bin"),
        ("set v 12.1\nset CUDA_HOME /c-$v\nset PATH $CUDA_HOME/bin\n", "/c-12.1/bin"),
        ("if x\n set CUDA_HOME /c\n set PATH $CUDA_HOME/bin\nend\n", "/c/bin"),
        ("if x\n set CUDA_HOME /c\nend\nset PATH $CUDA_HOME/bin\n", ""),
        ("x; and set CUDA_HOME /c\nset PATH $CUDA_HOME/bin\n", ""),
        ("set CUDA_HOME (find)\nset PATH $CUDA_HOME/bin\n", ""),
        ("set CUDA_HOME /a /b\nset PATH $CUDA_HOME/bin\n", ""),
    ],
)
def test_follows_variables_without_guessing(content: str, directory: str) -> None:
    assert _read(content).statements[-1].assignments[0].elements[0].directory == directory


@pytest.mark.parametrize(
    ("content", "interactive", "always"),
    [
        ("status is-interactive; or return\n", True, False),
        ("status --is-interactive || exit\n", True, False),
        ("if not status is-interactive\n  return\nend\n", True, False),
        ("return\n", False, True),
        ("if x\n  exit 1\nend\n", False, False),
        ("exec zsh\n", False, True),
    ],
)
def test_sees_what_ends_the_file(content: str, interactive: bool, always: bool) -> None:
    (ending,) = _read(content).endings
    assert (ending.interactive, ending.always) == (interactive, always)


@pytest.mark.parametrize("content", ["function f\n  return\nend\n", "exec\n", "echo return\n"])
def test_is_not_ended_by_what_ends_no_file(content: str) -> None:
    assert _read(content).endings == ()


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        ("source ~/.x.fish\n", ["/home/you/.x.fish"]),
        (". $HOME/x.fish\n", ["/home/you/x.fish"]),
        ("set d /opt/fish\nsource $d/x.fish\n", ["/opt/fish/x.fish"]),
        ("for f in ~/a/*.fish /etc/b.fish\n source $f\nend\n", ["/home/you/a/*.fish", "/etc/b.fish"]),
        ("source (dirname x)/y.fish\n", [""]),
        ("function f\n source /x\nend\n", []),
        ("x | source\n", []),
    ],
)
def test_finds_the_files_that_it_reads_in(content: str, paths: list[str]) -> None:
    assert [source.path for source in _read(content).sources] == paths


@pytest.mark.parametrize(
    ("content", "owner"),
    [
        ("pyenv init - | source\n", "pyenv"),
        ('eval /opt/conda/bin/conda "shell.fish" "hook" $argv | source\n', "conda"),
        ("conda activate base\n", "conda"),
        ("module load cuda/12.4\n", "environment modules"),
        ("starship init fish | source\n", "starship"),
    ],
)
def test_names_the_tool_that_a_line_hands_over_to(content: str, owner: str) -> None:
    assert [tool.owner for tool in _read(content).tools] == [owner]


def test_a_line_in_a_marked_block_has_an_owner() -> None:
    content = "# >>> conda initialize >>>\nset -gx PATH /c $PATH\n# <<< conda initialize <<<\nset -gx PATH /d $PATH\n"
    assert [statement.owner for statement in _read(content).statements] == ["conda initialize", ""]


@for_each(
    ("content", "line"),
    [
        ("set PATH 'open\n", 1),
        ('x\nset PATH "open\n', 2),
        ("x (open\n", 1),
        ("x\nif y\n z\n", 2),
        ("x\nend\n", 2),
        ("if x\nend\n", 0),
        ("echo 'a # b' # 'c\n", 0),
        ('echo "a \\" b"\n', 0),
        ("echo a\\\n b\n", 0),
        ('echo (echo ")" \')\' "$(x)")\n', 0),
        ("{ set PATH /x; }\n", 0),
        ("echo end if while\n", 0),
    ],
)
def test_says_which_line_it_does_not_understand(content: str, line: int) -> None:
    assert _read(content).unreadable_line == line


def test_lists_who_uses_a_watched_variable() -> None:
    references = _read("set PATH $CUDA_HOME/bin $PATH\necho \"$CUDA_HOME\" '$CUDA_HOME'\n").references
    assert [(one.variable, one.line) for one in references] == [("CUDA_HOME", 1), ("PATH", 1), ("CUDA_HOME", 2)]


def test_keeps_bytes_that_are_no_text() -> None:
    statement = _read(b"set -gx PATH /opt/\xff/bin $PATH\r\n").statements[0]
    assert statement.text == "set -gx PATH /opt/\\xff/bin $PATH"
    assert statement.assignments[0].elements[0].directory == "/opt/\udcff/bin"


_PIECES = [
    "set ",
    "-gx ",
    "PATH ",
    "/a ",
    "'",
    '"',
    "(",
    ")",
    "$",
    "\\",
    "\n",
    "if x\n",
    "end\n",
    "; and ",
    "#",
    "{",
    "é",
    "|",
    "&&",
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join))
def test_never_fails_and_bounds_whole_lines(content: str) -> None:
    raw = content.encode()
    for statement in _read(raw).statements:
        assert statement.first_byte == 0 or raw[statement.first_byte - 1 : statement.first_byte] == b"\n"
        assert statement.end_byte == len(raw) or raw[statement.end_byte - 1 : statement.end_byte] == b"\n"
        assert statement.line <= statement.last_line


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60))
def test_reads_any_bytes(content: bytes) -> None:
    assert _read(content).unreadable_line >= 0
