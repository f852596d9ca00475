"""Tries the change of start-up files on generated shapes of them, each in a world of its own, and asks real shells what came of it.

`python tools/shapes.py [--count N] [--seed N] [--jobs N] [--only ID …] [--program FILE | --tree DIR] [--out DIR]` makes N sets of
start-up files from the seed. Each is tried as an ordinary user in mount and process namespaces of its own, where /usr/local holds
made-up toolkits: shells are started in every way that a shell is started, on a pseudo-terminal where people sit, before and after
`use cuda 13.0 --yes`; then come a second run and the undo. What is expected follows from the shape and from what its shells said
before; the program is known by its words, its exit status and the bytes on the disk only. Prints a table of counts, lays files and
output of every failing shape down in DIR, and ends with 1 where there is one. Needs root, unshare, zsh, fish and tmux.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import fcntl
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import stat
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

CHOSEN = "13.0"
INSTALLED = ("11.8", "12.4", CHOSEN)
USER = "ada"
HOME = Path("/home") / USER
UID = 4242
BASH, ZSH, FISH, SH = "/bin/bash", "/usr/bin/zsh", "/usr/bin/fish", "/bin/sh"
FAMILIES = (("bash", BASH, 50), ("zsh", ZSH, 29), ("fish", FISH, 18), ("sh", SH, 3))
EVERY_SHELL = (".zshenv", ".zsh/.zshenv", ".bash_env")  # read by shells that run a script, too
LIST_NAMES = {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "MANPATH"}
VOLATILE = {"_", "SHLVL", "TMUX", "TMUX_PANE", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_TTY", "OLDPWD", "PWD", "COLUMNS", "LINES"}
TOOLKIT = re.compile(r"/usr/local/cuda(?:-(\d+\.\d+))?(?=[/:;\s\"')]|$)")
# Refusing a shape with one of these is fair: lines are kept from being read, or what chooses is no line that sets a variable.
OBSTACLES = ("syntax-error", "unclosed-heredoc", "readonly-path", "binary", "read-only", "stray", "alias", "function-nvcc",
             "fish-alias", "fish-function-nvcc", "exit-", "return-", "exec-", "tmux", "path-reset", "environment-d")  # fmt: skip


@dataclass(frozen=True)
class Line:
    text: str
    version: str = ""  # the release that it names, where replacing it in place is the whole mend of this line
    frozen: bool = False  # it has no effect on a shell and must stay as it is


Chunk = tuple[Line, ...]  # lines that stand together


@dataclass(frozen=True)
class Plain:
    """A line that chooses a toolkit literally; `mended` is what somebody who edits by hand would leave there."""

    file: str
    text: str
    version: str

    @property
    def mended(self) -> str:
        return self.text.replace(self.version, CHOSEN)


@dataclass(frozen=True)
class Shape:
    """One person's home: which shell, which start-up files."""

    number: int
    shell: str
    link: str  # the release that /usr/local/cuda leads to; empty: there is no such link
    tags: tuple[str, ...]
    files: Mapping[str, bytes]
    links: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    setup: tuple[str, ...] = ()  # what the user once typed into fish
    plain: tuple[Plain, ...] = ()
    frozen: tuple[tuple[str, str], ...] = ()  # file and text
    stray: str = ""  # the release of an nvcc in /usr/local/bin

    @property
    def text(self) -> str:
        return "\n".join((*(content.decode("latin-1") for content in self.files.values()), *self.setup))

    @property
    def sets_universal(self) -> bool:
        """Whether lines of its files, and not only what was typed once, write fish's universal variables."""
        return any(re.search(rb"set -Ux|fish_add_path (?!-g)", content) for content in self.files.values())


# --- what shapes are made of -----------------------------------------------------------------------------------------------------
#
# Every line has a mark: `*` it chooses a toolkit plainly, `=` it has no effect and must stay, `.` neither. In it, <T> is the
# toolkit's directory and <V> its release, <U> the directory of a second one, <W> a release that is not installed. An empty line
# parts chunks.


@dataclass(frozen=True)
class Style:
    """A way of choosing a toolkit."""

    name: str
    text: str
    shells: str
    weight: int


@dataclass(frozen=True)
class Trouble:
    """Something that keeps lines from being read; `place` is top, before or after the lines that choose, or end."""

    name: str
    place: str
    text: str
    shells: str
    weight: int


@dataclass(frozen=True)
class Skeleton:
    """Which files there are and how they lead to each other.

    In a file, <OWN> stands for lines of the owner's, <CUDA> for those that choose, <MORE> for others that choose, at times.
    """

    name: str
    family: str
    weight: int
    files: Mapping[str, str]


def entries(text: str) -> Iterator[tuple[list[str], str]]:
    """The head, in its parts, and the body of every entry of a catalogue."""
    for entry in text.split("\n:: ")[1:]:
        head, _, body = entry.partition("\n")
        yield [part.strip() for part in head.split("|")], body.strip("\n")


def chunks(text: str) -> list[str]:
    return text.strip("\n").split("\n\n")


def files_of(body: str) -> dict[str, str]:
    parts = (part.partition("\n") for part in body.removeprefix("-- ").split("\n-- "))
    return {name: text for name, _, text in parts}


