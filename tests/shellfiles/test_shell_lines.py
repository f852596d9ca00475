"""Lines of a bash file that set variables in less usual ways, and the files that it reads in."""

from __future__ import annotations

import pytest

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.statements import Reading, StatementPlace
from tests.rows import for_each

HOME = {"HOME": "/home/you"}


def _read(content: str) -> Reading:
    return read(content.encode(), HOME)


def _shown(content: str) -> list[str]:
    assignment = _read(content).statements[0].assignments[0]
    return ["<before>" if element.previous else element.directory or "?" for element in assignment.elements]


@pytest.mark.parametrize(
    ("line", "elements"),
    [
        ('export "PATH=/c/bin:$PATH"', ["/c/bin", "<before>"]),
        ("export 'PATH=/c/bin'", ["/c/bin"]),
        ('declare -x "PATH=$HOME/bin:$PATH"', ["/home/you/bin", "<before>"]),
        ('export "PATH+=:/c/bin"', ["<before>", "/c/bin"]),
        ('export "PATH=/c":$PATH', ["/c", "<before>"]),
        ('export "PATH=$UNKNOWN/bin"', ["?"]),
    ],
)
def test_reads_a_name_that_is_quoted_with_its_value(line: str, elements: list[str]) -> None:
    assert _shown(line + "\n") == elements
    assert not _read(line + "\n").statements[0].shared


@pytest.mark.parametrize(
    "line", ['echo "PATH=/c"', 'export "GOPATH=/c"', "export 'x PATH=/c'", 'env "PATH=/c" make', "x='PATH=/c'"]
)
def test_a_quoted_name_elsewhere_sets_nothing(line: str) -> None:
    assert _read(line + "\n").statements == ()


@pytest.mark.parametrize(
    ("content", "variables"),
    [
        ("unset CUDA_HOME\n", ["CUDA_HOME"]),
        ("unset -v CUDA_HOME LD_LIBRARY_PATH\n", ["CUDA_HOME", "LD_LIBRARY_PATH"]),
        ("unset -f PATH\n", []),
        ("unset OTHER\n", []),
    ],
)
def test_sees_what_is_unset(content: str, variables: list[str]) -> None:
    found = [assignment for statement in _read(content).statements for assignment in statement.assignments]
    assert [assignment.variable for assignment in found] == variables
    assert all(assignment.unsets and not assignment.elements for assignment in found)


@pytest.mark.parametrize(
    ("content", "place", "shared"),
    [
        ("unset CUDA_HOME; PATH=/a\n", StatementPlace.TOP, False),
        ("unset CUDA_HOME OTHER\n", StatementPlace.TOP, True),
        ("[ x ] && unset CUDA_HOME\n", StatementPlace.CONDITION, False),
        ("PATH=/a true\n", StatementPlace.COMMAND, True),
        ("PATH=/a make\n", StatementPlace.COMMAND, True),
    ],
)
def test_knows_what_shares_the_line(content: str, place: StatementPlace, shared: bool) -> None:
    statement = _read(content).statements[0]
    assert (statement.place, statement.shared) == (place, shared)


def test_forgets_a_value_that_is_unset() -> None:
    reading = _read("CUDA_HOME=/c\nunset CUDA_HOME\nPATH=$CUDA_HOME/bin\n")
    assert reading.statements[-1].assignments[0].elements[0].directory == "/bin"


@for_each(
    ("content", "paths"),
    [
        (". ~/.x\n", ["/home/you/.x"]),
        ("source $HOME/.x\n", ["/home/you/.x"]),
        ('[ -f "$HOME/.x" ] && . "$HOME/.x"\n', ["/home/you/.x"]),
        ("if x; then\n  . /etc/bashrc\nfi\n", ["/etc/bashrc"]),
        ("D=/opt\n. $D/x.sh\n", ["/opt/x.sh"]),
        ('\\. "/opt/nvm.sh"\n', ["/opt/nvm.sh"]),
        ("for f in /etc/profile.d/*.sh /x; do\n . $f\ndone\n", ["/etc/profile.d/*.sh", "/x"]),
        ('for f in /a/*; do\n if [ -r $f ]; then\n  . "$f"\n fi\ndone\n', ["/a/*"]),
        ("for f in $(ls); do\n . $f\ndone\n", [""]),
        (". ${XDG_CONFIG_HOME:-$HOME/.config}/x\n", ["/home/you/.config/x"]),
        (". $(dirname x)/y\n", [""]),
        (". <(kubectl completion bash)\n", [""]),
        ("f() { . /x; }\n", []),
        ("(. /x)\n", []),
        ("# . /x\n", []),
        ("cat <<E\n. /x\nE\n", []),
        (".\n", []),
    ],
)
def test_finds_the_files_that_it_reads_in(content: str, paths: list[str]) -> None:
    assert [source.path for source in _read(content).sources] == paths


def test_says_on_which_line_a_file_is_read_in() -> None:
    (source,) = _read('x\n\n. "$HOME/.x" # y\n').sources
    assert (source.path_written, source.line) == ('"$HOME/.x"', 3)


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("CUDA_HOME=/c\n", {"CUDA_HOME": "/c"}),
        ("if x; then\n CUDA_HOME=/c\nfi\n", {}),
        ("A=/a\nPATH=$A/bin\n", {"A": "/a", "PATH": "/a/bin"}),
        ("PATH=/x:$PATH\n", {}),
        ("ZDOTDIR=$HOME/z\n", {"ZDOTDIR": "/home/you/z"}),
    ],
)
def test_tells_the_values_that_it_leaves(content: str, values: dict[str, str]) -> None:
    assert dict(_read(content).values) == values


@pytest.mark.parametrize("name", ["CPATH", "LIBRARY_PATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "CUDA_DEVICE_ORDER"])
def test_watches_what_compilers_and_devices_look_at(name: str) -> None:
    assert _read(f"export {name}=/c\n").statements[0].assignments[0].variable == name
