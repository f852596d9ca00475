"""Files as people really have them, run by a real bash before and after: the toolkit wins, and nothing else of theirs is lost."""

from __future__ import annotations

import subprocess
from difflib import unified_diff
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.edit import take_back, write
from gpuassist.shellfiles.lines import ShellLine, changes_in
from gpuassist.shellfiles.toolkits import InstalledToolkits
from tests.shellfiles.judging import RC, judge_text
from tests.shellfiles.written import block_lines

CHOSEN = Toolkit("/opt/chosen/cuda-12.4", version=Known(Version.parse("12.4"), "x"))
OTHER = Toolkit("/usr/local/cuda-11.7", version=Known(Version.parse("11.7"), "x"))

DEBIAN = r"""# ~/.bashrc: executed by bash(1) for non-login shells.
case $- in
    *i*) ;;
      *) return;;
esac
HISTCONTROL=ignoreboth
shopt -s histappend
[ -x /usr/bin/lesspipe ] && eval "$(SHELL=/bin/sh lesspipe)"
if [ -z "${debian_chroot:-}" ] && [ -r /etc/debian_chroot ]; then
    debian_chroot=$(cat /etc/debian_chroot)
fi
if [ "$color_prompt" = yes ]; then
    PS1='${debian_chroot:+($debian_chroot)}\[\033[01;32m\]\u@\h\[\033[00m\]:\w\$ '
else
    PS1='${debian_chroot:+($debian_chroot)}\u@\h:\w\$ '
fi
alias ll='ls -alF'
if ! shopt -oq posix; then
  if [ -f /usr/share/bash-completion/bash_completion_that_is_not_there ]; then
    . /usr/share/bash-completion/bash_completion
  fi
fi
"""

CUDA_BY_THE_GUIDE = r"""
export PATH=/usr/local/cuda-11.7/bin${PATH:+:${PATH}}
export LD_LIBRARY_PATH=/usr/local/cuda-11.7/lib64\
                         ${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}
"""

CUDA_BY_A_BLOG = r"""
# CUDA
export CUDA_HOME=/usr/local/cuda-11.7
export PATH=$CUDA_HOME/bin:$PATH
export LD_LIBRARY_PATH=$CUDA_HOME/lib64:$CUDA_HOME/extras/CUPTI/lib64:$LD_LIBRARY_PATH
"""

CONDA = r"""
# >>> conda initialize >>>
# !! Contents within this block are managed by 'conda init' !!
__conda_setup="$('/nowhere/miniconda3/bin/conda' 'shell.bash' 'hook' 2> /dev/null)"
if [ $? -eq 0 ]; then
    eval "$__conda_setup"
else
    if [ -f "/nowhere/miniconda3/etc/profile.d/conda.sh" ]; then
        . "/nowhere/miniconda3/etc/profile.d/conda.sh"
    else
        export PATH="/nowhere/miniconda3/bin:$PATH"
    fi
fi
unset __conda_setup
# <<< conda initialize <<<
"""

NVM_AND_PYENV = r"""
export NVM_DIR="$HOME/.nvm"
[ -s "$NVM_DIR/nvm.sh" ] && \. "$NVM_DIR/nvm.sh"  # This loads nvm
export PYENV_ROOT="$HOME/.pyenv"
[[ -d $PYENV_ROOT/bin ]] && export PATH="$PYENV_ROOT/bin:$PATH"
command -v pyenv-that-is-not-there >/dev/null && eval "$(pyenv init -)"
export BUN_INSTALL="$HOME/.bun"
export PATH="$BUN_INSTALL/bin:$PATH"
"""

MIXED = r"""
export PATH=$HOME/bin:/usr/local/cuda-11.7/bin:$HOME/.local/bin:$PATH
if [ -d /usr ]; then
  export PATH="/usr/local/cuda-11.7/bin:$PATH"
fi
add_to_path() {
  case ":$PATH:" in
    *":$1:"*) ;;
    *) export PATH="$1:$PATH" ;;
  esac
}
add_to_path "$HOME/go/bin"
for extra in "$HOME/a" "$HOME/b c"; do PATH=$extra:$PATH; done
cat > /dev/null <<'EOF'
export PATH=/usr/local/cuda-11.7/bin:$PATH
EOF
note="a text with
export CUDA_HOME=/usr/local/cuda-11.7
inside"
CUDACXX=${CUDA_HOME:-/usr}/bin/nvcc
alias use117='export PATH=/usr/local/cuda-11.7/bin:$PATH'
PROMPT_COMMAND='printf ""'
trap 'true' EXIT
"""