STYLES = [
    Style(name, body, shells, int(weight))
    for (name, shells, weight), body in entries(r"""
:: path | bash zsh sh | 5
*export PATH=<T>/bin:$PATH
:: path-double | bash zsh sh | 4
*export PATH="<T>/bin:$PATH"
:: path-single | bash zsh sh | 2
*export PATH='<T>/bin':$PATH
:: path-part-quoted | bash zsh sh | 2
*export PATH="<T>"/bin:"${PATH}"
:: path-plus | bash zsh sh | 4
*export PATH=<T>/bin${PATH:+:${PATH}}
:: path-slash | bash zsh sh | 2
*export PATH=<T>/bin/:$PATH
:: path-appended | bash zsh sh | 3
*export PATH="$PATH:<T>/bin"
:: path-then-export | bash zsh sh | 2
*PATH=<T>/bin:$PATH
.export PATH
:: path-semicolon | bash zsh sh | 2
*PATH="<T>/bin:${PATH}"; export PATH
:: path-declare | bash | 2
*declare -x PATH="<T>/bin:$PATH"
:: path-typeset | bash zsh | 2
*typeset -x PATH="<T>/bin:$PATH"
:: path-comment | bash zsh sh | 2
*export PATH=<T>/bin:$PATH  # nvcc lives here
:: path-indented | bash zsh sh | 2
*	export PATH="<T>/bin:$PATH"
:: path-continued | bash zsh sh | 2
.export PATH=\
*<T>/bin:\
.$PATH
:: path-trailing-colon | bash zsh sh | 2
*export PATH=<T>/bin:$PATH:
:: path-mixed | bash zsh sh | 3
*export PATH="$HOME/bin:<T>/bin:$HOME/.local/bin:$PATH"
:: path-mixed-last | bash zsh sh | 2
*export PATH=$PATH:/opt/tools/bin:<T>/bin
:: pair | bash zsh sh | 5
*export PATH=<T>/bin:$PATH

*export LD_LIBRARY_PATH=<T>/lib64:$LD_LIBRARY_PATH
:: pair-plus | bash zsh sh | 4
*export PATH=<T>/bin${PATH:+:${PATH}}

*export LD_LIBRARY_PATH=<T>/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}
:: pair-cupti | bash zsh sh | 2
*export PATH="<T>/bin:$PATH"

*export LD_LIBRARY_PATH="<T>/lib64:<T>/extras/CUPTI/lib64:$LD_LIBRARY_PATH"
:: pair-mixed | bash zsh sh | 2
*export PATH="<T>/bin:$PATH"

*export LD_LIBRARY_PATH="/opt/mujoco/lib:<T>/lib64:$LD_LIBRARY_PATH"
:: pair-one-line | bash zsh sh | 2
*export PATH=<T>/bin:$PATH LD_LIBRARY_PATH=<T>/lib64
:: pair-trailing-colon | bash zsh sh | 2
*export PATH=<T>/bin:$PATH

*export LD_LIBRARY_PATH=<T>/lib64:
:: home | bash zsh sh | 5
*export CUDA_HOME=<T>

.export PATH=$CUDA_HOME/bin:$PATH
:: home-quoted | bash zsh sh | 3
*export CUDA_HOME="<T>"

.export PATH="${CUDA_HOME}/bin:${PATH}"
:: home-ld | bash zsh sh | 4
*export CUDA_HOME='<T>'

.export PATH=$CUDA_HOME/bin${PATH:+:$PATH}
.export LD_LIBRARY_PATH=$CUDA_HOME/lib64:$LD_LIBRARY_PATH
:: home-one-line | bash zsh sh | 2
*export CUDA_HOME=<T>; export PATH="$CUDA_HOME/bin:$PATH"
:: home-and-path | bash zsh sh | 3
*export CUDA_HOME=<T>

*export PATH=<T>/bin:$PATH
:: home-default | bash zsh sh | 2
.export CUDA_HOME="${CUDA_HOME:-<T>}"

.export PATH="$CUDA_HOME/bin:$PATH"
:: home-colon-default | bash zsh sh | 2
.: "${CUDA_HOME:=<T>}"
.export CUDA_HOME

.export PATH="$CUDA_HOME/bin:$PATH"
:: home-if-unset | bash zsh sh | 2
.if [ -z "$CUDA_HOME" ]; then
.    export CUDA_HOME=<T>
.fi

.export PATH="$CUDA_HOME/bin:$PATH"
:: home-derived | bash zsh sh | 3
*export CUDA_HOME=<T>
.export PATH=$CUDA_HOME/bin:$PATH

.export XLA_FLAGS=--xla_gpu_cuda_data_dir=$CUDA_HOME
.export CUDNN_INCLUDE_DIR=$CUDA_HOME/include
:: path-var | bash zsh sh | 2
*export CUDA_PATH=<T>

.export PATH=$CUDA_PATH/bin:$PATH
.export CUDA_HOME=$CUDA_PATH
:: version | bash zsh sh | 3
*export CUDA_VERSION=<V>

.export PATH=/usr/local/cuda-$CUDA_VERSION/bin:$PATH
.export LD_LIBRARY_PATH=/usr/local/cuda-$CUDA_VERSION/lib64:$LD_LIBRARY_PATH
:: version-braces | bash zsh sh | 2
*CUDA_VER="<V>"

.export CUDA_HOME="/usr/local/cuda-${CUDA_VER}"
.export PATH="${CUDA_HOME}/bin:${PATH}"
:: version-short | bash zsh sh | 2
*CV=<V>
.export PATH=/usr/local/cuda-$CV/bin:$PATH
:: root-variable | bash zsh sh | 2
*cuda_root=<T>
.export PATH=$cuda_root/bin:$PATH
.export LD_LIBRARY_PATH=$cuda_root/lib64:$LD_LIBRARY_PATH
:: link | bash zsh sh | 3
.export PATH=/usr/local/cuda/bin:$PATH
:: link-home | bash zsh sh | 3
.export CUDA_HOME=/usr/local/cuda

.export PATH=$CUDA_HOME/bin:$PATH
.export LD_LIBRARY_PATH=$CUDA_HOME/lib64:$LD_LIBRARY_PATH
:: link-and-literal | bash zsh sh | 2
.export PATH=/usr/local/cuda/bin:$PATH

*export CUDA_HOME=<T>
:: beaten | bash zsh sh | 3
*export PATH=<U>/bin:$PATH

*export PATH=<T>/bin:$PATH
:: beaten-pairs | bash zsh sh | 2
*export CUDA_HOME=<U>
*export PATH=<U>/bin:$PATH

*export CUDA_HOME=<T>
*export PATH=<T>/bin:$PATH

*export LD_LIBRARY_PATH=<T>/lib64:$LD_LIBRARY_PATH
:: beaten-same | bash zsh sh | 2
*export PATH=<T>/bin:$PATH

*export PATH=<T>/bin:$PATH
:: beaten-appended | bash zsh sh | 2
*export PATH="$PATH:<T>/bin"

*export PATH="$PATH:<U>/bin"
:: if-directory | bash zsh sh | 3
.if [ -d <T> ]; then
.    export PATH=<T>/bin:$PATH
.    export LD_LIBRARY_PATH=<T>/lib64:$LD_LIBRARY_PATH
.fi
:: if-link | bash zsh sh | 2
.if [ -d /usr/local/cuda ]; then
.  export CUDA_HOME=/usr/local/cuda
.  export PATH=$CUDA_HOME/bin:$PATH
.fi
:: and-directory | bash zsh sh | 2
.[ -d <T>/bin ] && export PATH="<T>/bin:$PATH"
:: if-else | bash zsh sh | 2
.if [ -d /opt/no-such-cuda ]; then
.  export CUDA_HOME=/opt/no-such-cuda
.else
.  export CUDA_HOME=<T>
.fi

.export PATH=$CUDA_HOME/bin:$PATH
:: case | bash zsh sh | 2
.case "$(uname -s)" in
.Linux)
.    export PATH="<T>/bin:$PATH"
.    ;;
.*) ;;
.esac
:: loop | bash zsh sh | 2
.for dir in /opt/tools/bin <T>/bin; do
.    PATH=$dir:$PATH
.done
.export PATH
:: loop-of-releases | bash zsh sh | 2
.for release in 10.2 <V>; do
.  if [ -d "/usr/local/cuda-$release" ]; then export PATH="/usr/local/cuda-$release/bin:$PATH"; fi
.done
:: pathmunge | bash zsh sh | 3
.pathmunge() {
.    case ":${PATH}:" in
.    *:"$1":*) ;;
.    *) PATH="$1:$PATH" ;;
.    esac
.}
.pathmunge <T>/bin
.export PATH
:: function-of-release | bash zsh sh | 2
.use_cuda() {
.    export CUDA_HOME=/usr/local/cuda-$1
.    export PATH=$CUDA_HOME/bin:$PATH
.}
.use_cuda <V>
:: function-body | bash zsh sh | 2
.setup_cuda() {
.    export PATH="<T>/bin:$PATH"
.    export LD_LIBRARY_PATH="<T>/lib64:$LD_LIBRARY_PATH"
.}
.setup_cuda
:: subdirectory-of-newest | bash zsh sh | 2
.CUDA_HOME=$(ls -d /usr/local/cuda-1[12].* | sort -V | tail -n 1)
.export CUDA_HOME PATH="$CUDA_HOME/bin:$PATH"
:: eval | bash zsh sh | 2
.eval "export PATH=<T>/bin:\$PATH"
:: path-quoted-whole | bash zsh sh | 2
*export "PATH=<T>/bin:$PATH"
:: path-plus-equals | bash zsh | 2
*export PATH+=":<T>/bin"
:: path-unless-there | bash zsh sh | 2
.case ":$PATH:" in
.    *:<T>/bin:*) ;;
.    *) export PATH="<T>/bin:$PATH" ;;
.esac
:: path-or | bash zsh | 2
.[[ ":$PATH:" == *":<T>/bin:"* ]] || export PATH="<T>/bin:$PATH"
:: path-by-command | bash zsh sh | 1
.export PATH=$(echo <T>/bin):$PATH
:: process-substitution | bash zsh | 1
.source <(echo 'export PATH=<T>/bin:$PATH')
:: ld-only | bash zsh sh | 2
*export LD_LIBRARY_PATH=<T>/lib64:$LD_LIBRARY_PATH
:: home-only | bash zsh sh | 2
*export CUDA_HOME=<T>
:: home-slash | bash zsh sh | 2
*export CUDA_HOME=<T>/
.export PATH=${CUDA_HOME}bin:$PATH
:: home-then-export | bash zsh sh | 2
*CUDA_HOME=<T>
.PATH=$CUDA_HOME/bin:$PATH
.export PATH CUDA_HOME
:: glob-loop | bash | 1
.for dir in /usr/local/cuda-1[12].*; do
.    export PATH="$dir/bin:$PATH"
.done
:: array-front | zsh | 2
*path[1,0]=(<T>/bin)
:: alias | bash zsh | 2
*export PATH=<T>/bin:$PATH

.alias nvcc=<T>/bin/nvcc
:: alias-only | bash zsh | 2
.alias nvcc='<T>/bin/nvcc'
:: function-nvcc | bash zsh sh | 2
*export PATH=<T>/bin:$PATH

.nvcc() { <T>/bin/nvcc "$@"; }
:: other-toolkit-missing | bash zsh sh | 2
*export PATH=/usr/local/cuda-<W>/bin:$PATH
:: sourced | bash zsh sh | 2
.[ -f "$HOME/.cuda-<V>.sh" ] && . "$HOME/.cuda-<V>.sh"
:: already | bash zsh sh | 2
.export PATH=/usr/local/cuda-13.0/bin:$PATH
:: none | bash zsh sh | 4
.export NO_TOOLKIT_HERE=1
:: array | zsh | 4
*path=(<T>/bin $path)
:: array-quoted | zsh | 3
.typeset -U path PATH

*path=("<T>/bin" "$path[@]")
:: array-appended | zsh | 2
*path+=(<T>/bin)
:: array-lines | zsh | 3
.path=(
.  $HOME/bin
*  <T>/bin
.  $path
.)
.export PATH
:: array-condition | zsh | 2
.[[ -d <T> ]] && path=(<T>/bin $path)
:: array-glob | zsh | 2
.path=(<T>/bin(N) $path)
:: array-tied | zsh | 3
*path=(<T>/bin $path)

.typeset -xT LD_LIBRARY_PATH ld_library_path
*ld_library_path=(<T>/lib64 $ld_library_path)
:: array-home | zsh | 3
*export CUDA_HOME=<T>
.path=($CUDA_HOME/bin $path)
:: fish-path | fish | 5
*set -gx PATH <T>/bin $PATH
:: fish-path-x | fish | 2
*set -x PATH <T>/bin $PATH
:: fish-path-quoted | fish | 2
*set -gx PATH "<T>/bin" $PATH
:: fish-path-bare | fish | 2
*set PATH <T>/bin $PATH
:: fish-path-prepend | fish | 2
*set -p PATH <T>/bin
:: fish-path-append | fish | 2
*set -gxa PATH <T>/bin
:: fish-path-mixed | fish | 2
*set -gx PATH $HOME/bin <T>/bin $HOME/.local/bin $PATH
:: fish-pair | fish | 4
*set -gx PATH <T>/bin $PATH

*set -gx LD_LIBRARY_PATH <T>/lib64 $LD_LIBRARY_PATH
:: fish-pair-colon | fish | 2
*set -gx PATH <T>/bin $PATH

*set -gx LD_LIBRARY_PATH "<T>/lib64:$LD_LIBRARY_PATH"
:: fish-add | fish | 4
*fish_add_path <T>/bin
:: fish-add-global | fish | 3
*fish_add_path -g <T>/bin
:: fish-add-move | fish | 2
*fish_add_path --move --prepend <T>/bin
:: fish-add-path | fish | 2
*fish_add_path -gP <T>/bin
:: fish-home | fish | 4
*set -gx CUDA_HOME <T>

.set -gx PATH $CUDA_HOME/bin $PATH
:: fish-home-add | fish | 3
*set -gx CUDA_HOME <T>
.fish_add_path $CUDA_HOME/bin
:: fish-export | fish | 2
*export CUDA_HOME=<T>
*export PATH="<T>/bin:$PATH"
:: fish-universal | fish | 2
*set -Ux CUDA_HOME <T>

.set -gx PATH $CUDA_HOME/bin $PATH
:: fish-version | fish | 2
*set -l cuda_version <V>
.set -gx CUDA_HOME /usr/local/cuda-$cuda_version
.set -gx PATH $CUDA_HOME/bin $PATH
:: fish-if | fish | 3
.if test -d <T>
.    set -gx CUDA_HOME <T>
.    fish_add_path <T>/bin
.end
:: fish-and | fish | 2
.test -d <T>; and set -gx PATH <T>/bin $PATH
:: fish-contains | fish | 2
.if not contains <T>/bin $PATH
.    set -gx PATH <T>/bin $PATH
.end
:: fish-loop | fish | 2
.for dir in /opt/tools/bin <T>/bin
.    set -gx PATH $dir $PATH
.end
:: fish-function | fish | 2
.function use_cuda
.    set -gx CUDA_HOME /usr/local/cuda-$argv[1]
.    set -gx PATH $CUDA_HOME/bin $PATH
.end
.use_cuda <V>
:: fish-switch | fish | 2
.switch (uname)
.    case Linux
.        set -gx PATH <T>/bin $PATH
.end
:: fish-interactive | fish | 2
.if status is-interactive
.    set -gx PATH <T>/bin $PATH
.end
:: fish-login | fish | 2
.if status is-login
.    set -gx PATH <T>/bin $PATH
.end
:: fish-link | fish | 3
.set -gx CUDA_HOME /usr/local/cuda
.fish_add_path /usr/local/cuda/bin
:: fish-alias | fish | 2
*set -gx PATH <T>/bin $PATH

.alias nvcc <T>/bin/nvcc
:: fish-function-nvcc | fish | 2
.function nvcc
.    <T>/bin/nvcc $argv
.end
:: fish-beaten | fish | 3
*set -gx PATH <U>/bin $PATH

*set -gx PATH <T>/bin $PATH
:: fish-universal-paths | fish | 3
.# the paths are universal variables
:: fish-long-options | fish | 2
*set --global --export --prepend PATH <T>/bin
:: fish-path-variable | fish | 2
*set -gx PATH <T>/bin $PATH

*set -gx --path LD_LIBRARY_PATH <T>/lib64 $LD_LIBRARY_PATH
:: fish-home-and | fish | 2
*set -gx CUDA_HOME <T>; and set -gx PATH $CUDA_HOME/bin $PATH
:: environment-d | environment.d | 2
*PATH=<T>/bin:$PATH
*CUDA_HOME=<T>
:: environment-d-derived | environment.d | 2
*CUDA_HOME=<T>
.PATH=${CUDA_HOME}/bin:${PATH}
:: fish-none | fish | 4
.set -gx NO_TOOLKIT_HERE 1
""")
]

# Other variables that lead to a toolkit.
EXTRAS = re.findall(
    r"\S+",
    """
CUDACXX=<T>/bin/nvcc CUDA_ROOT=<T> CUDAToolkit_ROOT=<T> CUDA_TOOLKIT_ROOT_DIR=<T> CUDA_PATH=<T> CUDADIR=<T> CUDA_HOME=<T>
CUDNN_INCLUDE_DIR=<T>/include CUDNN_LIB_DIR=<T>/lib64 CUDNN_PATH=<T> XLA_FLAGS=--xla_gpu_cuda_data_dir=<T> LDFLAGS=-L<T>/lib64
CFLAGS=-I<T>/include CPATH=<T>/include LIBRARY_PATH=<T>/lib64 PKG_CONFIG_PATH=<T>/pkgconfig CMAKE_PREFIX_PATH=<T> NVCC=<T>/bin/nvcc
CUDA_BIN_PATH=<T>/bin CUDA_LIB_PATH=<T>/lib64 MANPATH=<T>/man:/usr/share/man
""",
)

# Lines of the owner's that have nothing to do with the toolkit, for every POSIX shell.
OWN = chunks(r"""
.export EDITOR=vim

.alias ll='ls -alF'

.export LESS=-R

.umask 022

.export PATH="$HOME/.local/bin:$PATH"

.HISTSIZE=1000

.greet() {
.    echo "hello $1"
.}

.[ -d "$HOME/bin" ] && PATH="$HOME/bin:$PATH"

=# CUDA 11.8 lives in /usr/local/cuda-11.8

=#export PATH=/usr/local/cuda-10.2/bin:$PATH

=# TODO: move to cuda-12.4 (see /usr/local/cuda/doc)

.export CUDA_VISIBLE_DEVICES=0

.export TORCH_CUDA_ARCH_LIST="8.6;8.9"

.export PATH="$HOME/src/cuda-11.8-samples/bin:$PATH"

.export CUDA_CACHE_PATH=$HOME/.nv/cache

.export GREETING="it's a \"fine\" day; really"

.export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/opt/mujoco/bin

.

.alias gs='git status'
.alias gd='git diff'

.export PATH="/opt/tools/bin:$PATH"

.export GOPATH=$HOME/go PATH=$PATH:$HOME/go/bin

.# >>> conda initialize >>>
.# !! Contents within this block are managed by 'conda init' !!
.__conda_setup="$('/home/ada/miniconda3/bin/conda' 'shell.posix' 'hook' 2> /dev/null)"
.if [ $? -eq 0 ]; then
.    eval "$__conda_setup"
.else
.    if [ -f "/home/ada/miniconda3/etc/profile.d/conda.sh" ]; then
.        . "/home/ada/miniconda3/etc/profile.d/conda.sh"
.    else
.        export PATH="/home/ada/miniconda3/bin:$PATH"
.    fi
.fi
.unset __conda_setup
.# <<< conda initialize <<<

.export NVM_DIR="$HOME/.nvm"
.[ -s "$NVM_DIR/nvm.sh" ] && \. "$NVM_DIR/nvm.sh"  # This loads nvm

.export PYENV_ROOT="$HOME/.pyenv"
.[ -d "$PYENV_ROOT/bin" ] && export PATH="$PYENV_ROOT/bin:$PATH"
.command -v pyenv >/dev/null && eval "$(pyenv init -)"

=: <<'NOTE'
=export PATH=/usr/local/cuda-11.8/bin:$PATH
=export CUDA_HOME=/usr/local/cuda-12.4
=NOTE

=cat > /dev/null <<EOF
=CUDA_HOME=/usr/local/cuda-11.8
=nvcc is in $HOME
=EOF

.if [ -f "$HOME/.cargo/env" ]; then . "$HOME/.cargo/env"; fi
""")

