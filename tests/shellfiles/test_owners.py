"""Whose a line is: commands that hand the variables to another tool, and blocks that a tool keeps."""

from __future__ import annotations

import pytest

from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.owners import MODULES, tool_of
from tests.rows import for_each


@for_each(
    ("command", "tool"),
    [
        ("module load cuda/12.4", MODULES),
        ("module add cuda", MODULES),
        ("module purge", MODULES),
        ("module use ~/modules", MODULES),
        ("\\module load cuda", MODULES),
        ("module list", ""),
        ("module avail cuda", ""),
        ("module", ""),
        ("ml cuda", MODULES),
        ("ml -cuda/11", MODULES),
        ("ml", ""),
        ("ml --version", ""),
        ("spack load cuda", "spack"),
        ("spack find", ""),
        ("conda activate base", "conda"),
        ("mamba activate x", "conda"),
        ("conda list", ""),
        ('eval "$(pyenv init -)"', "pyenv"),
        ('eval "$(pyenv init --path)"', "pyenv"),
        ('eval "$(/opt/conda/bin/conda shell.bash hook)"', "conda"),
        ("eval \"$('/opt/conda/bin/conda' 'shell.bash' 'hook')\"", "conda"),
        ('eval "$(direnv hook bash)"', "direnv"),
        ('eval "$(/home/linuxbrew/.linuxbrew/bin/brew shellenv)"', "brew"),
        ('eval "$(fnm env --use-on-cd)"', "fnm"),
        ('eval "$(mise activate bash)"', "mise"),
        ('eval "$(modulecmd bash load cuda)"', MODULES),
        ('eval "$(dircolors -b)"', ""),
        ('eval "$x"', ""),
        ("ls", ""),
    ],
)
def test_knows_the_tools_that_set_variables(command: str, tool: str) -> None:
    assert tool_of(tuple(command.split(" "))) == tool


@pytest.mark.parametrize(
    ("content", "owners"),
    [
        ("module load cuda\n", [MODULES]),
        ("if x; then\n  module load cuda\nfi\n", [MODULES]),
        ("[ x ] && module load cuda\n", [MODULES]),
        ("export MODULEPATH=/m:$MODULEPATH\nmodule load cuda\n", [MODULES, MODULES]),
        ("f() { module load cuda; }\n", []),
        ("(module load cuda)\n", []),
        ("module load cuda | cat\n", []),
        ("cat <<EOF\nmodule load cuda\nEOF\n", []),
        ("# module load cuda\n", []),
        ("alias m='module load cuda'\n", []),
    ],
)
def test_finds_their_lines_in_a_file(content: str, owners: list[str]) -> None:
    assert [tool.owner for tool in read(content.encode(), {}).tools] == owners


def test_shows_the_whole_line_and_what_it_stands_in() -> None:
    (tool,) = read(b"if x; then\n  y && module load cuda # z\nfi\n", {}).tools
    assert (tool.line, tool.text, tool.inside) == (2, "y && module load cuda # z", "if x; then")


def test_tells_the_blocks_that_tools_keep() -> None:
    conda, other = b"x\n# >>> conda initialize >>>\ny\n# <<< conda initialize <<<\n", b"# BEGIN OTHER BLOCK\n# END OTHER BLOCK\n"
    assert read(conda + other, {}).blocks == (("conda initialize", 2, 4), ("OTHER BLOCK", 5, 6))


def test_a_block_that_does_not_end_is_none() -> None:
    assert read(b"# >>> conda initialize >>>\nPATH=/c:$PATH\n", {}).blocks == ()