FILES = {
    "debian": DEBIAN,
    "guide": DEBIAN + CUDA_BY_THE_GUIDE,
    "blog": DEBIAN + CUDA_BY_A_BLOG,
    "conda": CUDA_BY_A_BLOG + CONDA,
    "tools": DEBIAN + NVM_AND_PYENV + CUDA_BY_THE_GUIDE + CONDA,
    "mixed": DEBIAN + CUDA_BY_A_BLOG + MIXED,
    "twice": CUDA_BY_A_BLOG + CUDA_BY_THE_GUIDE + CUDA_BY_A_BLOG,
    "crammed": "CUDA_HOME=/usr/local/cuda-11.7; export CUDA_HOME; PATH=$CUDA_HOME/bin:$PATH; export PATH\n" + NVM_AND_PYENV,
    "no end": MIXED.rstrip(),
}


INSTALLED = InstalledToolkits(CHOSEN, (OTHER,), str, "/nowhere/home", lambda path: True)


def _lines(content: bytes) -> tuple[ShellLine, ...]:
    return judge_text(content, INSTALLED, values=(f"{OTHER.root}/bin:/usr/bin",))


def _repair(content: bytes) -> bytes:
    return write(content, (), changes_in(_lines(content), RC), "one")


def _path_after(content: bytes, tmp_path: Path) -> list[str]:
    rc = tmp_path / "rc"
    rc.write_bytes(content)
    command = ["bash", "--rcfile", str(rc), "-ic", 'printf "\n@%s\n" "$PATH"']
    clean = {"HOME": "/nowhere/home", "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, timeout=100, env=clean, start_new_session=True)
    (line,) = (line for line in done.stdout.decode().splitlines() if line.startswith("@"))
    return line[1:].split(":")


@pytest.mark.parametrize("name", FILES)
def test_the_chosen_toolkit_takes_the_place_of_the_other_and_nothing_else_goes(name: str, tmp_path: Path) -> None:
    content = FILES[name].encode()
    before, after = _path_after(content, tmp_path), _path_after(_repair(content), tmp_path)
    chosen = [path.replace(OTHER.root, CHOSEN.root) for path in before]
    assert list(dict.fromkeys(after)) == list(dict.fromkeys(chosen))
    assert f"{OTHER.root}/bin" not in after


def test_what_is_written_of_every_file() -> None:
    """The whole change of each, as its owner reads it: words and comments, and never the same line twice."""
    diffs = {name: _difference(content.encode()) for name, content in FILES.items()}
    old, new = OTHER.root, CHOSEN.root
    assert diffs["debian"] == []
    assert diffs["conda"] == diffs["blog"] == [f"-export CUDA_HOME={old}", f"+export CUDA_HOME={new}"]
    assert (
        diffs["guide"]
        == diffs["tools"]
        == [
            f"-export PATH={old}/bin${{PATH:+:${{PATH}}}}",
            f"-export LD_LIBRARY_PATH={old}/lib64\\",
            f"+export PATH={new}/bin${{PATH:+:${{PATH}}}}",
            f"+export LD_LIBRARY_PATH={new}/lib64\\",
        ]
    )
    twice = [line.removeprefix("+# gpuassist retired one: ") for line in diffs["twice"] if line.startswith("+#")]
    assert f"export CUDA_HOME={old}" in twice
    assert sum(line == f"+export CUDA_HOME={new}" for line in diffs["twice"]) == 1


def _difference(content: bytes) -> list[str]:
    before, after = (words.decode().splitlines() for words in (content, _repair(content)))
    return [line for line in unified_diff(before, after, n=0, lineterm="") if line[:3] not in {"---", "+++"} and line[0] in "+-"]


@pytest.mark.parametrize("name", FILES)
def test_every_real_file_is_understood(name: str) -> None:
    assert read(FILES[name].encode(), {}).unreadable_line == 0


@pytest.mark.parametrize("name", FILES)
def test_every_real_file_stays_valid_and_needs_no_second_time(name: str) -> None:
    content = FILES[name].encode()
    repaired = write(content, block_lines(CHOSEN.root), changes_in(_lines(content), RC), "one")
    assert subprocess.run(["bash", "-n"], input=repaired, timeout=100).returncode == 0
    assert _repair(_repair(content)) == _repair(content)
    assert take_back(repaired).replace(CHOSEN.root.encode(), OTHER.root.encode()) == content