OWN_BASH = chunks(r"""
.shopt -s checkwinsize histappend

.HISTCONTROL=ignoreboth

.PS1='\[\e]0;\u@\h\a\]\u:\w\$ '

.set -o vi

.PROMPT_COMMAND='printf "\033]0;%s\007" "${PWD##*/}"'

=# déjà vu: CUDA

.[ -x /usr/bin/dircolors ] && eval "$(dircolors -b)"

.[ -t 0 ] && stty -ixon

.[ -z "$SSH_AUTH_SOCK" ] && eval "$(ssh-agent -s)" > /dev/null

.trap 'history -a' DEBUG
""")

OWN_ZSH = chunks(r"""
.setopt extended_glob no_beep

.autoload -Uz compinit && compinit -u

.PROMPT='%n:%~%# '

.bindkey -e

.precmd() { print -Pn '\e]0;%~\a' }

.zstyle ':completion:*' menu select

.typeset -U path PATH

.setopt nounset
.unsetopt nounset
""")

OWN_FISH = chunks(r"""
.set -gx EDITOR vim

.alias ll 'ls -alF'

.set -g fish_greeting

.abbr -a gs git status

=# CUDA 11.8 lives in /usr/local/cuda-11.8

=#set -gx PATH /usr/local/cuda-10.2/bin $PATH

.fish_add_path -g ~/.local/bin

.function greet
.    echo hello $argv
.end

.set -gx CUDA_VISIBLE_DEVICES 0

.set -gx PATH $HOME/src/cuda-11.8-samples/bin $PATH

.set -gx LD_LIBRARY_PATH $LD_LIBRARY_PATH /opt/mujoco/bin

.if status is-interactive
.    set -g fish_key_bindings fish_default_key_bindings
.end

.set -gx GOPATH $HOME/go

.function fish_prompt
.    echo -n (prompt_pwd)'> '
.end

.if test -f /home/ada/miniconda3/bin/conda
.    eval /home/ada/miniconda3/bin/conda "shell.fish" "hook" $argv | source
.end
""")

TROUBLES = [
    Trouble(name, place, body, shells, int(weight))
    for (name, place, shells, weight), body in entries(r"""
:: guard-before | before | bash zsh | 4
.[[ $- != *i* ]] && return
:: guard-before | before | bash | 4
.case $- in
.    *i*) ;;
.      *) return;;
.esac
:: guard-before | before | bash zsh | 3
.[ -z "$PS1" ] && return
:: guard-after | after | bash zsh | 5
.[[ $- != *i* ]] && return
:: guard-after | after | bash | 3
.if [ -z "$PS1" ]; then
.    return
.fi
:: guard-tty-after | after | bash zsh | 2
.[ -t 1 ] || return
:: guard-term | before | bash zsh | 3
.if [[ "$TERM" == "dumb" ]]; then
.    PS1="$ "
.    return
.fi
:: guard-term-case | after | bash zsh | 2
.case "$TERM" in
.dumb|'') return ;;
.esac
:: return-after | after | bash zsh | 3
.return 0
:: return-if-missing | after | bash | 3
.[ -f ~/.bash_local ] || return
:: return-if-ssh | after | bash zsh | 2
.[ -n "$SSH_CONNECTION" ] && return
:: exit-noninteractive | after | bash | 1
.[[ $- == *i* ]] || exit 0
:: unclosed-heredoc | end | bash zsh | 3
.cat <<EOF >/dev/null
.unclosed
:: syntax-error | end | bash zsh | 3
.if [ -d /opt ]; then
.  export OPT=1
:: syntax-error | before | bash zsh | 1
.export BROKEN=$(echo "one
:: readonly-path | after | bash zsh | 3
.readonly PATH
:: set-eu | top | bash | 1
.set -eu
:: set-u | before | bash zsh | 2
.set -u
:: path-reset | after | bash zsh | 2
.export PATH=/usr/local/bin:/usr/bin:/bin
:: tmux | after | bash zsh | 2
.[ -z "$TMUX" ] && [ -t 1 ] && command -v tmux >/dev/null && exec tmux new-session -A -s main
:: tmux | before | bash zsh | 2
.if [[ $- == *i* ]] && [[ -z "$TMUX" ]]; then
.    exec tmux
.fi
:: banner | end | bash zsh | 2
.echo "Welcome back, $USER"
:: set-x | before | bash | 1
.set -x
:: exec-fish | after | bash | 3
.exec fish
:: exec-fish-tty | after | bash | 3
.if [ -t 1 ]; then
.    exec fish
.fi
:: exec-fish-parent | after | bash | 3
.if [[ $(ps --no-header --pid=$PPID --format=comm) != "fish" && -z ${BASH_EXECUTION_STRING} ]]; then
.    exec fish
.fi
:: exec-zsh-term | after | bash | 3
.if [ "$TERM" = "dumb" ]; then
.    echo -n
.else
.    command -v zsh >/dev/null && exec zsh
.fi
:: exec-zsh-interactive | after | bash | 3
.case $- in *i*) exec zsh ;; esac
:: exec-fish-before | before | bash | 2
.if [[ $- == *i* ]]; then exec fish; fi
:: exec-zsh-login | after | bash | 1
.[ -x /usr/bin/zsh ] && exec /usr/bin/zsh -l
:: exec-fish-from-zsh | after | zsh | 2
.[[ -o interactive ]] && exec fish
:: return-fish | after | fish | 3
.status is-interactive; or return
:: return-fish-before | before | fish | 3
.status is-interactive; or exit
:: return-fish-always | after | fish | 2
.return 0
:: syntax-error | end | fish | 3
.if test -d /opt
.    set -gx OPT 1
:: exec-zsh-from-fish | after | fish | 2
.status is-interactive; and exec zsh
:: tmux | after | fish | 2
.if status is-interactive; and not set -q TMUX
.    exec tmux
.end
:: banner | end | fish | 2
.echo welcome
""")
]

SKELETONS = [
    Skeleton(name, family, int(weight), files_of(body))
    for (name, family, weight), body in entries(r"""
:: bashrc | bash | 5
-- .bashrc
<OWN> <CUDA> <OWN>
:: debian | bash | 6
-- .bashrc
<OWN> <CUDA> <OWN>
-- .profile
.if [ -n "$BASH_VERSION" ]; then
.    if [ -f "$HOME/.bashrc" ]; then
.	. "$HOME/.bashrc"
.    fi
.fi
.if [ -d "$HOME/bin" ] ; then
.    PATH="$HOME/bin:$PATH"
.fi
<MORE>
:: debian-profile | bash | 3
-- .bashrc
<OWN> <MORE>
-- .profile
.if [ -n "$BASH_VERSION" ]; then
.    if [ -f "$HOME/.bashrc" ]; then
.	. "$HOME/.bashrc"
.    fi
.fi
.if [ -d "$HOME/bin" ] ; then
.    PATH="$HOME/bin:$PATH"
.fi
<CUDA>
:: bash-profile | bash | 3
-- .bash_profile
<OWN> <CUDA> <OWN>
:: profile | bash | 3
-- .profile
<OWN> <CUDA> <OWN>
:: bash-login | bash | 2
-- .bash_login
<CUDA>
.[ -f ~/.bashrc ] && . ~/.bashrc
-- .bashrc
<OWN> <MORE>
:: bash-profile-sources | bash | 4
-- .bash_profile
<OWN>
.if [ -f ~/.bashrc ]; then
.    source ~/.bashrc
.fi
<MORE>
-- .bashrc
<OWN> <CUDA> <OWN>
:: bash-profile-apart | bash | 3
-- .bash_profile
<CUDA> <OWN>
-- .bashrc
<OWN> <MORE>
:: both-profiles | bash | 2
-- .bash_profile
<OWN>
.. ~/.bashrc
-- .profile
<MORE>
.export FROM_PROFILE=1
-- .bashrc
<OWN> <CUDA> <OWN>
:: aliases | bash | 3
-- .bashrc
<OWN>
.if [ -f ~/.bash_aliases ]; then
.    . ~/.bash_aliases
.fi
<MORE>
-- .bash_aliases
<OWN> <CUDA> <OWN>
:: rc-directory | bash | 3
-- .bashrc
<OWN>
.for rc in ~/.bashrc.d/*.sh; do
.    [ -r "$rc" ] && . "$rc"
.done
.unset rc
-- .bashrc.d/10-own.sh
<OWN>
-- .bashrc.d/20-cuda.sh
<CUDA>
:: path-exports | bash | 3
-- .bash_profile
.for file in ~/.{path,exports,aliases,extra}; do
.	[ -r "$file" ] && [ -f "$file" ] && source "$file";
.done;
.unset file;
-- .bashrc
.[ -n "$PS1" ] && source ~/.bash_profile;
-- .exports
<OWN> <CUDA> <OWN>
-- .path
<MORE>
.export PATH=$HOME/bin:$PATH
:: loop-guard | bash | 2
-- .profile
.[ -n "$_PROFILE_READ" ] && return
.export _PROFILE_READ=1
<CUDA>
.. ~/.bashrc
-- .bashrc
.[ -n "$_PROFILE_READ" ] || . ~/.profile
<OWN>
:: bash-env | bash | 3
-- .profile
.export BASH_ENV="$HOME/.bash_env"
.. ~/.bashrc
-- .bashrc
<OWN>
.. ~/.bash_env
<OWN>
-- .bash_env
<CUDA>
:: bash-env-alone | bash | 2
-- .bashrc
.export BASH_ENV="$HOME/.bash_env"
<MORE>
-- .bash_env
<CUDA>
:: environment-d | bash | 2
-- .config/environment.d/50-cuda.conf
<CUDA>
-- .bashrc
<OWN>
-- .profile
.if [ -n "$BASH_VERSION" ]; then
.    if [ -f "$HOME/.bashrc" ]; then
.	. "$HOME/.bashrc"
.    fi
.fi
.if [ -d "$HOME/bin" ] ; then
.    PATH="$HOME/bin:$PATH"
.fi
:: zsh-by-login | bash | 2
-- .bash_profile
.if [ "$SHELL" = /bin/bash ] && [ -x /usr/bin/zsh ]; then
.    export SHELL=/usr/bin/zsh
.    exec /usr/bin/zsh -l
.fi
-- .zshrc
.HISTFILE=~/.zsh_history
<CUDA>
.HISTFILE=~/.zsh_history
:: zshrc | zsh | 6
-- .zshrc
<OWN> <CUDA> <OWN>
:: zshenv | zsh | 3
-- .zshenv
<CUDA>
-- .zshrc
<OWN> <MORE>
:: zprofile | zsh | 3
-- .zprofile
<CUDA>
-- .zshrc
<OWN>
:: zprofile-and-zshrc | zsh | 2
-- .zprofile
<MORE>
-- .zshrc
<OWN> <CUDA> <OWN>
:: zlogin | zsh | 2
-- .zlogin
<CUDA>
-- .zshrc
<OWN>
:: zsh-profile | zsh | 2
-- .zprofile
.emulate sh -c '. ~/.profile'
-- .profile
<CUDA>
-- .zshrc
<OWN>
:: zsh-sources | zsh | 3
-- .zshrc
<OWN>
.for part in ~/.zsh/*.zsh; do
.  source $part
.done
<MORE>
-- .zsh/cuda.zsh
<CUDA>
-- .zsh/own.zsh
<OWN>
:: zsh-exports | zsh | 2
-- .zshrc
<OWN>
.[[ -f ~/.exports ]] && source ~/.exports
-- .exports
<CUDA>
:: oh-my-zsh | zsh | 4
-- .zshrc
.export ZSH="$HOME/.oh-my-zsh"
.ZSH_THEME="robbyrussell"
.plugins=(git)
<MORE>
.source $ZSH/oh-my-zsh.sh
<OWN>
-- .oh-my-zsh/oh-my-zsh.sh
.for config_file ($ZSH/custom/*.zsh(N)); do
.  source $config_file
.done
.unset config_file
-- .oh-my-zsh/custom/cuda.zsh
<CUDA>
:: oh-my-zsh-late | zsh | 2
-- .zshrc
<CUDA>
.export ZSH="$HOME/.oh-my-zsh"
.source $ZSH/oh-my-zsh.sh
-- .oh-my-zsh/oh-my-zsh.sh
.for config_file ($ZSH/custom/*.zsh(N)); do source $config_file; done
-- .oh-my-zsh/custom/zz.zsh
<MORE>
.export FROM_CUSTOM=1
:: zdotdir-plain | zsh | 2
-- .zshenv
.ZDOTDIR=$HOME/.config/zsh
-- .config/zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-export | zsh | 2
-- .zshenv
.export ZDOTDIR="$HOME/.zsh"
-- .zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-default | zsh | 2
-- .zshenv
.ZDOTDIR="${ZDOTDIR:-$HOME/.zsh}"
-- .zsh/.zshrc
<OWN> <CUDA> <OWN>
-- .zshrc
.export PATH=/usr/local/cuda-11.8/bin:$PATH
:: zdotdir-assign | zsh | 2
-- .zshenv
.: ${ZDOTDIR:=$HOME/.zsh}
-- .zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-if | zsh | 2
-- .zshenv
.if [[ -z $ZDOTDIR ]]; then
.  ZDOTDIR=~/.zsh
.fi
-- .zsh/.zshrc
<OWN> <CUDA> <OWN>
-- .zsh/.zprofile
<MORE>
:: zdotdir-xdg | zsh | 2
-- .zshenv
.export ZDOTDIR="${XDG_CONFIG_HOME:-$HOME/.config}/zsh"
<MORE>
-- .config/zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-and | zsh | 2
-- .zshenv
.[[ -d ~/.config/zsh ]] && ZDOTDIR=~/.config/zsh
-- .config/zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-typeset | zsh | 1
-- .zshenv
.typeset -gx ZDOTDIR=~/.config/zsh
-- .config/zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-sourced | zsh | 2
-- .zshenv
.source ~/.config/zsh/env.zsh
-- .config/zsh/env.zsh
.export ZDOTDIR=${${(%):-%x}:A:h}
<MORE>
-- .config/zsh/.zshrc
<OWN> <CUDA> <OWN>
:: zdotdir-zshenv | zsh | 2
-- .zshenv
.export ZDOTDIR=$HOME/.zsh
.. $ZDOTDIR/.zshenv
-- .zsh/.zshenv
<CUDA>
-- .zsh/.zshrc
<OWN>
:: zsh-and-bash | zsh | 2
-- .zshrc
<OWN> <CUDA> <OWN>
-- .bashrc
.export PATH=/usr/local/cuda-11.8/bin:$PATH
-- .profile
.. ~/.bashrc
:: config | fish | 6
-- .config/fish/config.fish
<OWN> <CUDA> <OWN>
:: conf-d | fish | 4
-- .config/fish/conf.d/cuda.fish
<CUDA>
-- .config/fish/config.fish
<OWN> <MORE>
:: conf-d-late | fish | 3
-- .config/fish/conf.d/zz-paths.fish
<CUDA>
-- .config/fish/config.fish
<OWN>
:: conf-d-alone | fish | 2
-- .config/fish/conf.d/10-own.fish
<OWN>
-- .config/fish/conf.d/zz-cuda.fish
<CUDA>
:: fish-sources | fish | 3
-- .config/fish/config.fish
<OWN>
.source ~/.config/fish/local.fish
<MORE>
-- .config/fish/local.fish
<CUDA>
:: fish-optional | fish | 2
-- .config/fish/config.fish
<OWN>
.if test -f ~/.config/fish/extra/cuda.fish
.    . ~/.config/fish/extra/cuda.fish
.end
-- .config/fish/extra/cuda.fish
<CUDA>
:: sh-env | sh | 2
-- .profile
.export ENV=$HOME/.shrc
<OWN>
-- .shrc
<CUDA>
:: sh-profile | sh | 1
-- .profile
<OWN> <CUDA> <OWN>
""")
]


