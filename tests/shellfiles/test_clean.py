"""What should not be on a search list: which lines have it, what is suggested, and what becomes of them."""

from __future__ import annotations

import pytest

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.block import find, render
from gpuassist.shellfiles.clean import Grounds, judge_clean
from gpuassist.shellfiles.lines import Choice, ShellLine
from tests.rows import for_each
from tests.shellfiles.written import block_lines

MISSING = {"/usr/local/cuda-10.2/bin", "/usr/local/cuda-10.2", "/home/you/none", "/home/you/none2"}
GROUNDS = Grounds(lambda path: path not in MISSING)


def _clean(content: str, grounds: Grounds = GROUNDS) -> tuple[ShellLine, ...]:
    raw = content.encode()
    return judge_clean(read(raw, {"HOME": "/home/you"}), grounds, raw, find(raw), file="/home/you/.bashrc")


def _faults(line: ShellLine) -> str:
    return "; ".join(ENGLISH(words) for words in line.does)


@for_each(
    ("line", "says", "choice", "new"),
    [
        ("export PATH=/a::$PATH", "an empty entry", Choice.REPLACE, "export PATH=/a:$PATH"),
        ("export PATH=$PATH:", "an empty entry", Choice.COMMENT_OUT, ""),
        ("export PATH=/a:$PATH:", "an empty entry", Choice.REPLACE, "export PATH=/a:$PATH"),
        ("export PATH=/a:/b:/a/:$PATH", "/a/ a second time", Choice.REPLACE, "export PATH=/a:/b:$PATH"),
        ("export PATH=/usr/local/cuda-10.2/bin:$PATH", "does not exist", Choice.COMMENT_OUT, ""),
        ('export "PATH=/usr/local/cuda-10.2/bin:$PATH"', "does not exist", Choice.COMMENT_OUT, ""),
        ("export PATH=/usr/local/cuda-10.2/bin:/a:$PATH", "does not exist", Choice.REPLACE, "export PATH=/a:$PATH"),
        ("export CUDA_HOME=/usr/local/cuda-10.2", "does not exist", Choice.COMMENT_OUT, ""),
        ("export PATH=$HOME/none:$PATH", "/home/you/none does not exist", Choice.KEEP, ""),
        ("export PATH=$HOME/none:/a:$PATH", "/home/you/none does not exist", Choice.KEEP, "export PATH=/a:$PATH"),
        ("export PATH=$HOME/none::/a:$PATH", "an empty entry", Choice.REPLACE, "export PATH=$HOME/none:/a:$PATH"),
        ("export LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs", "stand-ins of the driver's libraries", Choice.COMMENT_OUT, ""),
        ("export LD_LIBRARY_PATH=/a:/usr/local/cuda/lib64/stubs/", "stand-ins", Choice.REPLACE, "export LD_LIBRARY_PATH=/a"),
        ("export LD_LIBRARY_PATH=/usr/local/cuda/compat:/a", "driver's own libcuda", Choice.KEEP, "export LD_LIBRARY_PATH=/a"),
    ],
)
def test_faults_and_what_is_suggested(line: str, says: str, choice: Choice, new: str) -> None:
    (judged,) = _clean(line + "\n")
    assert says in _faults(judged)
    assert (judged.choice, judged.new_text) == (choice, new)
    assert judged.tickable


@pytest.mark.parametrize(
    "line",
    [
        "export PATH=/a:$PATH",
        "export PATH=/usr/local/cuda-11.7/bin:$PATH",
        "export LIBRARY_PATH=/usr/local/cuda/lib64/stubs",
        "export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}",
        "export LD_LIBRARY_PATH=",
        "export CUDA_HOME=",
        "export CUDA_VISIBLE_DEVICES=",
        "export CUDA_VISIBLE_DEVICES=0,,1",
        "PATH=/home/you/none make",
        "unset LD_LIBRARY_PATH",
        "export PATH=$X/none:$PATH",
    ],
)
def test_sound_lines_are_not_named(line: str) -> None:
    assert _clean(line + "\n") == ()


PLAIN = "export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH\n"
GUARDED = "export LD_LIBRARY_PATH=/a${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"


