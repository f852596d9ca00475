"""Files as people really have them, run by a real bash before and after: the toolkit wins, and nothing else of theirs is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.block import cuda_lines
from gpuassist.shellfiles.edit import Lines, take_back, write
from gpuassist.shellfiles.judge import judge
from gpuassist.shellfiles.lines import Installed

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


def _repair(content: bytes) -> bytes:
    reading = read(content, {"HOME": "/nowhere/home"})
    ticked = {line.line for line in judge(reading, Installed(CHOSEN, (OTHER,), str)) if line.ticked}
    retired = (Lines(one.first_byte, one.end_byte, nested=False) for one in reading.statements if one.line in ticked)
    return write(content, cuda_lines(CHOSEN.root, ""), retired, "one")


def _path_after(content: bytes, tmp_path: Path) -> list[str]:
    rc = tmp_path / "rc"
    rc.write_bytes(content)
    command = ["bash", "--rcfile", str(rc), "-ic", 'printf "\n@%s\n" "$PATH"']
    clean = {"HOME": "/nowhere/home", "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run(command, capture_output=True, timeout=100, env=clean, start_new_session=True)
    (line,) = (line for line in done.stdout.decode().splitlines() if line.startswith("@"))
    return line[1:].split(":")


@pytest.mark.parametrize("name", FILES)
def test_the_chosen_toolkit_comes_first_and_nothing_else_goes(name: str, tmp_path: Path) -> None:
    content = FILES[name].encode()
    before, after = _path_after(content, tmp_path), _path_after(_repair(content), tmp_path)
    assert after[0] == f"{CHOSEN.root}/bin"
    assert {path for path in before if "cuda" not in path} == {path for path in after if "cuda" not in path}


@pytest.mark.parametrize("name", ["guide", "blog", "conda", "tools", "twice", "crammed"])
def test_plain_lines_of_the_old_toolkit_are_gone(name: str, tmp_path: Path) -> None:
    assert f"{OTHER.root}/bin" not in _path_after(_repair(FILES[name].encode()), tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_every_real_file_is_understood(name: str) -> None:
    assert read(FILES[name].encode(), {}).unreadable_line == 0


@pytest.mark.parametrize("name", FILES)
def test_every_real_file_stays_valid_and_comes_back(name: str) -> None:
    content = FILES[name].encode()
    repaired = _repair(content)
    assert subprocess.run(["bash", "-n"], input=repaired, timeout=100).returncode == 0
    assert _repair(repaired) == repaired
    assert take_back(repaired) == content
