"""Every line that may be changed, commented out or replaced at once: more than anybody chooses, and nothing breaks or gets lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.shellfiles.block import find
from gpuassist.shellfiles.clean import Grounds, judge_clean
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.edit import LineChanges, change_lines, take_back, write
from gpuassist.shellfiles.lines import ShellLine, changes_in
from gpuassist.shellfiles.toolkits import InstalledToolkits
from tests.shellfiles.judging import RC, judge_text
from tests.shellfiles.test_corpus import CHOSEN, FILES, OTHER
from tests.shellfiles.written import NO_LINES, block_lines

INSTALLED = InstalledToolkits(CHOSEN, (OTHER,), str, "/home/you", lambda path: True)
GROUNDS = Grounds(lambda path: "10.2" not in path, empty=frozenset({"LD_LIBRARY_PATH"}))
BLOCK = block_lines(CHOSEN.root)
HELD = (f"{OTHER.root}/bin",)


def _of_toolkit(content: bytes, dialect: Dialect) -> tuple[ShellLine, ...]:
    return judge_text(content, INSTALLED, dialect=dialect, values=HELD)


def _of_cleaning(content: bytes, dialect: Dialect) -> tuple[ShellLine, ...]:
    return judge_clean(
        read_startup(content, dialect, {"HOME": "/home/you"}), GROUNDS, content, find(content), file=RC, dialect=dialect
    )


JUDGES = [_of_toolkit, _of_cleaning]


def _changes(content: bytes, number: int, dialect: Dialect, *, rewriting: bool) -> LineChanges:
    lines = JUDGES[number](content, dialect)
    chosen = (replace(one, ticked=not rewriting and one.tickable, rewritten=rewriting and bool(one.instead)) for one in lines)
    return changes_in(chosen, RC)


def _all(content: bytes, number: int, change: str = "one", *, rewriting: bool, dialect: Dialect = Dialect.BASH) -> bytes:
    return change_lines(content, _changes(content, number, dialect, rewriting=rewriting), change)


def _comes_back(content: bytes, result: bytes, *, rewriting: bool) -> bool:
    """Comments say what they were; a replaced word is taken back by the journal, which keeps the file's bytes."""
    return rewriting or take_back(result, "one") == content


def _parses(content: bytes, shell: str = "bash") -> bool:
    command = {"bash": ["bash", "--norc", "-n"], "fish": ["fish", "--no-config", "-n"], "zsh": ["zsh", "-f", "-n"]}[shell]
    nowhere = {"HOME": "/dev/null", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, input=content, capture_output=True, timeout=100, check=False, env=nowhere).returncode == 0


WAYS = [(number, rewriting) for number in range(len(JUDGES)) for rewriting in (False, True)]


@pytest.mark.parametrize("name", FILES)
def test_every_real_file_survives_every_choice(name: str) -> None:
    content = FILES[name].encode()
    results = [_all(content, number, rewriting=rewriting) for number, rewriting in WAYS]
    assert _parses(b"\n".join(results))
    for (number, rewriting), result in zip(WAYS, results, strict=True):
        assert _all(result, number, "two", rewriting=rewriting) == result
        assert _comes_back(content, result, rewriting=rewriting)


CASES = Path(__file__).parents[1] / "cases" / "shell"
DIALECTS = {".zshrc": Dialect.ZSH, ".fish": Dialect.FISH, ".zshenv": Dialect.ZSH, ".bashrc": Dialect.BASH, ".profile": Dialect.BASH}
RECORDED = [
    pytest.param(path, marks=pytest.mark.needs(DIALECTS[path.suffix].value), id=path.name)
    for path in sorted(CASES.iterdir())
    if path.suffix in DIALECTS
]


@pytest.mark.parametrize("path", RECORDED)
def test_every_file_of_the_corpus_survives_every_choice(path: Path) -> None:
    content, dialect = path.read_bytes(), DIALECTS[path.suffix]
    sound = _parses(content, dialect.value)
    for number, rewriting in WAYS:
        result = _all(content, number, rewriting=rewriting, dialect=dialect)
        assert _all(result, number, "two", rewriting=rewriting, dialect=dialect) == result
        assert _comes_back(content, result, rewriting=rewriting)
        assert result == content or _parses(result, dialect.value) or not sound