# --- making the shapes -----------------------------------------------------------------------------------------------------------


def shape(seed: int, number: int) -> Shape:
    """The shape of that number: the same for ever under one seed."""
    return Draft(seed, number).make()


def marked(text: str, names: Mapping[str, str]) -> Chunk:
    """Lines from lines with a mark each."""
    lines = []
    for raw in text.split("\n"):
        line = raw[1:]
        for name, value in names.items():
            line = line.replace(f"<{name}>", value)
        named = next((value for value in names.values() if re.fullmatch(r"\d+\.\d+", value) and value in line), "")
        lines.append(Line(line, named if raw[:1] == "*" else "", raw[:1] == "="))
    return tuple(lines)


def grammar(file: str, family: str) -> str:
    """The shell that the lines of a file are written for."""
    if "environment.d" in file:
        return "environment.d"
    if "fish" in file:
        return "fish"
    if "zsh" in file or file in {".zprofile", ".zlogin"}:
        return "zsh"
    return "sh" if file == ".profile" and family != "bash" else family


Weighted = TypeVar("Weighted", Style, Trouble, Skeleton)


class Draft:
    """One shape in the making; every choice comes from one source of chance."""

    def __init__(self, seed: int, number: int) -> None:
        self.chance = random.Random(f"{seed}:{number}")
        self.number = number
        self.tags: list[str] = []
        self.chunks: dict[str, list[Chunk]] = {}
        self.files: dict[str, bytes] = {}
        self.links: dict[str, str] = {}
        self.modes: dict[str, int] = {}
        self.setup: list[str] = []
        self.old, self.other = self.chance.sample(("11.8", "12.4"), 2)
        self.link = self.chance.choice(("11.8", "12.4", "12.4", CHOSEN, ""))

    def pick(self, choices: Sequence[Weighted]) -> Weighted:
        return self.chance.choices(choices, [choice.weight for choice in choices])[0]

    def odds(self, one_in: float) -> bool:
        return self.chance.random() < 1 / one_in

    def make(self) -> Shape:
        family, shell, _ = self.chance.choices(FAMILIES, [weight for *_, weight in FAMILIES])[0]
        self.tags.append(family)
        self.lay(family, self.pick([each for each in SKELETONS if each.family == family]))
        stray = self.old if self.odds(60) else ""
        if stray:
            self.tags.append("stray")
        lines = [(file, line) for file, found in self.chunks.items() for chunk in found for line in chunk]
        for file, found in self.chunks.items():
            self.files[file] = "".join(f"{line.text}\n" for chunk in found for line in chunk).encode()
        self.spoil(family)
        return Shape(
            number=self.number,
            shell=shell,
            link=self.link,
            tags=tuple(self.tags),
            files=self.files,
            links=self.links,
            modes=self.modes,
            setup=tuple(self.setup),
            plain=tuple(Plain(file, line.text, line.version) for file, line in lines if line.version),
            frozen=tuple(self.frozen()),
            stray=stray,
        )

    def frozen(self) -> Iterator[tuple[str, str]]:
        for file, found in self.chunks.items():
            for chunk in found:
                if chunk and all(line.frozen for line in chunk):
                    yield file, "\n".join(line.text for line in chunk)

    def lay(self, family: str, skeleton: Skeleton) -> None:
        """The files of a skeleton, with the owner's and the choosing lines in them."""
        self.tags.append(skeleton.name)
        troubles = self.troubles(skeleton)
        for file, template in skeleton.files.items():
            parts = re.split(r"\n(?=<)|(?<=>)[\n ]", template)
            self.chunks[file] = [chunk for part in parts for chunk in self.part(part, grammar(file, family), troubles)]
        for trouble in troubles:
            if trouble.name.startswith("exec-"):
                self.other_shell(trouble.name.split("-")[1])

    def other_shell(self, family: str) -> None:
        """The start-up file of the shell that another one hands over to."""
        file = ".config/fish/config.fish" if family == "fish" else ".zshrc"
        if file not in self.chunks:
            self.chunks[file] = [*self.owner(family), *(self.choosing(family) if self.odds(3) else [])]

    def troubles(self, skeleton: Skeleton) -> list[Trouble]:
        """At times one or two, such as the file that chooses can have: nobody hands a script's shell over to another."""
        file = next(file for file, text in skeleton.files.items() if "<CUDA>" in text)
        family = grammar(file, skeleton.family)
        fitting = [each for each in TROUBLES if family in each.shells.split()]
        if file in EVERY_SHELL:
            fitting = [each for each in fitting if not each.name.startswith(("exec-", "tmux"))]
        if not fitting or not self.odds(1.7):
            return []
        chosen = [self.pick(fitting) for _ in range(2 if self.odds(5) else 1)]
        self.tags.extend(trouble.name for trouble in chosen)
        return chosen

    def part(self, part: str, family: str, troubles: Sequence[Trouble]) -> list[Chunk]:
        if part == "<OWN>":
            return self.owner(family)
        if part == "<MORE>":
            return self.choosing(family) if self.odds(4) else []
        if part != "<CUDA>":
            return [marked(part, {})]
        around: dict[str, list[Chunk]] = {place: [] for place in ("top", "before", "after", "end")}
        for trouble in troubles:
            around[trouble.place].append(marked(trouble.text, {}))
        inner = [*around["before"], *self.choosing(family), *around["after"]]
        return [*around["top"], *inner, *self.owner(family), *around["end"]]

    def owner(self, family: str) -> list[Chunk]:
        pools = {
            "bash": OWN + OWN_BASH,
            "zsh": OWN + OWN_ZSH,
            "fish": OWN_FISH,
            "sh": OWN,
            "environment.d": ["=# EDITOR is set elsewhere"],
        }
        wanted = min(self.chance.choice((0, 1, 1, 2, 3)), len(pools[family]))
        return [marked(text, {}) for text in self.chance.sample(pools[family], wanted)]

    def choosing(self, family: str) -> list[Chunk]:
        """Lines that choose an old toolkit, in one of the many ways, with the owner's lines among them."""
        style = self.pick([style for style in STYLES if family in style.shells.split()])
        self.tags.append(style.name)
        names = {
            "T": f"/usr/local/cuda-{self.old}",
            "V": self.old,
            "U": f"/usr/local/cuda-{self.other}",
            "other": self.other,
            "W": "11.7",
        }
        found = [marked(text, names) for text in style.text.split("\n\n")]
        if not style.name.endswith("none") and family != "environment.d" and self.odds(3.5):
            found.extend(self.extras(family, names))
        if style.name == "sourced":
            self.chunks[f".cuda-{self.old}.sh"] = [marked("*export PATH=<T>/bin:$PATH\n*export CUDA_HOME=<T>", names)]
        if style.name == "fish-universal-paths":
            self.setup.extend((f"set -Ux CUDA_HOME {names['T']}", f"fish_add_path {names['T']}/bin"))
        mixed: list[Chunk] = []
        for chunk in found:
            mixed.extend([chunk, *(self.owner(family)[:1] if self.odds(5) else [])])
        return mixed

    def extras(self, family: str, names: Mapping[str, str]) -> list[Chunk]:
        """Other variables that lead to the toolkit."""
        chosen = self.chance.sample(EXTRAS, self.chance.choice((1, 1, 2, 4)))
        made = []
        for name, _, value in (extra.partition("=") for extra in chosen):
            self.tags.append(name)
            quoted = self.chance.choice((value, f'"{value}"'))
            made.append(marked(f"*set -gx {name} {value}" if family == "fish" else f"*export {name}={quoted}", names))
        return made

    def spoil(self, family: str) -> None:
        """Bytes, links and modes that make a file harder to handle."""
        file = self.chance.choice(sorted(self.files))
        kinds = {"": 58, "no-newline": 9, "latin-1": 7, "crlf": 4, "blank": 4, "binary": 1, "linked": 7, "linked-absolute": 3,
                 "linked-directory": 5, "private": 2, "read-only": 1}  # fmt: skip
        kind = self.chance.choices(list(kinds), list(kinds.values()))[0]
        if (kind == "crlf" and family == "fish") or (kind == "linked-directory" and "/" not in file):
            kind = ""
        if kind:
            self.tags.append(kind)
        if kind.startswith("linked"):
            self.move(file, kind)
        elif kind in {"private", "read-only"}:
            self.modes[file] = 0o600 if kind == "private" else 0o444
        else:
            self.files[file] = spoiled(self.files[file], kind)

    def move(self, file: str, kind: str) -> None:
        """A file lies among the dotfiles, and a link stands where it was."""
        if kind == "linked-directory":
            top = ".config/fish" if file.startswith(".config/fish") else file.partition("/")[0]
            self.links[top] = str(HOME / "dotfiles/tree")
            self.files = {re.sub(rf"^{re.escape(top)}/", "dotfiles/tree/", name): kept for name, kept in self.files.items()}
            return
        target = f"dotfiles/{file.strip('.')}"
        self.files[target] = self.files.pop(file)
        self.links[file] = (
            str(HOME / target) if kind == "linked-absolute" else os.path.relpath(target, os.path.dirname(file) or ".")
        )


