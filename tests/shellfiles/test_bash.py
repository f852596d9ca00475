"""Start-up files as people write them: what is found in them, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.statements import Assignment, Reading, Statement, StatementPlace
from tests.rows import for_each

HOME = {"HOME": "/home/you"}


def _read(content: str | bytes) -> Reading:
    return read(content.encode() if isinstance(content, str) else content, HOME)


def _only(content: str | bytes) -> Statement:
    (statement,) = _read(content).statements
    return statement


def _first(content: str | bytes) -> Assignment:
    return _only(content).assignments[0]


def _directories(content: str) -> list[str]:
    return [element.directory for element in _first(content).elements if not element.previous]


@for_each(
    "line",
    [
        "export PATH=/c/bin:$PATH",
        "PATH=/c/bin:$PATH",
        'PATH="/c/bin:$PATH"',
        "PATH=/c/bin:${PATH}",
        'export PATH="/c/bin:${PATH}"',
        "export PATH=/c/bin${PATH:+:${PATH}}",
        'export PATH="/c/bin${PATH:+:$PATH}"',
        "export PATH=/c/bin${PATH+:$PATH}",
        "export PATH=${PATH:+${PATH}:}/c/bin",
        'export PATH="${PATH:-}:/c/bin"',
        "PATH+=:/c/bin",
        "declare -x PATH=/c/bin:$PATH",
        "typeset -x PATH='/c/bin':$PATH",
        "declare -gx PATH=/c/bin:$PATH",
        "PATH=/c/bin:$PATH; export PATH",
        "export PATH='/c/bin':\"$PATH\"",
        "export PATH=/c/bin:$PATH;",
        "export PATH=/c/bin:$PATH  # the toolkit",
        "  export PATH=/c/bin:$PATH",
    ],
)
def test_finds_every_way_to_write_it(line: str) -> None:
    statement = _only(line + "\n")
    assert not statement.shared
    assert statement.place is StatementPlace.TOP
    assert statement.assignments[0].variable == "PATH"
    assert _directories(line) == ["/c/bin"]
    assert statement.assignments[0].keeps_previous


@for_each(
    ("value", "directories"),
    [
        ("/a:/b", ["/a", "/b"]),
        ("'/a b:/c'", ["/a b", "/c"]),
        ('"/a b":/c', ["/a b", "/c"]),
        ("/a\\ b", ["/a b"]),
        ('"/a\\"b"', ['/a"b']),
        ("'/a$b'", ["/a$b"]),
        ("~/bin", ["/home/you/bin"]),
        ("/a:~/bin", ["/a", "/home/you/bin"]),
        ('"~/bin"', ["~/bin"]),
        ("$HOME/bin", ["/home/you/bin"]),
        ("${HOME}/bin", ["/home/you/bin"]),
        ("$UNKNOWN/bin", [""]),
        ("$(brew --prefix)/bin", [""]),
        ("`which cuda`/bin", [""]),
        ("${CUDA:-/usr/local/cuda}/bin", ["/usr/local/cuda/bin"]),
        ("${CUDA%/}/bin", [""]),
        ("/a::/b", ["/a", "/b"]),
        ("$HOME/a:$HOME/b:$HOME/c", ["/home/you/a", "/home/you/b", "/home/you/c"]),
        ("$(x):/a", ["", "/a"]),
        ("/usr/local/cuda-12.4/bin", ["/usr/local/cuda-12.4/bin"]),
        ("", []),
    ],
)
def test_reads_elements_without_running(value: str, directories: list[str]) -> None:
    assert _directories(f"export PATH={value}\n") == directories


def test_keeps_an_element_as_written() -> None:
    written = [element.written for element in _first("PATH=$HOME/bin:/b:$PATH\n").elements]
    assert written == ["$HOME/bin", "/b", "$PATH"]


@pytest.mark.parametrize(
    "content",
    [
        "CUDA_HOME=/c\nexport PATH=$CUDA_HOME/bin:$PATH\n",
        "V=11.7\nCUDA_HOME=/c$V\nPATH=$CUDA_HOME/bin\n",
        "A=/c\nB=$A\nC=$B\nexport PATH=$C/bin\n",
        "export CUDA_HOME=/c PATH=/x:$PATH\nPATH=$CUDA_HOME/bin:$PATH\n",
        "CUDA_HOME=/c\nPATH=$CUDA_HOME/bin:$HOME/bin:${PATH}\n",
    ],
)
def test_follows_variables_of_the_file(content: str) -> None:
    directory = _read(content).statements[-1].assignments[0].elements[0].directory
    assert directory.startswith("/c")
    assert directory.endswith("/bin")


@pytest.mark.parametrize(
    "content",
    [
        "if x; then\n CUDA_HOME=/c\nfi\nPATH=$CUDA_HOME/bin\n",
        "f() {\n CUDA_HOME=/c\n}\nPATH=$CUDA_HOME/bin\n",
        "CUDA_HOME=$(find_it)\nPATH=$CUDA_HOME/bin\n",
        "for CUDA_HOME in /a /b; do\n PATH=$CUDA_HOME/bin\ndone\n",
        "CUDA_HOME=/c make\nPATH=$CUDA_HOME/bin\n",
    ],
)
def test_does_not_guess_a_variable(content: str) -> None:
    last = _read(content).statements[-1]
    assert last.assignments[0].elements[0].directory == ""


def test_knows_a_variable_inside_its_branch() -> None:
    inside = _read("if x; then\n CUDA_HOME=/c\n PATH=$CUDA_HOME/bin\nfi\n").statements[1]
    assert inside.assignments[0].elements[0].directory == "/c/bin"


@for_each(
    ("content", "place", "inside"),
    [
        ("if true; then\n  PATH=/c\nfi\n", StatementPlace.BRANCH, "if true; then"),
        ("if x; then\n :\nelse\n  PATH=/c\nfi\n", StatementPlace.BRANCH, "if x; then"),
        ("f() {\n  PATH=/c\n}\n", StatementPlace.FUNCTION, "f() {"),
        ("function f {\n  PATH=/c\n}\n", StatementPlace.FUNCTION, "function f {"),
        ("for d in a b; do\n  PATH=/c\ndone\n", StatementPlace.LOOP, "for d in a b; do"),
        ("while x; do\n  PATH=/c\ndone\n", StatementPlace.LOOP, "while x; do"),
        ("until x; do\n  PATH=/c\ndone\n", StatementPlace.LOOP, "until x; do"),
        ("case $x in\n a)\n  PATH=/c\n  ;;\nesac\n", StatementPlace.CASE, "case $x in"),
        ("(\n  PATH=/c\n)\n", StatementPlace.SUBSHELL, "("),
        ("{\n  PATH=/c\n}\n", StatementPlace.GROUP, "{"),
        ("[ -d /c ] && PATH=/c\n", StatementPlace.CONDITION, ""),
        ("[[ -d /c ]] && export PATH=/c:$PATH\n", StatementPlace.CONDITION, ""),
        ("test -d /c && PATH=/c || true\n", StatementPlace.CONDITION, ""),
        ("f() {\n if x; then\n  PATH=/c\n fi\n}\n", StatementPlace.FUNCTION, "if x; then"),
        ("PATH=/c make\n", StatementPlace.COMMAND, ""),
        ("PATH=/c\n", StatementPlace.TOP, ""),
    ],
)
def test_says_what_a_line_stands_in(content: str, place: StatementPlace, inside: str) -> None:
    statement = _only(content)
    assert (statement.place, statement.inside) == (place, inside)


@for_each(
    "content",
    [
        "echo hi; PATH=/c\n",
        "PATH=/c; echo hi\n",
        "mkdir /x && export PATH=/c\n",
        "export PATH=/c EDITOR=vi\n",
        "PATH=/c make\n",
        "f() { PATH=/c; }\n",
        "if x; then PATH=/c; fi\n",
        "V=1; PATH=/c\n",
        "PATH=/c &\n",
        "case $x in a) PATH=/c;; esac\n",
        "case $x in\n a)\n PATH=/c;;\nesac\n",
        "{ PATH=/c; }\n",
    ],
)
def test_marks_lines_that_hold_more(content: str) -> None:
    assert _only(content).shared


@pytest.mark.parametrize(
    "content",
    [
        "CUDA_HOME=/c; export CUDA_HOME\n",
        "CUDA_HOME=/c && export CUDA_HOME\n",
        "export CUDA_HOME=/c CUDA_PATH=/c\n",
        "CUDA_HOME=/c CUDA_PATH=/c\n",
        "[ -d /c ] && CUDA_HOME=/c && export CUDA_HOME\n",
        "case $x in\n a)\n CUDA_HOME=/c\n ;;\nesac\n",
    ],
)
def test_takes_equal_statements_together(content: str) -> None:
    statement = _only(content)
    assert not statement.shared
    assert statement.assignments[0].variable == "CUDA_HOME"


@pytest.mark.parametrize(
    "content",
    [
        "cat <<EOF\nexport PATH=/c\nEOF\n",
        "cat <<'EOF'\nexport PATH=/c\nEOF\n",
        "echo 'export PATH=/c'\n",
        "# export PATH=/c\n",
        'echo "\nexport PATH=/c\n"\n',
        "MYPATH=/c\n",
        "export PATH\n",
        "alias p='PATH=/c'\n",
        "",
        "\n\n",
    ],
)
def test_finds_nothing_where_nothing_is_set(content: str) -> None:
    assert _read(content).statements == ()


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("export PATH=/a:\\\n/b:$PATH\nx\n", (1, 2)),
        ("PATH=/a:\\\n/b:$PATH\nx\n", (1, 2)),
        ('x\nexport PATH="/a:\n/b"\n', (2, 3)),
        ("[ -d /a ] &&\n  export PATH=/a\n", (1, 2)),
        ("[ -d /a ] && \\\n  export PATH=/a\nx\n", (1, 2)),
        ("x\n\nPATH=/a", (3, 3)),
    ],
)
def test_counts_the_lines_of_a_statement(content: str, lines: tuple[int, int]) -> None:
    statement = _only(content)
    rows = content.encode().splitlines(keepends=True)[lines[0] - 1 : lines[1]]
    assert (statement.line, statement.last_line) == lines
    assert content.encode()[statement.first_byte : statement.end_byte] == b"".join(rows)


def test_joins_a_value_cut_by_a_line_end() -> None:
    assert _directories("PATH=/a:\\\n/b:$PATH\n") == ["/a", "/b"]


@pytest.mark.parametrize(
    ("content", "owner"),
    [
        ("# >>> conda initialize >>>\nexport PATH=/c:$PATH\n# <<< conda initialize <<<\n", "conda initialize"),
        ("# >>> gpuassist version=1 change=x added=0 >>>\nPATH=/c\n# <<< gpuassist <<<\n", "gpuassist"),
        ("# BEGIN ANSIBLE MANAGED BLOCK\nPATH=/c\n# END ANSIBLE MANAGED BLOCK\n", "ANSIBLE MANAGED BLOCK"),
        ('export PATH="$PYENV_ROOT/bin:$PATH"\n', "pyenv"),
        ('export PATH="$NVM_DIR/bin:$PATH"\n', "nvm"),
        ("# >>> half a block >>>\nPATH=/c\n", ""),
        ("# >>> a >>>\n# <<< a <<<\nPATH=/c\n", ""),
        ("echo '# >>> a >>>'\nPATH=/c\necho '# <<< a <<<'\n", ""),
    ],
)
def test_names_the_tool_that_owns_a_line(content: str, owner: str) -> None:
    assert _only(content).owner == owner


@pytest.mark.parametrize(
    "guard",
    [
        "case $- in\n    *i*) ;;\n      *) return;;\nesac\n",
        '[ -z "$PS1" ] && return\n',
        "[[ $- != *i* ]] && return\n",
        "[[ $- == *i* ]] || return\n",
        "if [[ $- != *i* ]]; then\n  return\nfi\n",
        "[ -t 1 ] || return\n",
        '[ -n "$PS1" ] || exit 0\n',
    ],
)
def test_recognises_interactive_guards(guard: str) -> None:
    (ending,) = _read(guard + "PATH=/c\n").endings
    assert ending.interactive
    assert not ending.always


@pytest.mark.parametrize(
    ("content", "always"),
    [
        ("exec zsh\n", True),
        ("return\n", True),
        ("exit 0\n", True),
        ("[ -x /bin/zsh ] && exec /bin/zsh\n", False),
        ('[ -n "$X" ] && return\n', False),
    ],
)
def test_recognises_other_endings(content: str, always: bool) -> None:
    (ending,) = _read(content).endings
    assert not ending.interactive
    assert ending.always is always


@pytest.mark.parametrize(
    "content", ["f() {\n return 1\n}\n", "(exit 3)\n", "exec > >(tee log)\n", "x=$(exit 1)\n", "echo return\n", "# return\n"]
)
def test_ignores_what_ends_nothing(content: str) -> None:
    assert _read(content).endings == ()


def test_lists_who_uses_a_variable() -> None:
    references = _read("CUDA_HOME=/c\nexport CUDACXX=$CUDA_HOME/bin/nvcc\nalias n=${CUDA_HOME}/bin/nvcc\n").references
    assert [(one.variable, one.line) for one in references] == [("CUDA_HOME", 2), ("CUDA_HOME", 3)]


def test_reads_crlf_without_the_cr() -> None:
    statement = _only(b"export PATH=/c/bin:$PATH\r\nexport X=1\r\n")
    assert statement.text == "export PATH=/c/bin:$PATH"
    assert statement.assignments[0].elements[0].directory == "/c/bin"
    assert statement.end_byte == 26


def test_keeps_bytes_that_are_not_utf_8() -> None:
    statement = _only(b"# caf\xe9\nexport PATH=/caf\xe9/bin:$PATH\n")
    assert statement.first_byte == 7
    assert statement.assignments[0].elements[0].directory == "/caf\udce9/bin"


def test_offsets_are_bytes_after_wide_characters() -> None:
    content = "# 显卡 ü\nexport PATH=/c\n".encode()
    statement = _only(content)
    assert content[statement.first_byte : statement.end_byte] == b"export PATH=/c\n"


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfPATH=/c\n", b"\xffPATH=/c\n", b"PATH\xe9=/c\n"])
def test_a_byte_beside_the_name_makes_another_name(content: bytes) -> None:
    assert _read(content).statements == ()


def test_survives_a_nul() -> None:
    assert _only(b"a\0b\nPATH=/c\n").line == 2


@pytest.mark.parametrize("content", ["if x; then\nPATH=/c\n", 'echo "\nPATH=/c\n', "for\nPATH=/c\n", "PATH=(\nPATH=/c\n"])
def test_says_where_it_understood_nothing(content: str) -> None:
    assert _read(content).unreadable_line > 0


def test_understands_ordinary_files() -> None:
    content = 'shopt -s globstar\nalias ll="ls -l"\nif [ -f ~/.x ]; then . ~/.x; fi\neval "$(dircolors)"\nPS1=\'\\u@\\h\\$ \'\n'
    assert _read(content).unreadable_line == 0


def test_survives_a_chain_of_a_thousand() -> None:
    content = " && ".join(["[ -d /c ]"] * 1500) + " && export PATH=/c:$PATH\n"
    assert not _only(content).shared


@pytest.mark.slow
def test_reads_two_mebibytes() -> None:
    filler = b"alias ll='ls -l'  # a line like any other\n" * (2 * 1024 * 1024 // 43)
    statement = _only(filler + b"export PATH=/c/bin:$PATH\n")
    assert statement.assignments[0].elements[0].directory == "/c/bin"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(content: bytes) -> None:
    for statement in _read(content).statements:
        assert 0 <= statement.first_byte < statement.end_byte <= len(content)


SHELL_WORDS = st.lists(
    st.sampled_from(
        [
            "export",
            "PATH=",
            "CUDA_HOME=/c",
            "$PATH",
            ":",
            "\n",
            ";",
            "&&",
            "if",
            "then",
            "fi",
            "{",
            "}",
            "(",
            ")",
            '"',
            "'",
            "$",
            "<<EOF",
            "\\",
        ]
    ),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(SHELL_WORDS)
def test_any_shell_words_can_be_read(words: list[str]) -> None:
    content = " ".join(words).encode()
    for statement in _read(content).statements:
        assert content[statement.end_byte - 1 :].startswith(b"\n") or statement.end_byte == len(content)