# What conda init broke by commenting lines out (conda issue 11030, mamba issue 1356), and what rustup's tests of dotfiles hold:
# no line end at the end, Windows line ends, one line alone, comments that look like the line, a file of spaces.
OLD = b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n"
STUBS = b"export LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/a\n"
AROUND = [
    b"%s",
    b"if true; then\n%sfi\n",
    b"if true; then\n:\nelse\n  %sfi\n",
    b"if true; then\n:\nelif false; then\n%sfi\n",
    b"f() {\n\t%s}\n",
    b"function f {\n%s}\nf\n",
    b"for x in a; do\n%sdone\n",
    b"while false; do\n%sdone\n",
    b"case x in\n x)\n  %s  ;;\nesac\n",
    b"(\n%s)\n",
    b"{\n%s}\n",
    b"[ -d / ] &&\n%s",
    b"[ -d / ] && %s",
    b"if true; then\n%s%sfi\n",
    b"\n \t\n%s\n\n",
    b"# export PATH=/usr/local/cuda-11.7/bin:$PATH\n%s",
    b"cat > /dev/null <<EOF\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nEOF\n%s",
    b"# caf\xe9\n%s",
    b"\xef\xbb\xbf# bom\n%s",
    b"echo a \\\n b\n%s",
    b"case $- in\n *i*) ;;\n *) return;;\nesac\n%s",
]
STATEMENTS = [OLD, STUBS, OLD.rstrip(), OLD.replace(b"\n", b"\r\n"), OLD.replace(b":$", b":\\\n/b:$"), OLD + STUBS]
SITUATIONS = [
    around.replace(b"%s", statement)
    for around in AROUND
    for statement in STATEMENTS
    if statement.endswith(b"\n") or around.endswith(b"%s")
]


@pytest.mark.parametrize("rewriting", [False, True])
@pytest.mark.parametrize("number", range(len(JUDGES)))
def test_no_situation_breaks_or_loses_anything(number: int, rewriting: bool) -> None:
    results = []
    for content in SITUATIONS:
        result = write(_all(content, number, rewriting=rewriting), BLOCK, NO_LINES, "one")
        assert write(_all(result, number, "two", rewriting=rewriting), BLOCK, NO_LINES, "two") == result
        assert _comes_back(content, result, rewriting=rewriting)
        results.append((content, result))
    sound = b"".join(b"g() {\n" + content + b"\n}\n" for content, _ in results if _stands_alone(content))
    after = b"".join(b"g() {\n" + result + b"\n}\n" for content, result in results if _stands_alone(content))
    assert _parses(sound)
    assert _parses(after)


def _stands_alone(content: bytes) -> bool:
    return b"EOF" not in content and b"\r" not in content and not content.startswith(b"\xef")


@pytest.mark.parametrize("content", [situation for situation in SITUATIONS if not _stands_alone(situation)][::3])
def test_odd_files_parse_as_before(content: bytes) -> None:
    assert _parses(_all(content, 0, rewriting=True)) is _parses(content)


def test_rewritten_lines_do_what_they_should() -> None:
    script = _all(b"if true; then\n" + OLD + b"fi\n", 0, rewriting=True) + b'echo "$PATH"\n'
    done = subprocess.run(["bash", "--norc"], input=script, capture_output=True, timeout=100, env={"PATH": "/usr/bin"}, check=True)
    assert done.stdout == b"/opt/chosen/cuda-12.4/bin:/usr/bin\n"


PIECES = st.lists(
    st.sampled_from(
        [
            *(OLD, STUBS, OLD.rstrip(), b"a\n", b"\n", b"if true; then\n", b"else\n", b"fi\n", b"f() {\n", b"}\n", b"\\", b"\r\n"),
            *(b"cat <<EOF\n", b"EOF\n", b"\xff", b"\0", b"'", b'"', b": ", b"# c", b" ;", b"&& ", b"export CUDA_HOME=/opt/cuda\n"),
            *(b"export PATH=/x::$PATH\n", b"LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:$HOME/lib:$LD_LIBRARY_PATH\n", b"$("),
        ]
    ),
    max_size=12,
).map(b"".join)


BYTES = st.binary(max_size=120).filter(lambda content: b"gpuassist" not in content)


@given(st.one_of(PIECES, BYTES), st.sampled_from(WAYS))
def test_any_file_comes_back_and_needs_no_second_time(content: bytes, way: tuple[int, bool]) -> None:
    number, rewriting = way
    result = _all(content, number, rewriting=rewriting)
    assert _comes_back(content, result, rewriting=rewriting)
    if not read_startup(content, Dialect.BASH, {}).unreadable_line:
        assert _all(result, number, "two", rewriting=rewriting) == result


@given(PIECES, st.sampled_from(WAYS))
def test_bytes_outside_the_changed_words_and_lines_stay(content: bytes, way: tuple[int, bool]) -> None:
    number, rewriting = way
    changes = _changes(content, number, Dialect.BASH, rewriting=rewriting)
    result = change_lines(content, changes, "one")
    if not rewriting:
        assert result.replace(b": # gpuassist retired one: ", b"").replace(b"# gpuassist retired one: ", b"") == content
        return
    expected, done = b"", 0
    for one in sorted(changes.replaced, key=lambda one: one.first_byte):
        assert one.first_byte >= done
        expected += content[done : one.first_byte] + one.new
        done = one.end_byte
    assert result == expected + content[done:]


@settings(max_examples=15, deadline=None)
@given(PIECES, st.sampled_from(WAYS))
def test_any_file_that_parses_still_does(content: bytes, way: tuple[int, bool]) -> None:
    number, rewriting = way
    result = write(_all(content, number, rewriting=rewriting), BLOCK, NO_LINES, "one")
    assert _parses(result) or not _parses(content)