def spoiled(content: bytes, kind: str) -> bytes:
    return {
        "crlf": content.replace(b"\n", b"\r\n"),
        "no-newline": content.rstrip(b"\n"),
        "latin-1": "# Mein Schlüssel, für später\n".encode("latin-1") + content,
        "binary": content + b"\x00\x01VIM\x00",
        "blank": content + b"\n\n\n",
    }.get(kind, content)


# --- the world that a shape is tried in: what follows runs in namespaces of its own, as their first process ----------------------

PROBE = Path("/tmp/probe")
PERSON = {"HOME": str(HOME), "USER": USER, "LOGNAME": USER}
DESKTOP = {
    **PERSON,
    "LANG": "C.UTF-8",
    "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
    "TERM": "xterm-256color",
}
SSH = {**PERSON, "LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games",
       "SSH_CLIENT": "192.0.2.7 50022 22", "SSH_CONNECTION": "192.0.2.7 50022 192.0.2.1 22"}  # fmt: skip
CRON = {**PERSON, "PATH": "/usr/bin:/bin", "SHELL": BASH, "BASH_ENV": str(HOME / ".bash_env")}
GENERATOR = Path("/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator")
PATIENCE = 12.0  # seconds for a shell to answer
LIMIT = 60.0  # seconds for the program
HUNG = -999
SHELLS_OWN_FILES = re.compile(r"^(\.local/state/gpuassist|\.cache|\.local/share/fish|\.[a-z]+_history|\.zcompdump)")

# What a shell is asked; <B> begins the names of the files that take the answers, <NAMES> are the owner's variables.
POSIX_QUESTIONS = """
/usr/bin/env -0 > <B>.env || :
<ALIASES> > <B>.aliases 2>/dev/null || :
<FUNCTIONS> > <B>.functions 2>/dev/null || :
for _asked in <NAMES>; do <SHOW> $_asked 2>/dev/null || :; done > <B>.variables
type <ALL> nvcc > <B>.where 2>&1 || :
nvcc --version > <B>.nvcc 2>&1 < /dev/null || :
echo done > <B>.done
"""
FISH_QUESTIONS = """
/usr/bin/env -0 > <B>.env
alias > <B>.aliases
functions --all --names > <B>.functions
for asked in <NAMES>
    set --show $asked
end > <B>.variables
type --all nvcc > <B>.where 2>&1
nvcc --version > <B>.nvcc 2>&1 < /dev/null
echo done > <B>.done
"""
IN_ITS_WORDS = {
    "bash": {"ALIASES": "alias", "FUNCTIONS": "declare -F", "SHOW": "declare -p", "ALL": "-a"},
    "zsh": {"ALIASES": "alias -L", "FUNCTIONS": "print -rl -- ${(ok)functions}", "SHOW": "typeset -p", "ALL": "-a"},
    "dash": {"ALIASES": "alias", "FUNCTIONS": ":", "SHOW": ":", "ALL": ""},
    "fish": {},
}
WHO = "#!/bin/sh\nreadlink /proc/$PPID/exe > /tmp/probe/$1.who\n"
# What a terminal answers when it is asked: device attributes, cursor, status, its name, the keyboard protocol, its colours.
REPLIES = (
    (re.compile(rb"\x1b\[0?c"), rb"\033[?62;22c"),
    (re.compile(rb"\x1b\[>0?c"), rb"\033[>41;390;0c"),
    (re.compile(rb"\x1b\[6n"), rb"\033[1;1R"),
    (re.compile(rb"\x1b\[5n"), rb"\033[0n"),
    (re.compile(rb"\x1b\[>0?q"), rb"\033P>|XTerm(390)\033\\"),
    (re.compile(rb"\x1b\[\?u"), rb"\033[?0u"),
    (re.compile(rb"\x1b\]1([01]);\?(?:\x07|\x1b\\)"), rb"\033]1\1;rgb:0000/0000/0000\033\\"),
)


@dataclass(frozen=True)
class Answer:
    """What a started shell said; without a shell's name nobody answered."""

    shell: str = ""
    release: str = ""  # what nvcc says of itself; empty: no nvcc
    where: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    shown: str = ""  # what was to be seen, where nobody answered


@dataclass(frozen=True)
class Ran:
    status: int  # negative: killed by that signal, or HUNG
    output: str
    seconds: float
    left: tuple[str, ...]  # the processes that it left behind


@dataclass(frozen=True)
class Program:
    """How the program is run in a world, and what must be reachable there for that."""

    argv: list[str]
    environment: dict[str, str]
    reachable: list[str]
    outside: str  # the process namespace that is not to be touched


@dataclass(frozen=True)
class Record:
    """All that was seen of one shape."""

    before: Mapping[str, Answer]
    after: Mapping[str, Answer]
    undone: Mapping[str, Answer]  # only where the bytes alone do not tell
    runs: Mapping[str, Ran]  # dry, use, again, undo
    files: Mapping[str, Mapping[str, str]]  # snapshots: start, dry, use, again, undo
    broken: tuple[str, ...]  # files that their shell cannot parse any more
    seconds: float


STEPS = {
    "dry": ("use", "cuda", CHOSEN, "--dry-run"),
    "use": ("use", "cuda", CHOSEN, "--yes"),
    "again": ("use", "cuda", CHOSEN, "--yes"),
    "undo": ("undo", "--yes"),
}


def record_shape(tried: Shape, program: Program) -> Record:
    """Goes through a shape's whole life, in a world of its own."""
    began = time.monotonic()
    world = World(tried, program)
    world.build()
    before = world.truth()
    env = inherited(before["terminal"].env) if before["terminal"].shell else {**DESKTOP, "SHELL": tried.shell}
    files = {"start": world.snapshot()}
    runs = {}
    after = before
    for step, arguments in STEPS.items():
        runs[step] = world.run([*program.argv, *arguments], {**env, **program.environment}, LIMIT)
        files[step] = world.snapshot()
        if step == "use" and (files["use"] != files["start"] or tried.sets_universal):
            after = world.truth_after(before)
    undone = world.truth() if tried.sets_universal and files["use"] != files["start"] else {}
    broken = tuple(world.broken(files["start"], files["use"]))
    return Record(before, after, undone, runs, files, broken, time.monotonic() - began)


