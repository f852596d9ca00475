"""Where the words of a start-up file name another toolkit, and where they only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import StatementPlace
from gpuassist.shellfiles.toolkit_words import ToolkitWord, commands_run, toolkit_words
from gpuassist.shellfiles.toolkits import InstalledToolkits
from tests.rows import for_each

HOME = "/home/you"
OLD, NEW = "/usr/local/cuda-11.7", "/usr/local/cuda-12.4"
POSIX = (Dialect.BASH, Dialect.ZSH)


def _toolkit(root: str, version: str = "", links: tuple[str, ...] = (), origin: Origin = Origin.LOCAL) -> Toolkit:
    told = Version.parse(version or root.rpartition("-")[2])
    return Toolkit(root, Known(origin, "x"), Known(told, "x"), links=links)


CHOSEN = _toolkit(NEW, links=("/usr/local/cuda",))
OTHERS = (
    _toolkit(OLD, links=("/opt/old",)),
    _toolkit("/opt/nvidia/blackwell", "12.8"),
    _toolkit(f"{HOME}/envs/ml", "12.1", origin=Origin.CONDA),
)
INSTALLED = InstalledToolkits(CHOSEN, OTHERS, str, HOME, lambda path: "nsight" not in path or "12.4" not in path)


def _words(content: str, dialect: Dialect = Dialect.BASH, installed: InstalledToolkits = INSTALLED) -> tuple[ToolkitWord, ...]:
    raw = content.encode()
    return toolkit_words(raw, dialect, installed, read_startup(raw, dialect, {"HOME": HOME}).statements)


def _replaced(content: str, dialect: Dialect = Dialect.BASH, installed: InstalledToolkits = INSTALLED) -> str:
    raw = content.encode()
    for word in reversed(_words(content, dialect, installed)):
        if word.new is not None:
            raw = raw[: word.first_byte] + word.new + raw[word.end_byte :]
    return raw.decode()


@for_each("dialect", POSIX)
@for_each(
    "line",
    [
        f"export PATH={OLD}/bin:$PATH",
        f'export PATH="{OLD}/bin:$PATH"',
        f"PATH='{OLD}/bin':$PATH",
        f"export PATH=/a:{OLD}/bin:/b:{OLD}/nvvm/bin",
        f"export CUDA_HOME={OLD}/",
        "export CUDA_HOME=/usr/local/cuda-9.2",  # no longer installed
        f"export LDFLAGS='-L{OLD}/lib64 -L/opt/x -Wl,-rpath,{OLD}/lib64'",
        f"export CFLAGS=-I{OLD}/include",
        f"export XLA_FLAGS=--xla_gpu_cuda_data_dir={OLD}",
        f"add_to_path {OLD}/bin",
        f"source {OLD}/env.sh",
        f"[ -d {OLD} ] && export CUDA_HOME={OLD}",
        f"alias nvcc={OLD}/bin/nvcc",
        f": ${{CUDA_HOME:={OLD}}}",
        f"path+=({OLD}/bin)",
        f"export PATH={OLD}/bin${{PATH:+:${{PATH}}}}",
    ],
)
def test_a_directory_is_replaced_wherever_it_does_something(line: str, dialect: Dialect) -> None:
    assert _replaced(line + "\n", dialect) == line.replace(OLD, NEW).replace("cuda-9.2", "cuda-12.4") + "\n"


@pytest.mark.parametrize(
    "line",
    [
        f"set -gx CUDA_HOME {OLD}",
        f'set -gx LDFLAGS "-L{OLD}/lib64"',
        f"fish_add_path {OLD}/bin",
        f"test -d {OLD}; and set -gx PATH {OLD}/bin $PATH",
        f"alias nvcc {OLD}/bin/nvcc",
        f"export CUDA_PATH={OLD}",
    ],
)
def test_fish_too(line: str) -> None:
    assert _replaced(line + "\n", Dialect.FISH) == line.replace(OLD, NEW) + "\n"


@pytest.mark.parametrize("dialect", [Dialect.ENVIRONMENT, Dialect.ENVIRONMENT_D])
def test_lists_of_values_too(dialect: Dialect) -> None:
    content = f"# {OLD}\nPATH={OLD}/bin:/usr/bin\n#CUDA_HOME={OLD}\n"
    assert _replaced(content, dialect) == f"# {OLD}\nPATH={NEW}/bin:/usr/bin\n#CUDA_HOME={OLD}\n"


@for_each("dialect", POSIX)
@for_each(
    "content",
    [
        f"# export PATH={OLD}/bin:$PATH\n",
        f"export A=b # {OLD}\n",
        f"cat <<EOF\nexport PATH={OLD}/bin:$PATH\nEOF\n",
        f"cat > x <<'EOF'\n{OLD}\nEOF\n",
        f"echo {OLD}/bin\n",
        f"printf '%s' '{OLD}'\n",
        "for d in /usr/local/cuda-*; do echo $d; done\n",
        "PATH=/usr/local/cuda-1[12]*/bin:$PATH\n",
        "ls /usr/local/cuda-11.?\n",
        "PATH=/usr/local/cuda-11.$MINOR/bin:$PATH\n",
        "PATH=/usr/local/cuda-${VERSION}/bin:$PATH\n",
        "PATH=/usr/local/cuda-11.{7,8}/bin:$PATH\n",
        f"PATH={OLD}-backup/bin:$PATH\n",
        f"PATH={OLD}_old/bin:$PATH\n",
        "PATH=$HOME/work/cuda-samples/bin:$PATH\n",
        "PATH=$HOME/work/cuda/bin:$PATH\n",
        "PATH=/usr/local/cuda/bin:$PATH\n",  # a link to the chosen one
        f"PATH={NEW}/bin:$PATH\n",
        f"PATH={OLD}/bin make\n",  # for that one command
        "conda activate cuda-11.7\n",
        "module load cuda/11.7\n",
        f"ssh other {OLD}/bin/nvcc\n",
        f"export PATH={HOME}/envs/ml/bin:$PATH # cuda\n",
        "export PATH=$HOME/bin:$PATH\n",
        "",
    ],
)
def test_what_names_no_single_toolkit_or_does_nothing_is_left_alone(content: str, dialect: Dialect) -> None:
    assert _words(content, dialect) == ()


@pytest.mark.parametrize(
    "content",
    [
        f"# set -gx CUDA_HOME {OLD}\n",
        f"set -gx A b # {OLD}\n",
        f"echo {OLD}\n",
        "set -gx PATH /usr/local/cuda-*/bin $PATH\n",
        f"conda activate cuda-11.7\nset -gx PATH {OLD}-backup $PATH\n",
    ],
)
def test_fish_leaves_the_same_alone(content: str) -> None:
    assert _words(content, Dialect.FISH) == ()


@pytest.mark.parametrize("dialect", POSIX)
@pytest.mark.parametrize("written", ["~", "$HOME", "${HOME}", HOME])
def test_a_home_keeps_its_form(written: str, dialect: Dialect) -> None:
    mine = InstalledToolkits(
        _toolkit(f"{HOME}/cuda-12.4"), (_toolkit(f"{HOME}/cuda-11.7", links=(f"{HOME}/cuda",)),), str, HOME, bool
    )
    line = "export PATH={}/{}/bin:$PATH\n"
    for name in ("cuda-11.7", "cuda"):
        assert _replaced(line.format(written, name), dialect, mine) == line.format(written, "cuda-12.4")
        # A chosen one that lies elsewhere is written in full.
        assert _replaced(line.format(written, "cuda-11.7"), dialect) == line.format("/usr/local", "cuda-12.4")


@pytest.mark.parametrize("root", ["/opt/old", "/opt/nvidia/blackwell"])
def test_a_link_and_a_directory_whose_name_says_no_cuda_are_known_by_what_is_installed(root: str) -> None:
    assert _replaced(f"export PATH={root}/bin:$PATH\n") == f"export PATH={NEW}/bin:$PATH\n"
    assert _words(f"export PATH={root}-x/bin:$PATH\n") == ()


@pytest.mark.parametrize("dialect", POSIX)
@pytest.mark.parametrize(
    ("content", "after"),
    [
        ("B=/usr/local\nexport CUDA_HOME=$B/cuda-11.7\n", "B=/usr/local\nexport CUDA_HOME=$B/cuda-12.4\n"),
        ("export CUDA_HOME=${B}/cuda-11.7\n", "export CUDA_HOME=${B}/cuda-12.4\n"),
        ("X=cuda-11.7\nPATH=/usr/local/$X/bin:$PATH\n", "X=cuda-12.4\nPATH=/usr/local/$X/bin:$PATH\n"),
    ],
)
def test_behind_a_variable_the_last_part_is_replaced(content: str, after: str, dialect: Dialect) -> None:
    assert _replaced(content, dialect) == after


def test_behind_a_variable_nothing_is_replaced_where_the_chosen_one_lies_elsewhere() -> None:
    elsewhere = InstalledToolkits(_toolkit("/opt/nvidia/blackwell", "12.8"), (_toolkit(OLD),), str, HOME, bool)
    assert _words("export CUDA_HOME=$B/cuda-11.7\n", installed=elsewhere) == ()


VERSIONS = [
    ("export CUDA_VERSION=11.7\n", "export CUDA_VERSION=12.4\n"),
    ("export CUDA_VERSION='11.7'\n", "export CUDA_VERSION='12.4'\n"),
    ("export CUDA_VERSION=11\n", "export CUDA_VERSION=12\n"),
    ("export CUDA_VERSION=3.2\n", "export CUDA_VERSION=3.2\n"),  # of no toolkit that is installed or named
    ("CUDA_VER=9.2; PATH=/usr/local/cuda-9.2/bin:$PATH\n", "CUDA_VER=12.4; PATH=/usr/local/cuda-12.4/bin:$PATH\n"),
    ("V=11.7\nPATH=/usr/local/cuda-$V/bin:$PATH\n", "V=12.4\nPATH=/usr/local/cuda-$V/bin:$PATH\n"),
    ('V="11.7"\nexport CUDA_HOME=/usr/local/cuda-${V}\n', 'V="12.4"\nexport CUDA_HOME=/usr/local/cuda-${V}\n'),
    ("V=11.7\necho $V # cuda\n", "V=11.7\necho $V # cuda\n"),  # no directory is taken from it
    ("# V=11.7\nV=11.7\nPATH=/usr/local/cuda-$V/bin:$PATH\n", "# V=11.7\nV=12.4\nPATH=/usr/local/cuda-$V/bin:$PATH\n"),
]


@for_each("dialect", POSIX)
@for_each(("content", "after"), VERSIONS)
def test_a_version_in_a_variable_of_its_own(content: str, after: str, dialect: Dialect) -> None:
    assert _replaced(content, dialect) == after


def test_a_version_in_a_variable_of_fish() -> None:
    content = "set V 11.7\nset -gx PATH /usr/local/cuda-$V/bin $PATH\nset -gx CUDA_VERSION 11.7\n"
    assert _replaced(content, Dialect.FISH) == content.replace("11.7", "12.4")


@for_each(
    ("dialect", "content", "place", "runs_in", "inside"),
    [
        (Dialect.BASH, f"use() {{\nPATH={OLD}/bin:$PATH\n}}\n", StatementPlace.FUNCTION, "use", "use() {"),
        (Dialect.BASH, f"function use {{\nPATH={OLD}/bin:$PATH\n}}\n", StatementPlace.FUNCTION, "use", "function use {"),
        (Dialect.BASH, f'nvcc() {{\n{OLD}/bin/nvcc "$@"\n}}\n', StatementPlace.FUNCTION, "", "nvcc() {"),
        (Dialect.BASH, f"alias old='PATH={OLD}/bin:$PATH'\n", StatementPlace.TOP, "alias old", ""),
        (Dialect.BASH, f"if x; then\nA={OLD}\nfi\n", StatementPlace.BRANCH, "", "if x; then"),
        (Dialect.BASH, f"case x in\na) A={OLD};;\nesac\n", StatementPlace.CASE, "", "case x in"),
        (
            Dialect.BASH,
            f"for x in {OLD}; do :; done\n",
            StatementPlace.TOP,
            "",
            "",
        ),  # what it goes over is read whatever its body does
        (Dialect.BASH, f"for x in a; do CUDA_HOME={OLD}; done\n", StatementPlace.LOOP, "", f"for x in a; do CUDA_HOME={OLD}; done"),
        (Dialect.BASH, f"x || A={OLD}\n", StatementPlace.CONDITION, "", ""),
        (
            Dialect.ZSH,
            f"function nvcc {{ {OLD}/bin/nvcc $@ }}\n",
            StatementPlace.FUNCTION,
            "",
            f"function nvcc {{ {OLD}/bin/nvcc $@ }}",
        ),
        (Dialect.FISH, f"function use\n set PATH {OLD}/bin $PATH\nend\n", StatementPlace.FUNCTION, "use", "function use"),
        (Dialect.FISH, f"function nvcc\n {OLD}/bin/nvcc $argv\nend\n", StatementPlace.FUNCTION, "", "function nvcc"),
        (Dialect.FISH, f"alias old='set PATH {OLD}/bin $PATH'\n", StatementPlace.TOP, "alias old", ""),
        (Dialect.FISH, f"if x\n set A {OLD}\nend\n", StatementPlace.BRANCH, "", "if x"),
        (Dialect.FISH, f"x; and set A {OLD}\n", StatementPlace.CONDITION, "", ""),
    ],
)
def test_says_what_has_to_run_for_it(dialect: Dialect, content: str, place: StatementPlace, runs_in: str, inside: str) -> None:
    (word,) = _words(content, dialect)
    assert (word.place, word.runs_in, word.inside) == (place, runs_in, inside)


def test_says_in_which_rows_its_command_stands() -> None:
    (word,) = _words(f"# head\nexport LD_LIBRARY_PATH=\\\n/a:{OLD}/lib64\\\n:/b\n")
    assert (word.line, word.last_line) == (2, 4)


def test_a_place_that_only_the_other_toolkit_has_is_missing() -> None:
    missing, there = _words(f"PATH={OLD}/nsight:{OLD}/bin:$PATH\n")
    assert (missing.new, missing.missing) == (None, f"{NEW}/nsight")
    assert (there.new, there.missing) == (NEW.encode(), "")


@pytest.mark.parametrize(
    ("dialect", "content", "called"),
    [
        (Dialect.BASH, "f() { g; }\nif h; then i; fi\nx=$(j)\n# k\n", {"g", "h", "i", "j"}),
        (Dialect.FISH, "function f\n g\nend\nif h\n i\nend\n# k\n", {"g", "h", "i"}),
    ],
)
def test_knows_which_commands_a_file_runs(dialect: Dialect, content: str, called: set[str]) -> None:
    found = commands_run(content.encode(), dialect)
    assert called <= found
    assert not {"f", "k"} & found


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                OLD,
                NEW,
                "/bin",
                ":",
                "$PATH",
                "export PATH=",
                "CUDA_HOME=",
                "\n",
                " ",
                "'",
                '"',
                "#",
                "cuda-11.7",
                "$B/",
                "~/",
                "$(",
            ),
            *(
                ")",
                "if x; then\n",
                "fi\n",
                "f() {\n",
                "}\n",
                "<<EOF\n",
                "EOF\n",
                "\\",
                "ü",
                "11.7",
                "V=",
                "CUDA_VERSION=",
                "*",
                "\r\n",
                "set ",
            ),
        ]
    ),
    max_size=14,
).map("".join)


@given(PIECES, st.sampled_from([*POSIX, Dialect.FISH, Dialect.ENVIRONMENT_D]))
def test_words_are_in_order_and_what_is_replaced_needs_no_second_time(content: str, dialect: Dialect) -> None:
    words = _words(content, dialect)
    ends = [0, *(word.end_byte for word in words)]
    assert all(end <= word.first_byte < word.end_byte for end, word in zip(ends, words, strict=False))
    after = _replaced(content, dialect)
    assert all(word.new is None for word in _words(after, dialect))
