"""What becomes of the lines of a start-up file for one chosen toolkit, and why: words that name another one are replaced."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.text import text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError, render
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine, choose, choose_exactly
from gpuassist.shellfiles.toolkits import InstalledToolkits, Lead
from tests.rows import for_each
from tests.shellfiles.judging import RC, changed, judge_text
from tests.shellfiles.written import block_lines

KEEP, COMMENT_OUT, REPLACE = Choice.KEEP, Choice.COMMENT_OUT, Choice.REPLACE


def _toolkit(version: str, root: str = "", origin: Origin = Origin.LOCAL, links: tuple[str, ...] = ()) -> Toolkit:
    return Toolkit(root or f"/usr/local/cuda-{version}", Known(origin, "x"), Known(Version.parse(version), "x"), links=links)


CHOSEN = _toolkit("12.4", links=("/usr/local/cuda",))
OTHERS = (
    _toolkit("11.7"),
    _toolkit("12.1", "/home/you/miniconda3/envs/ml", Origin.CONDA),
    _toolkit("11.5", "/usr", Origin.PACKAGE),
    _toolkit("12.8", "/home/you/toolkits/blackwell", Origin.HOME),
)
INSTALLED = InstalledToolkits(CHOSEN, OTHERS, str, "/home/you", lambda path: True)
HELD = ("/usr/local/cuda-11.7/bin:/usr/bin",)


def _judge(content: str, values: tuple[str, ...] | None = None, dialect: Dialect = Dialect.BASH) -> tuple[ShellLine, ...]:
    return judge_text(content.encode(), INSTALLED, values=values, dialect=dialect)


def _choices(content: str, dialect: Dialect = Dialect.BASH) -> list[Choice]:
    return [line.choice for line in _judge(content, dialect=dialect)]


def _only(content: str) -> ShellLine:
    (line,) = _judge(content)
    return line


@for_each(
    ("line", "new"),
    [
        ("export PATH=/usr/local/cuda-11.7/bin:$PATH", "export PATH=/usr/local/cuda-12.4/bin:$PATH"),
        ("export PATH=$PATH:/usr/local/cuda-11.7/bin", "export PATH=$PATH:/usr/local/cuda-12.4/bin"),
        ("export CUDA_PATH=/usr/local/cuda-11.7/", "export CUDA_PATH=/usr/local/cuda-12.4/"),
        ("export PATH=/opt/cuda/bin:$PATH # cuda", "export PATH=/usr/local/cuda-12.4/bin:$PATH # cuda"),
        ('export PATH="$HOME/toolkits/blackwell/bin:$PATH"', 'export PATH="/usr/local/cuda-12.4/bin:$PATH"'),
        ("export PATH=$HOME/cuda-9.0/bin:$PATH", "export PATH=/usr/local/cuda-12.4/bin:$PATH"),
        ("export CPATH=/usr/local/cuda-11.7/include:$CPATH", "export CPATH=/usr/local/cuda-12.4/include:$CPATH"),
        ("CUDA_HOME=/usr/local/cuda-11.7; export CUDA_HOME", "CUDA_HOME=/usr/local/cuda-12.4; export CUDA_HOME"),
        ("export PATH=/usr/local/cuda-11.7/bin:$PATH:", "export PATH=/usr/local/cuda-12.4/bin:$PATH:"),
        (
            "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:/usr/local/cuda-11.7/extras/CUPTI/lib64:$LD_LIBRARY_PATH",
            "export LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64:/usr/local/cuda-12.4/extras/CUPTI/lib64:$LD_LIBRARY_PATH",
        ),
        (
            "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64\\\n        ${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}",
            "export LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64\\\n        ${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}",
        ),
        # What else the line holds stays: the owner's directories, other variables, other commands, a condition in front.
        ("export PATH=$HOME/bin:/usr/local/cuda-11.7/bin:$PATH", "export PATH=$HOME/bin:/usr/local/cuda-12.4/bin:$PATH"),
        ("export PATH=/usr/local/cuda-11.7/bin:$(date):$PATH", "export PATH=/usr/local/cuda-12.4/bin:$(date):$PATH"),
        ("export CUDA_HOME=/opt/cuda CUDA_VISIBLE_DEVICES=0", "export CUDA_HOME=/usr/local/cuda-12.4 CUDA_VISIBLE_DEVICES=0"),
        ("echo hi; PATH=/usr/local/cuda-11.7/bin:$PATH", "echo hi; PATH=/usr/local/cuda-12.4/bin:$PATH"),
        ("[ -d /x ] && export CUDA_HOME=/opt/cuda", "[ -d /x ] && export CUDA_HOME=/usr/local/cuda-12.4"),
    ],
)
def test_the_word_that_names_another_toolkit_is_replaced(line: str, new: str) -> None:
    judged = _only(line + "\n")
    assert (judged.choice, judged.new_text, judged.other) == (REPLACE, new, True)
    assert changed((line + "\n").encode(), (judged,)) == (new + "\n").encode()


VARIABLES = [
    *("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT", "CUDADIR", "CUDA_BIN_PATH"),
    *("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "CUDACXX", "NVCC"),
    *("CUDNN_INCLUDE_DIR", "CUDNN_LIBRARY", "XLA_FLAGS", "LDFLAGS", "CFLAGS", "MANPATH", "MY_OWN"),
]


@for_each("dialect", [Dialect.BASH, Dialect.ZSH, Dialect.FISH])
@for_each("variable", VARIABLES)
def test_every_variable_that_is_set_to_another_toolkit_follows(variable: str, dialect: Dialect) -> None:
    sign = " " if dialect is Dialect.FISH else "="
    value = "--xla_gpu_cuda_data_dir=/usr/local/cuda-11.7" if variable == "XLA_FLAGS" else "/usr/local/cuda-11.7"
    command = "set -gx " if dialect is Dialect.FISH else "export "
    (line,) = _judge(f"{command}{variable}{sign}{value}\n", dialect=dialect)
    assert line.choice is REPLACE
    assert line.new_text == f"{command}{variable}{sign}{value}".replace("11.7", "12.4")


@for_each(
    ("line", "says"),
    [
        ("export PATH=/usr/local/cuda-12.4/bin:$PATH", "leads to the toolkit that you chose"),
        ("export PATH=/usr/local/cuda/bin:$PATH", "leads to the toolkit that you chose"),
        ("export CUDA_HOME=/usr/local/cuda-12.4", "leads to the toolkit that you chose"),
        ("export PATH=$HOME/bin:$PATH", "nothing to do with CUDA"),
        ("export PATH=$HOME/work/cuda-samples/bin:$PATH", "nothing to do with CUDA"),
        ("export PATH=$HOME/work/cuda/bin:$PATH", "nothing to do with CUDA"),
        ("export PATH=/usr/bin:$PATH", "nothing to do with CUDA"),
        ("export PATH=$HOME/miniconda3/envs/ml/bin:$PATH", "nothing to do with CUDA"),
        ("export PATH=$CUDA_ROOT/bin:$PATH", "only a running shell can tell"),
        ("export PATH=$(dirname $(which nvcc)):$PATH", "only a running shell can tell"),
        ("export CUDA_VISIBLE_DEVICES=0", "chooses GPUs"),
        ("PATH=/usr/local/cuda-11.7/bin make", "to that one command only"),
        ('export PATH="$PYENV_ROOT/bin:/usr/local/cuda-11.7/bin:$PATH"', "belongs to pyenv"),
    ],
)
def test_lines_that_stay(line: str, says: str) -> None:
    judged = _only(line + "\n")
    assert not judged.tickable
    assert not judged.ticked
    assert says in ENGLISH(judged.why)


VERSION_IN_PARTS = "MAJOR=11\nexport PATH=/usr/local/cuda-$MAJOR.7/bin:$PATH\n"


def test_a_line_without_such_a_word_is_commented_out() -> None:
    (line,) = _judge(VERSION_IN_PARTS)
    assert (line.line, line.choice, line.instead) == (2, COMMENT_OUT, b"")
    assert "by a way that no word can be replaced in" in ENGLISH(line.why)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (VERSION_IN_PARTS.replace("$PATH", "/opt/mine:$PATH"), "also sets /opt/mine"),
        (VERSION_IN_PARTS.replace("$PATH", "$PATH CUDA_VISIBLE_DEVICES=0"), "also sets CUDA_VISIBLE_DEVICES"),
        ("if x; then\n" + VERSION_IN_PARTS + "fi\n", "inside “if x; then”"),
    ],
)
def test_one_that_does_more_is_commented_out_by_the_user_alone(content: str, says: str) -> None:
    (line,) = _judge(content)
    assert (line.choice, line.tickable) == (KEEP, True)
    assert says in ENGLISH(line.why)


BRANCH = "if [ -d /x ]; then\n  export CUDA_HOME=/usr/local/cuda-11.7\nfi\n"
FUNCTION = "use() {\n  export CUDA_HOME=/usr/local/cuda-11.7\n}\n"
NOTHING = ("/usr/bin",)


@pytest.mark.parametrize(
    ("content", "values", "choice", "says"),
    [
        (BRANCH, HELD, REPLACE, "names another toolkit"),
        (BRANCH, NOTHING, KEEP, "inside “if [ -d /x ]; then”, and without effect in new terminals"),
        (BRANCH, None, KEEP, "inside “if [ -d /x ]; then”: whether new terminals run it is not known"),
        (FUNCTION, HELD, KEEP, "takes effect only when “use” is called, and no start-up file calls it"),
        (FUNCTION + "use\n", HELD, REPLACE, "names another toolkit"),
        (FUNCTION + "use\n", NOTHING, KEEP, "inside “use() {”, and without effect in new terminals"),
        ("alias use='PATH=/usr/local/cuda-11.7/bin:$PATH'\n", HELD, KEEP, "only when “alias use” is called"),
        ("alias nvcc=/usr/local/cuda-11.7/bin/nvcc\n", NOTHING, REPLACE, "names another toolkit"),
        ("nvcc() {\n/usr/local/cuda-11.7/bin/nvcc -O3\n}\n", ("nvcc () { /usr/local/cuda-11.7/bin/nvcc -O3 }",), REPLACE, "names"),
    ],
)
def test_what_may_not_run_is_replaced_where_a_new_terminal_shows_it(
    content: str, values: tuple[str, ...] | None, choice: Choice, says: str
) -> None:
    line = _judge(content, values)[0]
    assert line.choice is choice
    assert says in ENGLISH(line.why)


def test_a_line_in_another_tools_block_stays() -> None:
    judged = _only("# >>> conda initialize >>>\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\n# <<< conda initialize <<<\n")
    assert not judged.tickable
    assert "conda initialize" in ENGLISH(judged.why)


BROKEN = "export CUDA_HOME=/usr/local/cuda-11.7\nif then fi ((\n"


def test_in_a_file_that_is_not_understood_only_a_terminal_tells() -> None:
    (line,) = _judge(BROKEN)
    assert (line.choice, line.tickable) == (KEEP, False)
    assert "line 2 of this file could not be understood" in ENGLISH(line.why)
    assert _judge(BROKEN, HELD)[0].choice is REPLACE


def test_our_own_block_is_not_the_users() -> None:
    assert _judge("$\n" + render("one", 0, block_lines("/usr/local/cuda-11.7")).decode()) == ()


DERIVED = [
    "export CUDA_HOME=/usr/local/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n",
    "export CUDA_HOME=/usr/local/cuda-11.7\nexport CUDACXX=$CUDA_HOME/bin/nvcc\n",
    "BASE=/usr/local/cuda-11.7\nexport PATH=$BASE/bin:$PATH\n",
    "export CUDA_VERSION=11.7\nexport PATH=/usr/local/cuda-$CUDA_VERSION/bin:$PATH\n",
    "V=11.7\nexport CUDA_HOME=/usr/local/cuda-${V}\n",
]


@pytest.mark.parametrize("content", DERIVED)
def test_what_is_derived_from_a_replaced_line_follows_it(content: str) -> None:
    source, derived = _judge(content)
    assert (source.choice, derived.choice, derived.follows) == (REPLACE, KEEP, True)
    assert ENGLISH(derived.why) == "follows the lines that are replaced"
    first, second = content.splitlines()
    assert changed(content.encode(), (source, derived)).decode() == first.replace("11.7", "12.4") + f"\n{second}\n"


HOME, FIRST, LAST = "export CUDA_HOME={}\n", "export PATH={}/bin:$PATH\n", "export PATH=$PATH:{}/bin\n"
A, B, C = "/usr/local/cuda-11.7", "/usr/local/cuda-10.2", CHOSEN.root


@for_each(
    ("content", "choices"),
    [
        (HOME.format(A) + HOME.format(B), [COMMENT_OUT, REPLACE]),
        (FIRST.format(A) + FIRST.format(B), [COMMENT_OUT, REPLACE]),
        (FIRST.format(A) + FIRST.format(B) + FIRST.format(C), [COMMENT_OUT, COMMENT_OUT, KEEP]),
        (FIRST.format(C) + FIRST.format(A), [KEEP, COMMENT_OUT]),
        (LAST.format(A) + FIRST.format(B), [COMMENT_OUT, REPLACE]),
        (FIRST.format(B) + LAST.format(A), [REPLACE, COMMENT_OUT]),
        (LAST.format(A) + LAST.format(B), [REPLACE, COMMENT_OUT]),
        (HOME.format(A) + "echo $CUDA_HOME\n" + HOME.format(B), [REPLACE, REPLACE]),
        (
            HOME.format(A) + FIRST.format("$CUDA_HOME") + HOME.format(B) + FIRST.format("$CUDA_HOME"),
            [COMMENT_OUT] * 2 + [REPLACE, KEEP],
        ),
        (FIRST.format(A) + FIRST.format(B).replace("$PATH", "$HOME/x:$PATH"), [REPLACE, REPLACE]),
        (FIRST.format(A) + f"if x; then\n{FIRST.format(B)}fi\n", [REPLACE, KEEP]),
        (HOME.format(A) + f"export CUDA_PATH={A}\n", [REPLACE, REPLACE]),
    ],
)
def test_of_lines_that_would_say_the_same_the_winner_alone_is_replaced(content: str, choices: list[Choice]) -> None:
    assert _choices(content) == choices


LOADER = "export LD_LIBRARY_PATH={}$LD_LIBRARY_PATH\n"
HARMS = text("it harms a program of this machine")


@pytest.mark.parametrize(
    ("content", "choice", "after"),
    [
        (LOADER.format(f"{A}/lib64:"), COMMENT_OUT, ""),
        (LOADER.format(f"{C}/lib64:"), COMMENT_OUT, ""),
        (LOADER.format(f"{A}/lib64:/opt/x:"), REPLACE, "export LD_LIBRARY_PATH=/opt/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n"),
        (f"export PATH={A}/bin LD_LIBRARY_PATH={A}/lib64:/o\n", REPLACE, f"export PATH={C}/bin LD_LIBRARY_PATH=/o\n"),
        (LOADER.format("/opt/x:"), KEEP, LOADER.format("/opt/x:")),
    ],
)
def test_libraries_that_harm_are_taken_off_the_loaders_path(content: str, choice: Choice, after: str) -> None:
    (line,) = judge_text(content.encode(), INSTALLED, no_loader=HARMS)
    assert line.choice is choice
    assert ENGLISH(line.why) == HARMS.message or choice is KEEP
    assert changed(content.encode(), (line,)).decode() == (after or f"# gpuassist retired one: {content}")


def test_windows_line_ends_stay_where_libraries_are_taken_off() -> None:
    content = LOADER.format(f"{A}/lib64:/opt/x:").replace("\n", "\r\n").encode() + b"alias x=y\r\n"
    after = changed(content, judge_text(content, INSTALLED, no_loader=HARMS))
    assert after == b"export LD_LIBRARY_PATH=/opt/x${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\r\nalias x=y\r\n"


def test_else_libraries_on_the_loaders_path_follow() -> None:
    assert _only(LOADER.format(f"{A}/lib64:/opt/x:")).new_text == LOADER.format(f"{C}/lib64:/opt/x:").strip()


def test_what_the_chosen_toolkit_lacks_stays_and_is_said() -> None:
    installed = InstalledToolkits(CHOSEN, OTHERS, str, "/home/you", lambda path: path != f"{C}/nsight")
    content = f"export PATH={A}/nsight:$PATH\nexport CPATH={A}/include:{A}/nsight\n"
    alone, beside = judge_text(content.encode(), installed)
    assert (alone.choice, beside.new_text) == (KEEP, f"export CPATH={C}/include:{A}/nsight")
    assert ENGLISH(alone.why) == f"{C}/nsight does not exist, so this stays at the other toolkit"


def test_keeps_the_form_of_a_home() -> None:
    installed = InstalledToolkits(
        _toolkit("12.4", "/home/you/cuda-12.4"), (_toolkit("11.7", "/home/you/cuda-11.7"),), str, "/home/you", bool
    )
    for lead in ("~", "$HOME", "${HOME}", "/home/you"):
        (line,) = judge_text(f"export PATH={lead}/cuda-11.7/bin:$PATH\n".encode(), installed)
        assert line.new_text == f"export PATH={lead}/cuda-12.4/bin:$PATH"


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("export PATH=/usr/local/cuda-11.7/bin:$PATH", "puts /usr/local/cuda-11.7/bin in front of PATH"),
        ("export PATH=$PATH:$HOME/bin", "puts /home/you/bin at the end of PATH"),
        ("export PATH=/a:$PATH:/b", "puts /a:/b around PATH"),
        ("export PATH=$PATH:", "adds no directory to PATH"),
        ("export CUDA_HOME=/c", "sets CUDA_HOME to /c"),
        ("export CUDA_HOME=", "sets CUDA_HOME to ''"),
        ("export PATH=$X/bin:$PATH", "puts $X/bin in front of PATH"),
        ("export CUDA_VISIBLE_DEVICES=0,1", "sets CUDA_VISIBLE_DEVICES to 0,1"),
    ],
)
def test_says_what_a_line_does(line: str, does: str) -> None:
    assert ENGLISH(_only(line + "\n").does[0]) == does


def test_a_symlink_leads_where_it_really_leads() -> None:
    installed = InstalledToolkits(CHOSEN, OTHERS, lambda path: path.replace("/current", "/usr/local/cuda-11.7"))
    assert installed.lead("/current/bin") is Lead.OTHER


def test_a_link_of_the_chosen_one_is_not_another() -> None:
    installed = InstalledToolkits(CHOSEN, OTHERS, lambda path: path.replace("/usr/local/cuda/", "/usr/local/cuda-12.4/"))
    assert installed.lead("/usr/local/cuda/bin") is Lead.CHOSEN


def test_comments_out_exactly_what_is_asked_for() -> None:
    lines = _judge("export CUDA_HOME=/usr/local/cuda-11.7\nexport PATH=/usr/local/cuda-11.7/bin:$HOME/bin:$PATH\n")
    assert [line.choice for line in choose(lines, (2,))] == [KEEP, COMMENT_OUT]
    assert [line.choice for line in choose(lines, ())] == [KEEP, KEEP]
    assert choose(lines, None) == lines


def test_refuses_to_comment_out_what_may_not_be() -> None:
    with pytest.raises(RepairError) as raised:
        choose(_judge("export PATH=$HOME/bin:$PATH\n"), (1,))
    assert ENGLISH(raised.value.reason) == "line 1 holds nothing that can be commented out"


TWO = "export CUDA_HOME=/opt/cuda\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nexport PATH=$HOME/bin:$PATH\n"


def test_exactly_what_is_chosen_becomes_of_each_line() -> None:
    lines = choose_exactly(_judge(TWO), (LineChoice(RC, 1, Choice.REPLACE), LineChoice(RC, 2, Choice.COMMENT_OUT)))
    assert [line.choice for line in lines] == [Choice.REPLACE, Choice.COMMENT_OUT, Choice.KEEP]
    assert {line.choice for line in choose_exactly(_judge(TWO), ())} == {Choice.KEEP}


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (LineChoice(RC, 3, Choice.COMMENT_OUT), ":3 cannot be commented out: has nothing to do with CUDA"),
        (LineChoice(RC, 3, Choice.REPLACE), ":3 cannot be replaced: has nothing to do with CUDA"),
        (LineChoice(RC, 9, Choice.COMMENT_OUT), ":9 sets none of the variables"),
        (LineChoice("/home/you/.profile", 1, Choice.COMMENT_OUT), "/home/you/.profile:1 sets none"),
    ],
)
def test_refuses_what_a_line_does_not_offer(choice: LineChoice, says: str) -> None:
    with pytest.raises(RepairError) as raised:
        choose_exactly(_judge(TWO), (choice,))
    assert says in ENGLISH(raised.value.reason)
