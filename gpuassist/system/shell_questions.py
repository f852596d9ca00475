"""What a shell is asked once it is ready, in its own language; how its answer is read stands in `ask_shell`.

The shell reads the questions from a file, so that what is typed is a few keys, and answers into a pipe that nobody else knows.
Then it waits for input that never comes until it is killed: no prompt is drawn, no EXIT trap runs, no history is written.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANSWER, COMPLAINTS, HOLD = "answer", "complaints", "hold"
"""The names in the scratch directory of what is written to, and of the pipe that nothing ever comes from."""

# In each: the path that PATH finds, whatever has that name beside it, and the environment as a program gets it. `env` fails where
# the environment is larger than the system hands to any program; then the shell itself tells what it exports.
_BASH = """{{ \\builtin set +eux; \\builtin trap - DEBUG ERR; }} 2>/dev/null
{{
\\builtin printf '%s\\0' begin bash "$$"
for gpuassist_name in {names}; do
\\builtin printf '%s\\0' path "$gpuassist_name"; \\builtin type -P "$gpuassist_name"; \\builtin printf '\\0'
if \\builtin shopt -q expand_aliases && \\builtin alias "$gpuassist_name" >/dev/null; then
\\builtin printf '%s\\0' alias "$gpuassist_name"; \\builtin alias "$gpuassist_name"; \\builtin printf '\\0'; fi
if \\builtin declare -F "$gpuassist_name" >/dev/null; then
\\builtin printf '%s\\0' function "$gpuassist_name"; \\builtin declare -f "$gpuassist_name"; \\builtin printf '\\0'; fi
if \\builtin hash -t "$gpuassist_name" >/dev/null; then
\\builtin printf '%s\\0' hash "$gpuassist_name"; \\builtin hash -t "$gpuassist_name"; \\builtin printf '\\0'; fi
done
\\builtin printf 'environment\\0'
/usr/bin/env -0 || {{ \\builtin printf 'exports\\0'; \\builtin export -p; \\builtin printf '\\0'; }}
\\builtin printf 'end\\0'
}} >{directory}/answer 2>{directory}/complaints
\\builtin read -r gpuassist_name <{directory}/hold
"""
_ZSH = """{{ \\builtin set +x; \\builtin emulate zsh; \\builtin trap - DEBUG; }} 2>/dev/null
{{
\\builtin printf '%s\\0' begin zsh "$$"
for gpuassist_name in {names}; do
\\builtin printf '%s\\0' path "$gpuassist_name"; \\builtin whence -p -- "$gpuassist_name"; \\builtin printf '\\0'
if \\builtin alias -- "$gpuassist_name" >/dev/null; then
\\builtin printf '%s\\0' alias "$gpuassist_name"; \\builtin alias -- "$gpuassist_name"; \\builtin printf '\\0'; fi
if \\builtin functions -- "$gpuassist_name" >/dev/null; then
\\builtin printf '%s\\0' function "$gpuassist_name"; \\builtin functions -- "$gpuassist_name"; \\builtin printf '\\0'; fi
\\builtin printf '%s\\0' hash "$gpuassist_name"; \\builtin hash -m "$gpuassist_name"; \\builtin printf '\\0'
done
\\builtin printf 'environment\\0'
/usr/bin/env -0 || {{ \\builtin printf 'exports\\0'; \\builtin export -p; \\builtin printf '\\0'; }}
\\builtin printf 'end\\0'
}} >{directory}/answer 2>{directory}/complaints
\\builtin read -r gpuassist_name <{directory}/hold
"""
_FISH = """begin
builtin printf '%s\\0' begin fish $fish_pid
for gpuassist_name in {names}
builtin printf '%s\\0' path $gpuassist_name; builtin command -s $gpuassist_name; builtin printf '\\0'
if builtin functions -q $gpuassist_name
builtin printf '%s\\0' function $gpuassist_name; builtin functions $gpuassist_name; builtin printf '\\0'
end
end
builtin printf 'environment\\0'
/usr/bin/env -0; or begin; builtin printf 'exports\\0'; builtin set -x; builtin printf '\\0'; end
builtin printf 'end\\0'
end >{directory}/answer 2>{directory}/complaints
builtin read gpuassist_name <{directory}/hold
"""
# dash, ksh, busybox: `command -v` tells an alias or a function by another answer than a path.
_POSIX = """{{ \\set +eux; }} 2>/dev/null
{{
\\printf '%s\\0' begin sh "$$"
for gpuassist_name in {names}; do
\\printf '%s\\0' named "$gpuassist_name"; \\command -v "$gpuassist_name"; \\printf '\\0'
done
\\printf 'environment\\0'
/usr/bin/env -0 || {{ \\printf 'exports\\0'; \\export -p; \\printf '\\0'; }}
\\printf 'end\\0'
}} >{directory}/answer 2>{directory}/complaints
\\read -r gpuassist_name <{directory}/hold
"""
_FILES = {"bash": ("b", _BASH), "zsh": ("z", _ZSH), "fish": ("f", _FISH)}
_OTHERS = ("s", _POSIX)

PLAIN = frozenset({"sh", "dash", "ash", "busybox", "ksh", "ksh93", "mksh", "yash"})
"""Shells that may read their terminal line by line, as nothing that draws a prompt of its own does."""
SHELLS = frozenset(_FILES) | PLAIN


def files(names: Sequence[str], directory: str) -> Mapping[str, str]:
    """The files of questions to lay into that directory, by name."""
    return {file: words.format(names=" ".join(names), directory=directory) for file, words in (*_FILES.values(), _OTHERS)}


def command(shell: str, directory: str) -> str:
    """What is typed into a shell of that kind: no other letters, because plug-ins take `jk` and `fd` for orders; it starts with a
    space so that no history keeps it, and with a backslash because a dot may be an alias.
    """
    return f" \\. {directory}/{_FILES.get(shell, _OTHERS)[0]}"
