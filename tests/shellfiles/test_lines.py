"""Which lines of a start-up file are ticked for one chosen toolkit, and why the others are not."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.session.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.block import RepairError, cuda_lines, find, render
from gpuassist.shellfiles.judge import judge
from gpuassist.shellfiles.line_choice import Choice, LineChoice
from gpuassist.shellfiles.lines import Installed, Lead, ShellLine, choose, choose_exactly


def _toolkit(version: str, root: str = "", origin: Origin = Origin.LOCAL, links: tuple[str, ...] = ()) -> Toolkit:
    return Toolkit(root or f"/usr/local/cuda-{version}", Known(origin, "x"), Known(Version.parse(version), "x"), links=links)


CHOSEN = _toolkit("12.4", links=("/usr/local/cuda",))
OTHERS = (
    _toolkit("11.7"),
    _toolkit("12.1", "/home/you/miniconda3/envs/ml", Origin.CONDA),
    _toolkit("11.5", "/usr", Origin.PACKAGE),
    _toolkit("12.8", "/home/you/toolkits/blackwell", Origin.HOME),
)
INSTALLED = Installed(CHOSEN, OTHERS, str)


def _judge(content: str, installed: Installed = INSTALLED) -> tuple[ShellLine, ...]:
    return judge(read(content.encode(), {"HOME": "/home/you"}), installed)


def _only(content: str) -> ShellLine:
    (line,) = _judge(content)
    return line


@pytest.mark.parametrize(
    "line",
    [
        "export PATH=/usr/local/cuda-11.7/bin:$PATH",
        "export PATH=$PATH:/usr/local/cuda-11.7/bin",
        "export CUDA_HOME=/usr/local/cuda-11.7",
        "export CUDA_PATH=/usr/local/cuda-11.7/",
        "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64",
        "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:/usr/local/cuda-11.7/extras/CUPTI/lib64:$LD_LIBRARY_PATH",
        "export PATH=/usr/local/cuda-10.2/bin:$PATH",
        "export PATH=/opt/cuda/bin:$PATH",
        "export PATH=$HOME/cuda-9.0/bin:$PATH",
        "export PATH=$HOME/toolkits/blackwell/bin:$PATH",
        "export PATH=/usr/local/cuda-12.4/bin:/usr/local/cuda-11.7/bin:$PATH",
        "CUDA_HOME=/usr/local/cuda-11.7; export CUDA_HOME",
        "export PATH=/usr/local/cuda-11.7/bin:$PATH LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64",
        "export PATH=/usr/local/cuda-11.7/bin:$PATH:",
        "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64\\\n                         ${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}",
    ],
)
def test_ticks_plain_lines_of_another_toolkit(line: str) -> None:
    judged = _only(line + "\n")
    assert judged.ticked
    assert judged.tickable
    assert judged.other


@pytest.mark.parametrize(
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
        ("PATH=/usr/local/cuda-11.7/bin make", "for that one command alone"),
        ("echo hi; PATH=/usr/local/cuda-11.7/bin:$PATH", "shares its lines"),
        ('export PATH="$PYENV_ROOT/bin:/usr/local/cuda-11.7/bin:$PATH"', "belongs to pyenv"),
    ],
)
def test_lines_that_may_not_be_retired(line: str, says: str) -> None:
    judged = _only(line + "\n")
    assert not judged.tickable
    assert not judged.ticked
    assert says in ENGLISH(judged.why)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("export PATH=/usr/local/cuda-11.7/bin:$HOME/bin:$PATH\n", "also sets $HOME/bin"),
        ("export PATH=/usr/local/cuda-11.7/bin:$X/bin:$PATH\n", "also sets $X/bin"),
        ("export PATH=/usr/local/cuda-11.7/bin:/usr/bin:/bin\n", "also sets /usr/bin, /bin"),
        ("export CUDA_HOME=/usr/local/cuda-11.7 CUDA_VISIBLE_DEVICES=0\n", "also sets CUDA_VISIBLE_DEVICES"),
        ("if [ -d /x ]; then\n  export CUDA_HOME=/usr/local/cuda-11.7\nfi\n", "stands in “if [ -d /x ]; then”"),
        ("f() {\n  export CUDA_HOME=/usr/local/cuda-11.7\n}\n", "stands in “f() {”"),
        ("[ -d /x ] && export CUDA_HOME=/usr/local/cuda-11.7\n", "stands in “[ -d /x ] && export"),
    ],
)
def test_lines_that_only_the_user_ticks(content: str, says: str) -> None:
    judged = _only(content)
    assert judged.tickable
    assert not judged.ticked
    assert says in ENGLISH(judged.why)


def test_a_line_in_another_tools_block_stays() -> None:
    judged = _only("# >>> conda initialize >>>\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\n# <<< conda initialize <<<\n")
    assert not judged.tickable
    assert "conda initialize" in ENGLISH(judged.why)


def test_ticks_nothing_in_a_file_it_cannot_read() -> None:
    lines = _judge("export CUDA_HOME=/usr/local/cuda-11.7\nif then fi ((\n")
    assert lines[0].tickable
    assert not lines[0].ticked
    assert "could not be understood" in ENGLISH(lines[0].why)


def test_our_own_block_is_not_the_users() -> None:
    content = b"$\n" + render("one", 0, cuda_lines("/usr/local/cuda-11.7", ""))
    assert judge(read(content, {}), INSTALLED, find(content)) == ()


def test_follows_a_variable_to_the_other_toolkit() -> None:
    lines = _judge("export CUDA_HOME=/usr/local/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n")
    assert [line.ticked for line in lines] == [True, True]


def test_keeps_a_home_that_a_staying_line_uses() -> None:
    lines = _judge("export CUDA_HOME=/usr/local/cuda-11.7\nexport CUDACXX=$CUDA_HOME/bin/nvcc\n")
    assert not lines[0].ticked
    assert "line 2 uses it" in ENGLISH(lines[0].why)


def test_keeps_what_a_kept_line_uses() -> None:
    content = "export CUDA_HOME=/usr/local/cuda-11.7\nexport CUDA_PATH=$CUDA_HOME\nexport CUDACXX=$CUDA_PATH/bin/nvcc\n"
    assert [line.ticked for line in _judge(content)] == [False, False]


def test_a_use_before_the_line_does_not_matter() -> None:
    lines = _judge("echo $CUDA_HOME\nexport CUDA_HOME=/usr/local/cuda-11.7\n")
    assert lines[0].ticked


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
    installed = Installed(CHOSEN, OTHERS, lambda path: path.replace("/current", "/usr/local/cuda-11.7"))
    assert installed.lead("/current/bin") is Lead.OTHER


def test_a_link_of_the_chosen_one_is_not_another() -> None:
    installed = Installed(CHOSEN, OTHERS, lambda path: path.replace("/usr/local/cuda/", "/usr/local/cuda-12.4/"))
    assert installed.lead("/usr/local/cuda/bin") is Lead.CHOSEN


def test_ticks_exactly_what_is_asked_for() -> None:
    lines = _judge("export CUDA_HOME=/usr/local/cuda-11.7\nexport PATH=/usr/local/cuda-11.7/bin:$HOME/bin:$PATH\n")
    assert [line.ticked for line in choose(lines, (2,))] == [False, True]
    assert [line.ticked for line in choose(lines, ())] == [False, False]
    assert choose(lines, None) == lines


def test_refuses_to_tick_what_may_not_be() -> None:
    with pytest.raises(RepairError) as raised:
        choose(_judge("export PATH=$HOME/bin:$PATH\n"), (1,))
    assert ENGLISH(raised.value.reason) == "line 1 holds nothing that can be retired"


def _offered(content: str, *, missing: str = "") -> tuple[ShellLine, ...]:
    """The lines of a file with what they would be rewritten to; `missing` is a directory that the chosen toolkit lacks."""
    installed = Installed(CHOSEN, OTHERS, str, "/home/you", lambda path: path != missing)
    raw = content.encode()
    return judge(read(raw, {"HOME": "/home/you"}), installed, content=raw, file="/home/you/.bashrc")


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("export PATH=/usr/local/cuda-11.7/bin:$PATH", "export PATH=/usr/local/cuda-12.4/bin:$PATH"),
        ("export CUDA_HOME=/usr/local/cuda-11.7", "export CUDA_HOME=/usr/local/cuda-12.4"),
        ("export CUDA_PATH=/usr/local/cuda-11.7/", "export CUDA_PATH=/usr/local/cuda-12.4/"),
        ("export PATH=/opt/cuda/bin:$PATH # cuda", "export PATH=/usr/local/cuda-12.4/bin:$PATH # cuda"),
        ('export PATH="$HOME/toolkits/blackwell/bin:$PATH"', 'export PATH="/usr/local/cuda-12.4/bin:$PATH"'),
        ("export CPATH=/usr/local/cuda-11.7/include:$CPATH", "export CPATH=/usr/local/cuda-12.4/include:$CPATH"),
        (
            "export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:/usr/local/cuda-11.7/extras/CUPTI/lib64",
            "export LD_LIBRARY_PATH=/usr/local/cuda-12.4/lib64:/usr/local/cuda-12.4/extras/CUPTI/lib64",
        ),
        ("if true; then\nexport CUDA_HOME=/opt/cuda\nfi", "export CUDA_HOME=/usr/local/cuda-12.4"),
        ("export PATH=$HOME/bin:/usr/local/cuda-11.7/bin:$PATH", "export PATH=$HOME/bin:$PATH"),
        ("export CUDA_HOME=/opt/cuda CUDA_VISIBLE_DEVICES=0", "export CUDA_HOME=/usr/local/cuda-12.4 CUDA_VISIBLE_DEVICES=0"),
    ],
)
def test_offers_the_line_for_the_chosen_toolkit(line: str, new: str) -> None:
    (offered,) = _offered(line + "\n")
    assert offered.new_text == new
    assert offered.choice is not Choice.REPLACE


def test_keeps_the_form_of_a_home() -> None:
    chosen = _toolkit("12.4", "/home/you/cuda-12.4")
    installed = Installed(chosen, (_toolkit("11.7", "/home/you/cuda-11.7"),), str, "/home/you")
    for lead in ("~", "$HOME", "${HOME}", "/home/you"):
        raw = f"export PATH={lead}/cuda-11.7/bin:$PATH\n".encode()
        (line,) = judge(read(raw, {"HOME": "/home/you"}), installed, content=raw)
        assert line.new_text == f"export PATH={lead}/cuda-12.4/bin:$PATH"


def test_a_mixed_line_on_another_list_is_rewritten_by_itself() -> None:
    (line,) = _offered("export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64:$HOME/lib:$LD_LIBRARY_PATH\n")
    assert line.choice is Choice.REPLACE
    assert line.new_text == "export LD_LIBRARY_PATH=$HOME/lib:$LD_LIBRARY_PATH"
    assert "only that is taken out" in ENGLISH(line.why)


def test_what_the_chosen_one_lacks_is_left_out() -> None:
    (line,) = _offered(
        "export PATH=/usr/local/cuda-11.7/bin:/usr/local/cuda-11.7/NsightCompute:$PATH\n",
        missing="/usr/local/cuda-12.4/NsightCompute",
    )
    assert line.new_text == "export PATH=/usr/local/cuda-12.4/bin:$PATH"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("export CUDA_HOME=/opt/cuda\nexport PATH=$CUDA_HOME/bin:$PATH\n", "it follows $CUDA_HOME"),
        ("export PATH=/usr/local/cuda-11.7/bin:$(date):$PATH\n", "does not rewrite"),
    ],
)
def test_says_why_no_rewriting_is_offered(content: str, why: str) -> None:
    line = _offered(content)[-1]
    assert not line.instead
    assert line.why_not is not None
    assert why in ENGLISH(line.why_not)


TWO = "export CUDA_HOME=/opt/cuda\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nexport PATH=$HOME/bin:$PATH\n"
RC = "/home/you/.bashrc"


def test_exactly_what_is_chosen_becomes_of_each_line() -> None:
    lines = choose_exactly(_offered(TWO), (LineChoice(RC, 1, Choice.REPLACE), LineChoice(RC, 2, Choice.COMMENT_OUT)))
    assert [line.choice for line in lines] == [Choice.REPLACE, Choice.COMMENT_OUT, Choice.KEEP]
    assert {line.choice for line in choose_exactly(_offered(TWO), ())} == {Choice.KEEP}


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (LineChoice(RC, 3, Choice.COMMENT_OUT), ":3 cannot be retired: has nothing to do with CUDA"),
        (LineChoice(RC, 3, Choice.REPLACE), ":3 cannot be rewritten: has nothing to do with CUDA"),
        (LineChoice(RC, 9, Choice.COMMENT_OUT), ":9 sets none of the variables"),
        (LineChoice("/home/you/.profile", 1, Choice.COMMENT_OUT), "/home/you/.profile:1 sets none"),
    ],
)
def test_refuses_what_a_line_does_not_offer(choice: LineChoice, says: str) -> None:
    with pytest.raises(RepairError) as raised:
        choose_exactly(_offered(TWO), (choice,))
    assert says in ENGLISH(raised.value.reason)


def _later(content: str) -> tuple[ShellLine, ...]:
    """The lines of a file that is read after the block, as fish reads config.fish."""
    raw = content.encode()
    return judge(read(raw, {"HOME": "/home/you"}), INSTALLED, content=raw, later=True)


def test_a_line_that_wins_over_the_block_is_rewritten_by_itself() -> None:
    (line,) = _later("export PATH=/usr/local/cuda-11.7/bin:$HOME/bin:$PATH\n")
    assert (line.choice, line.new_text) == (Choice.REPLACE, "export PATH=$HOME/bin:$PATH")
    (line,) = _later("export CUDA_HOME=/opt/cuda CUDA_VISIBLE_DEVICES=0\n")
    assert line.choice is Choice.REPLACE


def test_one_that_cannot_be_rewritten_says_that_it_wins() -> None:
    (line,) = _later("export PATH=/usr/local/cuda-11.7/bin:$(x):$PATH\n")
    assert line.choice is Choice.KEEP
    assert "wins over the new block, but also sets" in ENGLISH(line.why)


def test_a_home_that_others_use_is_rewritten_where_it_would_win() -> None:
    lines = _later("export CUDA_HOME=/opt/cuda\nexport CUDACXX=$CUDA_HOME/bin/nvcc\n")
    assert (lines[0].choice, lines[0].new_text) == (Choice.REPLACE, "export CUDA_HOME=/usr/local/cuda-12.4")
    assert "line 2 uses it" in ENGLISH(lines[0].why)