class World:
    """One home with made-up toolkits, in namespaces of its own, where everything can be ended."""

    def __init__(self, tried: Shape, program: Program) -> None:
        self.shape = tried
        self.program = program
        self.asked = 0
        names = re.findall(r"(?:^|[\s;&{(])([A-Za-z_]\w*)\+?=|\bset (?:-\w+ )*([A-Za-z_]\w*)", tried.text)
        self.names = sorted({name for pair in names for name in pair if name} - LIST_NAMES - VOLATILE - {"fish_user_paths", "path"})

    # Making it

    def build(self) -> None:
        """Hides the machine's toolkits, users and temporary files behind made-up ones."""
        hide(("/usr/local", "/home", "/tmp", "/etc/ld.so.conf.d"), self.program.reachable)
        os.chmod("/tmp", 0o1777)
        Path("/etc/ld.so.conf.d/libc.conf").write_text("/usr/local/lib\n/usr/lib/x86_64-linux-gnu\n")
        for name, line in (("passwd", f"{USER}:x:{UID}:{UID}:Ada:{HOME}:{self.shape.shell}\n"), ("group", f"{USER}:x:{UID}:\n")):
            own = Path(f"/tmp/.{name}")
            own.write_text(Path(f"/etc/{name}").read_text() + line)
            mount("--bind", str(own), f"/etc/{name}")
        self.lay_toolkits()
        PROBE.mkdir()
        PROBE.chmod(0o777)
        (PROBE / "who").write_text(WHO)
        (PROBE / "who").chmod(0o755)
        self.lay_home()

    def lay_toolkits(self) -> None:
        for release in INSTALLED:
            lay_toolkit(Path("/usr/local") / f"cuda-{release}", release)
        if self.shape.link:
            Path("/usr/local/cuda").symlink_to(f"cuda-{self.shape.link}")
        Path("/usr/local/bin").mkdir()
        if self.shape.stray:
            stray = Path("/usr/local/bin/nvcc")
            stray.write_text(f'#!/bin/sh\nexec /usr/local/cuda-{self.shape.stray}/bin/nvcc "$@"\n')
            stray.chmod(0o755)

    def lay_home(self) -> None:
        for name, content in self.shape.files.items():
            (HOME / name).parent.mkdir(parents=True, exist_ok=True)
            (HOME / name).write_bytes(content)
            (HOME / name).chmod(self.shape.modes.get(name, 0o644))
        for name, target in self.shape.links.items():
            (HOME / name).parent.mkdir(parents=True, exist_ok=True)
            (HOME / name).symlink_to(target)
        # without it, fish reads all manual pages in the background when it is started for the first time
        (HOME / ".local/share/fish/generated_completions").mkdir(parents=True)
        for path in (HOME, *HOME.rglob("*")):
            os.lchown(path, UID, UID)
        for command in self.shape.setup:
            self.run([FISH, "--no-config", "-c", command], DESKTOP, PATIENCE)

    # Asking its shells

    def truth(self) -> dict[str, Answer]:
        """What every way of starting a shell finds."""
        shell, name = self.shape.shell, os.path.basename(self.shape.shell)
        desktop, ssh = {**DESKTOP, "SHELL": shell}, {**SSH, "SHELL": shell}
        found = {
            "terminal": self.on_terminal(name, desktop),
            "login terminal": self.on_terminal(f"-{name}", desktop),
            "ssh command": self.by_command([shell, "-c"], ssh),
            "login command": self.by_command(
                [shell, "-l", "-c"], {name: value for name, value in desktop.items() if name != "TERM"}
            ),
        }
        if "SSH_" in self.shape.text:
            found["ssh terminal"] = self.on_terminal(f"-{name}", {**ssh, "TERM": "xterm-256color", "SSH_TTY": "/dev/pts/0"})
        if ".bash_env" in self.shape.files:
            found["cron"] = self.by_command([BASH, "-c"], CRON)
            if found["terminal"].shell:
                found["script"] = self.by_command([BASH, "-c"], inherited(found["terminal"].env))
        return {**found, **self.by_session(found["login command"])}

    def by_session(self, login: Answer) -> dict[str, Answer]:
        """What is found by what the desktop starts, whose session is a login shell's."""
        if not login.shell:
            return {}
        added = self.generated(login.env)
        session = inherited({**login.env, **added})
        found = {"terminal of the session": self.on_terminal(os.path.basename(self.shape.shell), session)}
        return {**found, "desktop": self.by_command([SH, "-c"], session)} if added else found

    def truth_after(self, before: Mapping[str, Answer]) -> dict[str, Answer]:
        """What is found now; where a toolkit or an answer seems to be lost, everything is asked a second time."""
        found = self.truth()
        silent = any(answer.shell and not found.get(way, Answer()).shell for way, answer in before.items())
        if silent or any(lost(answer, found.get(way, Answer())) for way, answer in before.items()):
            found.update(
                {way: answer for way, answer in self.truth().items() if answer.release or not found.get(way, Answer()).shell}
            )
        return found

    def generated(self, env: Mapping[str, str]) -> dict[str, str]:
        """What systemd adds to a desktop's environment from environment.d."""
        if not GENERATOR.exists() or not any("environment.d" in name for name in self.shape.files):
            return {}
        lines = self.run([str(GENERATOR)], env, PATIENCE).output.splitlines()
        return {name: value.strip("'\"") for name, _, value in (line.partition("=") for line in lines)}

    def questions(self) -> tuple[Path, dict[str, Path]]:
        """A new set of questions, by the shell that can be asked with each."""
        self.asked += 1
        base = PROBE / f"{self.asked}"
        asking = {}
        for shell, words in IN_ITS_WORDS.items():
            text = FISH_QUESTIONS if shell == "fish" else POSIX_QUESTIONS
            for name, value in {**words, "B": str(base), "NAMES": " ".join(self.names)}.items():
                text = text.replace(f"<{name}>", value)
            asking[shell] = base.with_suffix(f".{shell}")
            asking[shell].write_text(text)
        return base, asking

    def by_command(self, argv: Sequence[str], env: Mapping[str, str]) -> Answer:
        base, asking = self.questions()
        shell = os.path.basename(os.path.realpath(argv[0]))
        ran = self.run([*argv, reading(shell, asking)], env, PATIENCE)
        return read_answer(base, shell, ran.output)

    def on_terminal(self, name: str, env: Mapping[str, str]) -> Answer:
        """Types the questions into a terminal, to whoever has it by then."""
        base, asking = self.questions()
        pid, fd = pty.fork()
        if pid == 0:
            become_user()
            os.execve(self.shape.shell, [name], dict(env))
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        screen = Screen(fd)
        try:
            who = typed_until(screen, f"{PROBE}/who {base.name}", base.with_suffix(".who"), quiet=0.15)
            shell = os.path.basename(who.strip())
            if shell in asking:
                typed_until(screen, reading(shell, asking), base.with_suffix(".done"), quiet=0.0)
            return read_answer(base, shell, screen.shown())
        finally:
            os.close(fd)
            sweep(self.program.outside)

    # Running programs in it, and looking at its files

    def run(self, argv: Sequence[str], env: Mapping[str, str], limit: float) -> Ran:
        """Runs a program to its end without a terminal, and ends what it leaves behind."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=dict(env), cwd=HOME,
                user=UID, group=UID, extra_groups=[], start_new_session=True,
            )  # fmt: skip
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = HUNG
            seconds = time.monotonic() - began
            left = sweep(self.program.outside)
            child.wait()
            out.seek(0)
            return Ran(status, out.read().decode("utf-8", "backslashreplace"), seconds, left)

    def snapshot(self) -> dict[str, str]:
        """Every file and link below the home, but those that shells write by themselves."""
        found = {}
        for path in sorted(HOME.rglob("*")):
            name = str(path.relative_to(HOME))
            own = SHELLS_OWN_FILES.match(name) or (self.shape.sets_universal and path.name == "fish_variables")
            if path.is_symlink() and not own:
                found[name] = f"-> {os.readlink(path)}"
            elif path.is_file() and not own:
                found[name] = f"{stat.S_IMODE(path.stat().st_mode):o} {base64.b64encode(path.read_bytes()).decode()}"
        return found

    def broken(self, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
        """The files that their shell could parse before and cannot any more."""
        parsers = {"fish": FISH, "zsh": ZSH, "sh": SH}
        for name in sorted(after):
            if before.get(name) == after[name] or "environment.d" in name:
                continue
            parser = parsers.get(grammar(self.read_as(name), os.path.basename(self.shape.shell)), BASH)
            if self.parses(parser, before.get(name, "")) and not self.parses(parser, after[name]):
                yield name

    def read_as(self, name: str) -> str:
        """The name that a shell reads a file by, where that is a link or lies behind one."""
        path = HOME / name
        for link in self.shape.links:
            place = (HOME / link).resolve()
            if path == place or place in path.parents:
                return str(link / path.relative_to(place))
        return name

    def parses(self, parser: str, kept: str) -> bool:
        probe = PROBE / "parsed"
        probe.write_bytes(content_of(kept))
        probe.chmod(0o644)
        return self.run([parser, "-n", str(probe)], DESKTOP, PATIENCE).status == 0


class Screen:
    """The far side of a pseudo-terminal: what is shown there, and a terminal that answers when it is asked."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.open = True
        self.seen = b""
        self.heard = time.monotonic()
        self.ends = self.heard + PATIENCE

    def listen(self) -> None:
        """Takes what comes within a moment."""
        if not select.select([self.fd], [], [], 0.03)[0]:
            return
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.open = bool(data)
        self.heard = time.monotonic()
        self.seen = (self.seen + data)[-100_000:]
        for query, reply in REPLIES:
            for match in query.finditer(data):
                self.write(match.expand(reply))

    def write(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            os.write(self.fd, data)

    def shown(self) -> str:
        return self.seen[-2000:].decode("utf-8", "backslashreplace")


def typed_until(screen: Screen, command: str, answer: Path, quiet: float) -> str:
    """Types a command when the terminal has been quiet, again where something else took it, until the answer is there."""
    typed = 0.0
    while screen.open and time.monotonic() < screen.ends:
        screen.listen()
        if answer.exists() and answer.stat().st_size:
            return answer.read_text()
        now = time.monotonic()
        if now > screen.heard + quiet and now > typed + 1.5:
            typed = now
            screen.write(f" {command}\r".encode())
    return ""


def reading(shell: str, asking: Mapping[str, Path]) -> str:
    return f"{'source' if shell == 'fish' else '.'} {asking[shell]}"


def read_answer(base: Path, shell: str, shown: str) -> Answer:
    """What a shell wrote, if it came to the end of the questions."""
    found = {kind: base.with_suffix(f".{kind}") for kind in ("env", "aliases", "functions", "variables", "where", "nvcc", "done")}
    if not found["done"].exists():
        return Answer(shown=shown[-2000:])
    text = {kind: path.read_bytes().decode("utf-8", "backslashreplace") if path.exists() else "" for kind, path in found.items()}
    release = re.search(r"release (\d+\.\d+)", text["nvcc"])
    env = dict(entry.split("=", 1) for entry in text["env"].split("\0") if "=" in entry)
    where = "; ".join(text["where"].splitlines())[:500]
    aliases, functions, variables = (tuple(text[kind].splitlines()) for kind in ("aliases", "functions", "variables"))
    return Answer(shell, release[1] if release else "", where, env, aliases, functions, variables)


def inherited(env: Mapping[str, str]) -> dict[str, str]:
    """What a program gets that is started from there, but for what tells of one shell alone."""
    kept = {name: value for name, value in env.items() if name not in {"TMUX", "TMUX_PANE", "_", "SHLVL", "OLDPWD"}}
    return {**kept, "TERM": "xterm-256color"}


def lost(before: Answer, after: Answer) -> bool:
    return bool(before.release) and not after.release


def content_of(kept: str) -> bytes:
    """The bytes of a file in a snapshot."""
    return b"" if kept.startswith("->") else base64.b64decode(kept.partition(" ")[2])


def become_user() -> None:
    os.chdir(HOME)
    os.setgroups([])
    os.setgid(UID)
    os.setuid(UID)


def sweep(outside: str) -> tuple[str, ...]:
    """Ends every other process and says which there were; only ever in a process namespace of our own."""
    if os.getpid() != 1 or os.readlink("/proc/self/ns/pid") == outside:
        raise RuntimeError("not in a process namespace of our own")
    found: dict[str, None] = {}
    while running := dict(processes()):
        found.update(dict.fromkeys(running.values()))
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.003)
        reap()
    reap()
    return tuple(found)


