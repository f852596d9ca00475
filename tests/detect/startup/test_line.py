"""One line of the table: what it does in words, and whether it may be changed; fish's universal variables are lines too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.detect.startup.chain import ChainFile, Stage
from gpuassist.detect.startup.effect import Effect, PlacedStatement
from gpuassist.detect.startup.fish_universal import universal_lines
from gpuassist.detect.startup.line import Contribution, SurveyLine, line_of, words_of
from gpuassist.detect.startup.survey import Survey, UnreadFile
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.shell_document import survey_document
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import Statement, ToolLine
from tests.fakes import put, world_under

RC = "/home/you/.bashrc"
HOLDS = Effect(Known(value=True, source="test"), text("it holds"), ("PATH",))
UNIVERSAL = "/home/you/.config/fish/fish_variables"


def line(
    content: str, *, dialect: Dialect = Dialect.BASH, ours: bool = True, sourced_by: tuple[str, int] | None = None
) -> SurveyLine:
    reading = read_startup(content.encode(), dialect, {"HOME": "/home/you"})
    file = ChainFile(RC, dialect, Stage.TERMINAL, sourced_by=sourced_by, ours=ours, reading=reading)
    said: list[Statement | ToolLine] = [*reading.statements, *reading.tools]
    return line_of(PlacedStatement(0, file, said[0]), HOLDS, None)


def terminal(nvcc: str = "", **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Known(Terminal("/usr/bin/fish", tuple(Variable(*one) for one in variables.items()), commands), "fish -i")


def universal(root: Path, rows: str, held: Fact[Terminal]) -> list[SurveyLine]:
    put(root, UNIVERSAL, f"# VERSION: 3.0\n{rows}")
    return list(universal_lines(world_under(root), held))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("export CUDA_HOME=/c\n", "sets CUDA_HOME to /c"),
        ("export PATH=/a:/b\n", "sets PATH to /a:/b"),
        ("export PATH=/a:$PATH\n", "puts /a in front of PATH"),
        ("export PATH=$PATH:/a\n", "puts /a at the end of PATH"),
        ("export PATH=/a:$PATH:/b\n", "puts /a:/b in front of PATH"),
        ("export LD_LIBRARY_PATH=\n", "sets LD_LIBRARY_PATH to ''"),
        ("unset LD_LIBRARY_PATH\n", "unsets LD_LIBRARY_PATH"),
        ("export PATH=$X/bin:$PATH\n", "puts $X/bin in front of PATH"),
        ("module load cuda/12.4\n", "lets environment modules set variables"),
    ],
)
def test_what_a_line_does_is_told_in_words(content: str, words: str) -> None:
    (told,) = line(content).contribution
    assert ENGLISH(told).lower() == words.lower()


@pytest.mark.parametrize(
    ("effect", "elements", "words"),
    [
        ("sets", ("/a", "/b"), "sets PATH to /a:/b"),
        ("sets", (), "sets PATH to ''"),
        ("prepends", ("/a",), "puts /a in front of PATH"),
        ("appends", ("/a",), "puts /a at the end of PATH"),
        ("unsets", (), "unsets PATH"),
    ],
)
def test_contribution_reads_as_a_sentence(effect: str, elements: tuple[str, ...], words: str) -> None:
    assert ENGLISH(words_of(Contribution("PATH", effect, elements))) == words


def test_line_of_two_variables_tells_each_once() -> None:
    found = line("export PATH=/a:$PATH CUDA_HOME=/c\n")
    assert found.variables == ("PATH", "CUDA_HOME")
    assert len(found.contributions) == len(found.contribution) == 2


@pytest.mark.parametrize(
    ("content", "changeable", "why"),
    [
        ("export CUDA_HOME=/c\n", True, "may be commented out or replaced"),
        ("if true; then\nexport CUDA_HOME=/c\nfi\n", True, "inside “if true; then”"),
        ("export CUDA_HOME=/c; make\n", False, "shares its lines with other commands"),
        ("CUDA_HOME=/c make\n", False, "applies to that one command only"),
        ("module load cuda\n", False, "belongs to "),
    ],
)
def test_what_stands_against_a_change_is_told(content: str, changeable: bool, why: str) -> None:
    found = line(content)
    assert (found.changeable, ENGLISH(found.why)[: len(why)]) == (changeable, why)


def test_file_of_others_is_not_changed() -> None:
    found = line("export CUDA_HOME=/c\n", ours=False)
    assert (found.changeable, ENGLISH(found.why)) == (False, f"{RC} is not a file of your own")


def test_file_that_no_shell_reads_is_changed_by_hand() -> None:
    found = line("CUDA_HOME=/c\n", dialect=Dialect.ENVIRONMENT)
    assert (found.changeable, ENGLISH(found.why)) == (False, "no shell reads this file; please change it by hand")


@pytest.mark.parametrize(("sourced_by", "read_by"), [(None, ""), (("/home/you/.profile", 7), "/home/you/.profile:7")])
def test_file_that_another_reads_in_says_where(sourced_by: tuple[str, int] | None, read_by: str) -> None:
    assert line("export CUDA_HOME=/c\n", sourced_by=sourced_by).read_by == read_by


@pytest.mark.parametrize(
    ("row", "held", "holds", "wins"),
    [
        ("SETUVAR --export CUDA_HOME:/c", terminal(CUDA_HOME="/c"), True, ("CUDA_HOME",)),
        ("SETUVAR --export CUDA_HOME:/c", terminal(CUDA_HOME="/d"), False, ()),
        ("SETUVAR CUDA_HOME:/c", terminal(CUDA_HOME="/c"), False, ()),
        ("SETUVAR fish_user_paths:/c/bin", terminal("/c/bin/nvcc", PATH="/c/bin:/usr/bin"), True, ("PATH",)),
        ("SETUVAR fish_user_paths:/c/bin", terminal("/d/bin/nvcc", PATH="/d/bin:/c/bin"), True, ()),
        ("SETUVAR fish_user_paths:/c/bin", terminal(PATH="/usr/bin"), False, ()),
        ("SETUVAR --export LD_LIBRARY_PATH:/q\\x1e/r", terminal(LD_LIBRARY_PATH="/q:/r"), True, ("LD_LIBRARY_PATH",)),
    ],
)
def test_universal_variable_is_judged_by_the_terminal(
    tmp_path: Path, row: str, held: Fact[Terminal], holds: bool, wins: tuple[str, ...]
) -> None:
    (found,) = universal(tmp_path, row + "\n", held)
    assert isinstance(found.in_effect, Known)
    assert (found.in_effect.value, found.wins) == (holds, wins)


def test_universal_variable_is_fishs_own(tmp_path: Path) -> None:
    (found,) = universal(tmp_path, "SETUVAR --export CUDA_HOME:/c\n", terminal(CUDA_HOME="/c"))
    assert (found.file, found.line, found.owner, found.changeable) == (UNIVERSAL, 2, "fish", False)
    assert ENGLISH(found.why) == "fish keeps this list itself: `set --erase --universal CUDA_HOME` takes it out"


def test_universal_variable_of_a_silent_terminal_is_open(tmp_path: Path) -> None:
    (found,) = universal(tmp_path, "SETUVAR --export CUDA_HOME:/c\n", Unknown(text("fish hangs")))
    assert isinstance(found.in_effect, Unknown)
    assert (found.wins, ENGLISH(found.effect)) == ((), "the variables of a new terminal are not known")


def test_user_without_universal_variables_has_no_such_line(tmp_path: Path) -> None:
    assert universal_lines(world_under(tmp_path), terminal()) == ()


def test_list_lies_where_the_user_keeps_settings(tmp_path: Path) -> None:
    put(tmp_path, "/conf/fish/fish_variables", "SETUVAR --export CUDA_HOME:/c\n")
    world = world_under(tmp_path, variables={"XDG_CONFIG_HOME": "/conf"})
    assert [one.file for one in universal_lines(world, terminal())] == ["/conf/fish/fish_variables"]


def test_table_is_one_document_without_surrogates() -> None:
    shown = line("export CUDA_HOME=/c\n")
    survey = Survey(
        "/bin/bash", (shown,), (text("a note"),), Unknown(text("nothing was run")), (UnreadFile("/caf\udce9", text("not read")),)
    )
    document = json.loads(json.dumps(survey_document(survey, ENGLISH)))
    assert (document["seconds"], document["seconds_reason"]) == (None, "nothing was run")
    assert document["unread"] == [{"file": "/caf\\xe9", "reason": "not read"}]
    assert document["lines"][0]["contributions"] == [{"variable": "CUDA_HOME", "effect": "sets", "elements": ["/c"]}]


def test_seconds_that_are_known_need_no_reason() -> None:
    document = survey_document(Survey("/bin/bash", (), (), Known(0.25, "clock"), ()), ENGLISH)
    assert isinstance(document, dict)
    assert (document["seconds"], document["seconds_reason"]) == (0.25, None)