@pytest.mark.parametrize(("empty", "choice"), [(frozenset({"LD_LIBRARY_PATH"}), Choice.REPLACE), (frozenset(), Choice.KEEP)])
def test_an_empty_element_that_is_there_is_guarded_against(empty: frozenset[str], choice: Choice) -> None:
    (judged,) = _clean(PLAIN, Grounds(bool, empty=empty))
    assert "while LD_LIBRARY_PATH is empty" in _faults(judged)
    assert (judged.choice, judged.new_text) == (choice, GUARDED)


def test_what_hurts_says_why() -> None:
    grounds = Grounds(bool, {"/a": text("torch would load its cuDNN from there")})
    (judged,) = _clean("export LD_LIBRARY_PATH=/a/:/b\n", grounds)
    assert _faults(judged) == "torch would load its cuDNN from there"
    assert (judged.choice, judged.new_text) == (Choice.REPLACE, "export LD_LIBRARY_PATH=/b")
    assert _clean("export PATH=/a:$PATH\n", grounds) == ()


@pytest.mark.parametrize(
    ("content", "idle"),
    [
        ("export PATH=/a:$PATH\nexport PATH=/a:$PATH\n", {1: "line 2 puts /a there too"}),
        ("export PATH=$PATH:/a\nexport PATH=$PATH:/a\n", {2: "line 1 puts /a there too"}),
        ("export PATH=/a:$PATH\nexport PATH=$PATH:/a\n", {2: "line 1 puts /a there too"}),
        ("export PATH=$PATH:/a\nexport PATH=/a:$PATH\n", {1: "line 2 puts /a there too"}),
        ("export PATH=/a:$PATH\nexport PATH=/b:/c\nexport PATH=/a:$PATH\n", {}),
        ("export PATH=/a:$PATH\nif true; then\nexport PATH=/a:$PATH\nfi\n", {}),
        ("export PATH=/a:$PATH\nexport LD_LIBRARY_PATH=/a\n", {}),
        ("PATH=/a:$PATH\nPATH=/a:$PATH\nPATH=/a:$PATH\n", {1: "line 2", 2: "line 3"}),
    ],
)
def test_a_directory_that_two_lines_name_is_idle_once(content: str, idle: dict[int, str]) -> None:
    judged = {line.line: _faults(line) for line in _clean(content)}
    assert judged.keys() == idle.keys()
    assert all(idle[line] in faults for line, faults in judged.items())


@pytest.mark.parametrize(
    ("content", "why", "tickable"),
    [
        ("if true; then\n  export PATH=/a::$PATH\nfi\n", "inside “if true; then”", True),
        ("f() {\n  export PATH=/a::$PATH\n}\n", "inside “f() {”", True),
        ("[ -d /home/you/none ] && export PATH=/home/you/none:/a:$PATH\n", "inside “[ -d /home/you/none ]", True),
        ("# >>> conda initialize >>>\nexport PATH=/a::$PATH\n# <<< conda initialize <<<\n", "belongs to conda initialize", False),
        ("echo hi; export PATH=/a::$PATH\n", "shares its lines", False),
        ("export PATH=/usr/local/cuda-10.2/bin:$(x):$PATH\n", "does not replace", True),
        ("export PATH=/a::$PATH\nif then fi ((\n", "of this file could not be understood", True),
    ],
)
def test_lines_that_only_the_user_ticks(content: str, why: str, tickable: bool) -> None:
    (judged,) = _clean(content)
    assert judged.choice is Choice.KEEP
    assert judged.tickable is tickable
    assert why in ENGLISH(judged.why)


def test_our_own_block_has_no_faults() -> None:
    assert _clean(render("one", 0, block_lines("/usr/local/cuda-10.2", "/usr/local/cuda-10.2/lib64")).decode()) == ()


def test_a_line_that_is_clean_now_has_no_faults() -> None:
    (judged,) = _clean("export LD_LIBRARY_PATH=/a::/usr/local/cuda/lib64/stubs:/a:$LD_LIBRARY_PATH\n")
    assert _clean(judged.instead.decode() + "\n") == ()