def processes() -> Iterator[tuple[int, str]]:
    """All but the first and the dead, by number, with their names."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != "1":
            with contextlib.suppress(OSError):
                told = (entry / "stat").read_text()
                if told.rpartition(")")[2].split()[0] not in "ZX":
                    yield int(entry.name), told[told.index("(") + 1 : told.rindex(")")]


def reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def hide(places: Iterable[str], needed: Iterable[str]) -> None:
    """Lays empty directories over places, but for what is needed below them; so, too, over what an ordinary user cannot pass."""
    hidden: dict[Path, list[Path]] = {Path(place): [] for place in places}
    for path in map(Path, needed):
        over = next((each for each in reversed(path.parents) if each in hidden or not each.stat().st_mode & stat.S_IXOTH), None)
        if over:
            hidden.setdefault(over, []).append(path)
    mount("-t", "tmpfs", "none", "/mnt")
    below = dict.fromkeys(path for kept in hidden.values() for path in kept)
    stashed = {path: Path(f"/mnt/{number}") for number, path in enumerate(below)}
    for path, stash in stashed.items():
        stash.mkdir()
        mount("--bind", str(path), str(stash))
    for place in hidden:
        mount("-t", "tmpfs", "-o", "mode=755", "none", str(place))
    for path, stash in stashed.items():
        path.mkdir(parents=True, exist_ok=True)
        mount("--bind", str(stash), str(path))


def lay_toolkit(root: Path, release: str) -> None:
    """A directory that looks like that release of the CUDA toolkit."""
    for name in ("bin", "lib64", "include", "extras/CUPTI/lib64", "nvvm/bin", "pkgconfig"):
        (root / name).mkdir(parents=True)
    words = (
        "nvcc: NVIDIA (R) Cuda compiler driver",
        "Copyright (c) 2005-2025 NVIDIA Corporation",
        "Built on Wed_Aug_20_01:58:59_PM_PDT_2025",
        f"Cuda compilation tools, release {release}, V{release}.48",
        f"Build cuda_{release}.r{release}/compiler.36424714_0",
    )
    nvcc = root / "bin/nvcc"
    nvcc.write_text("#!/bin/sh\n" + "".join(f"echo '{word}'\n" for word in words))
    nvcc.chmod(0o755)
    versions = {
        "cuda": {"name": "CUDA SDK", "version": f"{release}.0"},
        "cuda_nvcc": {"name": "CUDA NVCC", "version": f"{release}.48"},
    }
    (root / "version.json").write_text(json.dumps(versions))
    major, _, minor = release.partition(".")
    (root / "include/cuda.h").write_text(f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n")
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 0, 0, 64, 56, 0, 64, 0, 0)
    for directory, stem in (("lib64", "libcudart"), ("lib64", "libcublas"), ("extras/CUPTI/lib64", "libcupti")):
        (root / directory / f"{stem}.so.{release}.48").write_bytes(header)
        (root / directory / f"{stem}.so.{major}").symlink_to(f"{stem}.so.{release}.48")
        (root / directory / f"{stem}.so").symlink_to(f"{stem}.so.{major}")


# --- the judge -------------------------------------------------------------------------------------------------------------------

FAILURES = ("CRASH", "HANG", "LOST TOOLKIT", "UNTRUE TICK", "WRONG BYTES", "NOT SMALLEST")
OUTCOMES = {
    "DONE": "changed, status 0",
    "ALREADY": "unchanged, status 0",
    "ADMITTED": "changed, and said not to be right",
    "REFUSED": "unchanged, with a reason",
}
Failure = tuple[str, str]


@dataclass(frozen=True)
class Verdict:
    outcome: str
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    reason: str  # of a refusal


class Judge:
    """Compares what a shape's shells and files were with what became of them."""

    def __init__(self, tried: Shape, seen: Record) -> None:
        self.shape = tried
        self.seen = seen
        self.words, self.diff = words_and_diff(seen.runs["use"].output)
        self.changed = seen.files["use"] != seen.files["start"]
        self.claims = seen.runs["use"].status == 0
        self.ticks = [line for line in self.words if "✓" in line and "terminal" in line]

    def verdict(self) -> Verdict:
        in_shells = gathered([*self.ways(), *self.variables(), *self.others()])
        failures = [*self.endings(), *in_shells, *self.bytes(), *self.smallest(), *self.twice()]
        reason = "" if self.changed or self.claims else refusal(self.words)
        return Verdict(self.outcome(), tuple(dict.fromkeys(failures)), tuple(self.notes()), reason)

    def outcome(self) -> str:
        if self.changed:
            return "DONE" if self.claims else "ADMITTED"
        return "ALREADY" if self.claims else "REFUSED"

    def endings(self) -> Iterator[Failure]:
        for step, ran in self.seen.runs.items():
            if ran.status == HUNG:
                yield "HANG", step
            elif ran.status == 70 or ran.status < 0 or "Traceback (most recent" in ran.output:
                yield "CRASH", f"{step}: status {ran.status}"

    # What the shells find

    def pairs(self) -> Iterator[tuple[str, Answer, Answer]]:
        for way, before in self.seen.before.items():
            yield way, before, self.seen.after.get(way, Answer())

    def ways(self) -> Iterator[Failure]:
        for way, before, after in self.pairs():
            found = f"{way}: nvcc {before.release or 'none'} before, {after.release or 'none'} after"
            if lost(before, after):
                yield "LOST TOOLKIT", found
            elif after.release != CHOSEN and self.promised(way, before):
                yield "UNTRUE TICK", found

    def promised(self, way: str, before: Answer) -> bool:
        """The status 0 speaks of every way that had a toolkit, a tick of every new terminal.

        Where only login files choose, a terminal that inherits nothing never had one: it is promised by a tick that names it alone.
        """
        if before.release:
            return self.claims or (way == "terminal" and bool(self.ticks))
        if way != "terminal" or self.shape.shell == SH:  # without ENV, a plain sh reads no file that could be changed
            return False
        by_login = any(self.seen.before.get(other, Answer()).release for other in ("login terminal", "terminal of the session"))
        return (self.claims and not by_login) or any("new terminal" in line for line in self.ticks)

    def variables(self) -> Iterator[Failure]:
        """Variables that led to a toolkit are still there, and lead to the chosen one."""
        for way, before, after in self.pairs():
            for name in sorted(before.env.keys() - VOLATILE) if after.shell else ():
                if self.leads(before.env[name]) and not (name == "PATH" and lost(before, after)):
                    yield from self.variable(way, name, before.env[name], after.env.get(name, ""))

    def variable(self, way: str, name: str, before: str, after: str) -> Iterator[Failure]:
        leads = self.leads(after)
        if not leads:
            if self.changed and not self.excused(name):
                yield "WRONG BYTES", f"{way}: {name} led to a toolkit and is {repr(after) if after else 'gone'}"
        elif self.claims and name != "PATH" and leads[0] != CHOSEN and not self.said(name):
            yield "UNTRUE TICK", f"{way}: {name} still leads to {leads[0]} without a word"
        elif self.changed and name in LIST_NAMES:
            winner = self.leads(before)[0]
            had = {place for release, place in self.elements(before) if release == winner}
            missing = had - {place for _, place in self.elements(after)}
            if missing:
                yield "WRONG BYTES", f"{way}: {name} has lost the toolkit's {', '.join(sorted(missing))}"

    def elements(self, value: str) -> Iterator[tuple[str, str]]:
        """The toolkits' elements of a list: the release, and the place in the toolkit."""
        for element in elements_of(value):
            match = TOOLKIT.match(element)
            if match:
                yield match[1] or self.shape.link, element[match.end() :].strip("/")

    def leads(self, value: str) -> list[str]:
        """The releases that a value names, in its order."""
        return [match[1] or self.shape.link or "nowhere" for match in TOOLKIT.finditer(value)]

    def said(self, name: str) -> bool:
        """Whether a line in words, not one of the plan to change it, says that a variable keeps what it has."""
        pattern = re.compile(rf"(?<!\w){name}(?!\w)")
        told = (line for line in self.words if pattern.search(line) and not re.search(r"\[x\]|before, now|✓", line))
        return any(TOOLKIT.search(line) or re.search(r"(line |:)\d+|1[12]\.\d", line) for line in told)

    def excused(self, name: str) -> bool:
        """LD_LIBRARY_PATH may go where it harms a program, with that reason."""
        return name == "LD_LIBRARY_PATH" and any(name in line and re.search(r"harm|break|crash", line) for line in self.words)

    def others(self) -> Iterator[Failure]:
        """What has nothing to do with CUDA is as it was, in every shell that answered before and after."""
        for way, before, after in self.pairs() if self.changed else ():
            if not before.shell or not after.shell:
                continue
            if before.shell != after.shell:
                yield "WRONG BYTES", f"{way}: {before.shell} answered before, {after.shell} after"
            for wrong in (*self.environment(before.env, after.env), *self.listings(before, after)):
                yield "WRONG BYTES", f"{way}: {wrong}"

    def environment(self, before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
        for name in sorted({*before, *after} - VOLATILE):
            old, new = before.get(name, ""), after.get(name, "")
            if name in LIST_NAMES:
                yield from self.listed(name, old, new)
            elif name not in before:
                if not TOOLKIT.search(new) and not self.owned(name):
                    yield f"{name} is new: {new!r}"
            elif not TOOLKIT.search(old) and neutral(old) != neutral(new):
                yield f"{name} was {old!r} and is {new!r}" if name in after else f"{name} is gone"

    def listed(self, name: str, before: str, after: str) -> Iterator[str]:
        """What became of a list's elements that lead to no toolkit."""
        old, new = elements_of(before), elements_of(after)
        if new.count("") > old.count(""):
            yield f"{name} has an empty element more: {after!r}"
        kept, now = ([element for element in each if element and not TOOLKIT.match(element)] for each in (old, new))
        strange = [element for element in now if element not in kept and not self.owned(element)]
        if strange or not follows(now, kept):
            yield f"{name} had {':'.join(kept)} and has {':'.join(now)}"

    def owned(self, word: str) -> bool:
        """Whether it comes from lines of the owner's: a mended file may be read further than before."""
        return word.removeprefix(f"{HOME}/") in self.shape.text

    def listings(self, before: Answer, after: Answer) -> Iterator[str]:
        """Aliases, functions and variables that are gone or another, and functions that are new."""
        chosen = re.compile("nvcc|/usr/local/cuda|<T>|<V>")
        for kind in ("aliases", "functions", "variables"):
            old, new = ({line for line in map(neutral, getattr(each, kind)) if not chosen.search(line)} for each in (before, after))
            strange = [line for line in new - old if not self.owned(line.split()[-1])]
            if old - new:
                yield f"{kind} changed: {sorted(old - new)[0][:200]!r}"
            elif kind == "functions" and strange:
                yield f"new functions: {', '.join(sorted(strange))[:200]}"

    # What the files hold

    def bytes(self) -> Iterator[Failure]:
        files = self.seen.files
        told = {"dry": "the dry run changed", "again": "the second run changed", "undo": "not as before after undo:"}
        for step, base in (("dry", "start"), ("again", "use"), ("undo", "start")):
            if files[step] != files[base]:
                yield "WRONG BYTES", f"{told[step]} {differing(files[base], files[step])} (status {self.seen.runs[step].status})"
        for name, kept in files["start"].items():
            if files["use"].get(name, "").partition(" ")[0] != kept.partition(" ")[0]:
                yield "WRONG BYTES", f"{name} has another mode, is another kind of file, or is gone"
        for name in self.seen.broken:
            yield "WRONG BYTES", f"the syntax of {name} is broken"
        for name, text in self.shape.frozen:
            if self.text("use", name).count(text) < self.text("start", name).count(text):
                yield "WRONG BYTES", f"{name}: {text!r} was changed"

    def smallest(self) -> Iterator[Failure]:
        """Where a plain line chose the toolkit, that line is rewritten in place, and no block is written."""
        winners = [plain for plain in self.shape.plain if self.wins(plain)] if self.changed else []
        for plain in winners:
            if plain.mended not in self.text("use", plain.file).split("\n"):
                yield "NOT SMALLEST", f"{plain.file}: {plain.text!r} is not just {plain.mended!r} now"
        choosing = [plain for plain in winners if re.search(r"(^|\W)(PATH|path|CUDA_HOME|fish_add_path)\W", plain.text)]
        beside = {self.place(plain.file) for plain in choosing} & set(self.blocks())
        found = {way: answer.release for way, answer in self.seen.before.items()}
        terminals = [found[way] for way in ("terminal", "terminal of the session") if way in found]
        # a block may give the toolkit to terminals that none of the lines gave it to, and say what a file that stays does not
        stays = any(self.unchangeable(plain.file) for plain in self.shape.plain)
        if self.blocks() and choosing and not stays and any(found.values()) and (beside or all(terminals)):
            yield "NOT SMALLEST", f"a block was added to {', '.join(self.blocks())}"

    def twice(self) -> Iterator[Failure]:
        """The same line is not written a second time where two lines chose different toolkits."""
        for file in self.shape.files:
            before = Counter(self.text("start", file).split("\n"))
            for line, count in Counter(self.text("use", file).split("\n")).items():
                own = max(before[line.replace(CHOSEN, release)] for release in INSTALLED)
                if count > max(1, own) and CHOSEN in line and TOOLKIT.search(line) and not line.lstrip().startswith("#"):
                    yield "NOT SMALLEST", f"{file}: {line!r} stands there {count} times"

    def wins(self, plain: Plain) -> bool:
        """Whether a plain line is what the shells took their toolkit from, by what its variable led to."""
        if self.unread(plain.file) or self.unchangeable(plain.file):
            return False
        names = {name for pair in re.findall(r"([A-Za-z_]\w*)\+?=|\bset (?:-\w+ )*([A-Za-z_]\w*)", plain.text) for name in pair}
        answers = self.seen.before.values()
        values = [answer.env[name] for answer in answers for name in names & answer.env.keys()]
        if values:
            return any(self.leads(value)[:1] == [plain.version] or value == plain.version for value in values)
        return any(answer.release == plain.version for answer in answers)

    def unread(self, name: str) -> bool:
        """Whether bash reads another login file instead of it, which does not lead there."""
        instead = {".bash_profile", ".bash_login"} & self.shape.files.keys()
        return name == ".profile" and self.shape.shell == BASH and bool(instead) and ".profile" not in self.shape.text

    def unchangeable(self, name: str) -> bool:
        """Whether the file is read-only, or binary."""
        return not self.shape.modes.get(name, 0o644) & 0o200 or "\0" in self.text("start", name)

    def blocks(self) -> list[str]:
        return [name for name in self.seen.files["use"] if ">>> gpuassist" in self.text("use", name)]

    def place(self, name: str) -> str:
        """Where the bytes of a file lie, if it is a link or lies behind one."""
        for link, target in self.shape.links.items():
            if name == link or name.startswith(f"{link}/"):
                return os.path.relpath(os.path.normpath(HOME / os.path.dirname(link) / target) + name[len(link) :], HOME)
        return name

    def text(self, step: str, name: str) -> str:
        return content_of(self.seen.files[step].get(self.place(name), "")).decode("utf-8", "backslashreplace").replace("\r", "")

    # What is worth knowing beside

    def notes(self) -> Iterator[str]:
        used, again, dry = (self.seen.runs[step] for step in ("use", "again", "dry"))
        if self.changed and without_ids(words_and_diff(dry.output)[1]) != without_ids(self.diff):
            yield "the dry run showed another difference than the change"
        if again.status != used.status:
            yield f"status of the second run: {again.status} after {used.status}"
        for way, answer in self.seen.undone.items():
            if answer.release != self.seen.before[way].release:
                yield f"after undo a universal variable still chooses: {way}: nvcc {answer.release or 'none'}"
        if not any(answer.shell for answer in self.seen.before.values()):
            yield "no shell answered before"
        yield from self.judgements()
        left = sorted({name for ran in self.seen.runs.values() for name in ran.left})
        if left:
            yield f"left behind: {', '.join(left)}"

    def judgements(self) -> Iterator[str]:
        literal = re.search(r"^[^#\n]*cuda-1[12]\.\d", self.shape.text, re.MULTILINE)
        if self.blocks() and not self.seen.before["terminal"].release:
            yield "a block gives terminals a toolkit that they did not find before"
        elif self.blocks() and literal and not any(self.wins(plain) for plain in self.shape.plain):
            yield "a block stands beside lines that name a toolkit inside other commands"
        stale = {
            name for _, _, after in self.pairs() for name, value in after.env.items() if self.leads(value)[:1] not in ([], [CHOSEN])
        }
        if self.claims and any(self.said(name) for name in stale - {"PATH"}):
            yield "a variable stays at another toolkit, and that is said"


def gathered(failures: Iterable[Failure]) -> list[Failure]:
    """What failed alike in several ways of starting a shell, once."""
    ways: dict[Failure, list[str]] = {}
    for kind, told in failures:
        way, _, what = told.partition(": ")
        ways.setdefault((kind, what), []).append(way)
    return [(kind, f"{', '.join(found)}: {what}") for (kind, what), found in ways.items()]


def words_and_diff(output: str) -> tuple[list[str], list[str]]:
    """The lines that the program says, and those of the differences that it shows."""
    words: list[str] = []
    diff: list[str] = []
    inside = False
    for line in output.splitlines():
        inside = line.startswith(("--- ", "+++ ")) or (inside and line[:1] in {"+", "-", "@", " ", "\\"})
        (diff if inside else words).append(line)
    return words, diff


def without_ids(diff: Iterable[str]) -> list[str]:
    return [re.sub(r"\d{8}-\d{6}-[0-9a-f]{6}", "<ID>", line) for line in diff]


def refusal(words: Sequence[str]) -> str:
    """The line that says why nothing was changed, without what is particular to one shape."""
    told = [
        line.strip() for line in words if line.strip() and not line.startswith(("  ", "Make CUDA", "LD_LIBRARY_PATH:", "Note:"))
    ]
    telling = (r"✗|refus|taken back|rolled back", r"read-only|cannot|could not", r"nothing (was|has been) changed", r"\bnot\b", "")
    line = next((line for pattern in telling for line in told if re.search(pattern, line)), "no word")
    return re.sub(r"(?<![\w.])[~/][\w./-]+", "FILE", re.sub(r"“[^”]*”|line \d+|:\d+", "…", line))[:140]


def differing(first: Mapping[str, str], second: Mapping[str, str]) -> str:
    return ", ".join(name for name in sorted({*first, *second}) if first.get(name) != second.get(name))


def neutral(value: str) -> str:
    """A value without the release that it names."""
    return re.sub(rf"(?<![\d.])({'|'.join(map(re.escape, INSTALLED))})(?![\d.])", "<V>", TOOLKIT.sub("<T>", value))


def elements_of(value: str) -> list[str]:
    """The elements of a list, without the CR that lines with Windows ends leave there."""
    return value.replace("\r", "").split(":") if value else []


def follows(whole: Sequence[str], part: Sequence[str]) -> bool:
    """Whether everything in `part` stands in `whole`, in that order."""
    rest = iter(whole)
    return all(element in rest for element in part)


# --- running and telling ---------------------------------------------------------------------------------------------------------


def main() -> int:
    """Tries the shapes that were asked for and prints the table."""
    options = _options()
    if options.inside is not None:
        return _inside(options.seed, options.inside)
    numbers = options.only or range(options.count)
    if options.cover:
        numbers = covering(options.seed, numbers, options.cover)
    if options.show:
        for number in numbers:
            print(described(shape(options.seed, number)))
        return 0
    if options.json:
        print(json.dumps([document(shape(options.seed, number)) for number in numbers], indent=1))
        return 0
    if os.geteuid() != 0:
        sys.exit("needs root: every shape gets a mount namespace and a user of its own")
    missing = [name for name in ("unshare", "mount", "zsh", "fish", "tmux") if not shutil.which(name)]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)}")
    return _try_all(options, numbers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="so many shapes (default: 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="so many at a time (default: 2)")
    parser.add_argument("--only", type=int, nargs="+", metavar="ID", help="only these shapes")
    parser.add_argument("--cover", type=int, metavar="N", help="only the N shapes that hold the most constructs together")
    parser.add_argument("--show", action="store_true", help="print the shapes and try nothing")
    parser.add_argument(
        "--json", action="store_true", help="print the shapes as JSON, with what is expected of their lines, and try nothing"
    )
    parser.add_argument("--program", default="gpuassist", help="the program's executable (default: gpuassist)")
    parser.add_argument("--tree", type=Path, help="run the package in this directory instead, with --python")
    parser.add_argument("--python", help="default: the .venv of --tree, or this Python")
    parser.add_argument(
        "--out", type=Path, default=Path("shapes-out"), help="where shapes that fail are laid down (default: shapes-out)"
    )
    parser.add_argument("--keep", action="store_true", help="lay down every shape, not only those that fail")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def _program(options: argparse.Namespace) -> Program:
    outside = os.readlink("/proc/self/ns/pid")
    if options.tree:
        tree = str(options.tree.resolve())
        own = Path(tree, ".venv/bin/python")
        python = options.python or (str(own) if own.exists() else sys.executable)
        argv, environment, place = [python, "-m", "gpuassist"], {"PYTHONPATH": tree}, tree
    else:
        found = shutil.which(options.program) or sys.exit(f"not found: {options.program}")
        home = Path(os.path.abspath(found)).parent.parent
        argv, environment, place = [os.path.abspath(found)], {}, str(home.parent if (home / "pyvenv.cfg").exists() else home)
        python = Path(found).read_bytes().partition(b"\n")[0].decode("utf-8", "replace").removeprefix("#!").split()[0]
    prefixes = {str(Path(os.path.realpath(python)).parent.parent), sys.base_prefix}
    if "/usr/local" in {place, *prefixes}:
        sys.exit("neither the program nor its Python can stand in /usr/local, which is hidden in a shape's world")
    reachable = [kept for kept in dict.fromkeys((place, *sorted(prefixes))) if kept != "/usr"]
    return Program(argv, environment, reachable, outside)


def _inside(seed: int, number: int) -> int:
    """The part that runs in namespaces of its own: one shape's record as JSON on the standard output."""
    if os.getpid() != 1:
        sys.exit("--inside is for this tool itself")
    print(json.dumps(asdict(record_shape(shape(seed, number), Program(**json.load(sys.stdin))))))
    return 0


def _record(seed: int, number: int, program: Program) -> Record:
    own = [sys.executable, os.path.abspath(__file__), "--seed", str(seed), "--inside", str(number)]
    unshare = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
    ran = subprocess.run([*unshare, *own], input=json.dumps(asdict(program)), capture_output=True, text=True, cwd="/", timeout=900)
    if ran.returncode:
        raise RuntimeError(f"shape {number} could not be tried: {ran.stderr[-3000:]}")
    raw = json.loads(ran.stdout)
    before, after, undone = ({way: Answer(**answer) for way, answer in raw[kind].items()} for kind in ("before", "after", "undone"))
    runs = {step: Ran(**run) for step, run in raw["runs"].items()}
    return Record(before, after, undone, runs, raw["files"], tuple(raw["broken"]), raw["seconds"])


def _try_all(options: argparse.Namespace, numbers: Sequence[int]) -> int:
    program = _program(options)
    tally = Tally(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(_record, options.seed, number, program): number for number in numbers}
        for done in as_completed(waiting):
            number = waiting.pop(done)
            try:
                seen = done.result()
            except (RuntimeError, subprocess.TimeoutExpired) as fault:
                tally.own_faults.append(f"{number:04}: {fault}")
                continue
            tried = shape(options.seed, number)
            verdict = Judge(tried, seen).verdict()
            tally.add(number, seen, verdict)
            if verdict.failures or options.only or options.keep:
                lay_down(options.out / f"{number:04}", tried, seen, verdict)
            kinds = ", ".join(sorted({kind for kind, _ in verdict.failures}))
            print(f"{len(tally.verdicts)}/{len(numbers)}  {number:04} {verdict.outcome}  {kinds}", file=sys.stderr, flush=True)
    (options.out / "verdicts.json").write_text(
        json.dumps({number: asdict(each) for number, each in sorted(tally.verdicts.items())}, indent=1)
    )
    print("\n".join(tally.table()))
    return 1 if tally.own_faults or any(verdict.failures for verdict in tally.verdicts.values()) else 0


class Tally:
    """The counts of many shapes, and where to look."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.verdicts: dict[int, Verdict] = {}
        self.seconds: list[float] = []
        self.using: list[float] = []
        self.own_faults: list[str] = []

    def add(self, number: int, seen: Record, verdict: Verdict) -> None:
        self.verdicts[number] = verdict
        self.seconds.append(seen.seconds)
        self.using.append(seen.runs["use"].seconds)

    def table(self) -> Iterator[str]:
        yield f"{len(self.verdicts)} shapes of seed {self.seed}"
        if self.seconds:
            yield f"seconds a shape: median {statistics.median(self.seconds):.1f}, most {max(self.seconds):.1f}"
            yield f"seconds of `use --yes`: median {statistics.median(self.using):.1f}, most {max(self.using):.1f}"
        for outcome, meaning in OUTCOMES.items():
            found = [verdict for verdict in self.verdicts.values() if verdict.outcome == outcome]
            yield f"  {outcome:14}{sum(not verdict.failures for verdict in found):5} right of {len(found)}  ({meaning})"
        for kind in FAILURES:
            failing = [number for number, verdict in self.verdicts.items() if kind in dict(verdict.failures)]
            yield f"  {kind:14}{len(failing):5}  {shortened(failing)}"
        yield from self.refusals()
        yield from self.constructs()
        yield "Notes:"
        notes = Counter(note.partition(": ")[0] for verdict in self.verdicts.values() for note in set(verdict.notes))
        yield from (f"  {count:5}  {note}" for note, count in notes.most_common())
        yield from (f"COULD NOT BE TRIED {fault}" for fault in self.own_faults)

    def refusals(self) -> Iterator[str]:
        yield "Refused, by reason, with those that have nothing that makes a refusal fair:"
        reasons: dict[str, list[int]] = {}
        for number, verdict in self.verdicts.items():
            if verdict.reason:
                reasons.setdefault(verdict.reason, []).append(number)
        for reason, numbers in sorted(reasons.items(), key=lambda item: -len(item[1])):
            unfair = [number for number in numbers if not any(tag.startswith(OBSTACLES) for tag in shape(self.seed, number).tags)]
            yield f"  {len(numbers):5}  {reason}" + (f"  unfair: {shortened(unfair)}" if unfair else "")

    def constructs(self) -> Iterator[str]:
        """The constructs that fail most, but for those that are just not the smallest change."""
        found: Counter[str] = Counter()
        failing: Counter[str] = Counter()
        for number, verdict in self.verdicts.items():
            tags = set(shape(self.seed, number).tags)
            found.update(tags)
            if any(kind != "NOT SMALLEST" for kind, _ in verdict.failures):
                failing.update(tags)
        yield "Constructs that fail (but for NOT SMALLEST): " + ", ".join(
            f"{tag} {count}/{found[tag]}" for tag, count in failing.most_common(30)
        )


def shortened(numbers: Iterable[int]) -> str:
    told = [f"{number:04}" for number in sorted(numbers)]
    return " ".join(told[:24]) + (" …" if len(told) > 24 else "")


def covering(seed: int, numbers: Iterable[int], wanted: int) -> list[int]:
    """The shapes that hold the most constructs together; one with few troubles before one with many."""
    tags = {number: set(shape(seed, number).tags) for number in numbers}
    missing = set().union(*tags.values())
    chosen: list[int] = []
    while tags and len(chosen) < wanted:
        best = max(tags, key=lambda number: (len(tags[number] & missing), -len(tags[number]), -number))
        missing -= tags.pop(best)
        chosen.append(best)
    return sorted(chosen)


def document(tried: Shape) -> dict[str, object]:
    """A shape as data: bytes as Latin-1, so that every byte is a character."""
    files = {name: content.decode("latin-1") for name, content in tried.files.items()}
    plain = [{**asdict(line), "mended": line.mended} for line in tried.plain]
    fair = [tag for tag in tried.tags if tag.startswith(OBSTACLES)]
    return {**asdict(tried), "files": files, "plain": plain, "refusal_is_fair_for": fair}


def described(tried: Shape) -> str:
    parts = [f"===== {tried.number:04}  {tried.shell}  /usr/local/cuda -> {tried.link or 'not there'}  {' '.join(tried.tags)}"]
    parts.extend(f"typed into fish: {command}" for command in tried.setup)
    parts.extend(f"{name} -> {target}" for name, target in tried.links.items())
    parts.extend(f"--- {name}\n{text.decode('utf-8', 'backslashreplace')}" for name, text in tried.files.items())
    return "\n".join(parts)


def lay_down(directory: Path, tried: Shape, seen: Record, verdict: Verdict) -> None:
    """A shape's files before and after, what the program said, and why it failed."""
    shutil.rmtree(directory, ignore_errors=True)
    for step, place in (("start", "before"), ("use", "after")):
        for name, kept in seen.files[step].items():
            path = directory / place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if kept.startswith("-> "):
                path.symlink_to(kept.removeprefix("-> "))
            else:
                path.write_bytes(content_of(kept))
    for step, ran in seen.runs.items():
        (directory / f"{step}.txt").write_text(f"{ran.output}\n[status {ran.status}]\n")
    (directory / "shape.txt").write_text(described(tried))
    (directory / "verdict.txt").write_text("\n".join(told(seen, verdict)) + "\n")
    (directory / "record.json").write_text(json.dumps({"tags": tried.tags, **asdict(seen)}, indent=1))


def told(seen: Record, verdict: Verdict) -> Iterator[str]:
    yield verdict.outcome
    yield from (f"{kind}: {reason}" for kind, reason in verdict.failures)
    yield from (f"note: {note}" for note in verdict.notes)
    for way, before in seen.before.items():
        after = seen.after.get(way, Answer())
        yield f"\n{way}"
        for when, answer in (("before", before), ("after", after)):
            found = answer.where or repr(answer.shown[-300:])
            yield f"    {when}: {answer.shell or 'nobody'} finds {answer.release or 'none'} ({found})"
        for name in sorted({*before.env, *after.env}):
            old, new = before.env.get(name, ""), after.env.get(name, "")
            if TOOLKIT.search(old) or TOOLKIT.search(new) or name in LIST_NAMES:
                yield f"    {name}: {old}" + ("" if old == new else f"\n    {' ' * len(name)}→ {new}")


if __name__ == "__main__":
    sys.exit(main())
