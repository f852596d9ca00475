"""Lines that set variables for a while: what was there is kept under other names, and put back from there.

A kept value begins with `=` where the variable was set, and is empty where it was not; of a list it says the directory that came
first, so that exactly that one element is taken out again, whatever else was put on the list in the meantime. fish keeps the same
names in the same form as sh, bash and zsh do."""

from __future__ import annotations

from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.shellfiles.block import quoted, quoted_for
from gpuassist.shellfiles.dialect import Dialect

_VARIABLES = "CUDA_HOME CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES"
# What is kept has a name that is made at run time: only `eval` can say it in sh. No value is ever a part of what it evaluates.
# Tests on text compare expansions, because under `shopt -s nocasematch` a `case` finds what %% does not.
_TAKE_FIRST_OUT = (
    b'if [ "${_gpuassist_list#*"$_gpuassist_directory"}" != "$_gpuassist_list" ]; then',
    b'    _gpuassist_list="${_gpuassist_list%%"$_gpuassist_directory"*}:${_gpuassist_list#*"$_gpuassist_directory"}"',
    b"fi",
    b'_gpuassist_list="${_gpuassist_list#:}"',
    b'_gpuassist_list="${_gpuassist_list%:}"',
)


def setting(held: ScopeValues, *, exported: bool) -> tuple[bytes, ...]:
    """Sets what is held, once what was there is kept; `_gpuassist_key` is what the kept names begin with, `exported` whether
    programs get them too, so that a shell inside this one can put everything back.
    """
    keep = "export " if exported else ""
    lines: list[bytes] = []
    for name, value in held.variables:
        kept = f'"[ -n \\"\\${{${{_gpuassist_key}}_{name}+x}}\\" ]"'
        lines.append(f'eval {kept} || eval "{keep}${{_gpuassist_key}}_{name}=\\"\\${{{name}+=}}\\${{{name}-}}\\""'.encode())
        lines.append(f"export {name}=".encode() + quoted(value))
    for name, directory in held.lists:
        lines += [
            b"_gpuassist_directory=" + quoted(directory),
            f'if eval "[ -z \\"\\${{${{_gpuassist_key}}_{name}+x}}\\" ]"; then'.encode(),
            f'    eval "{keep}${{_gpuassist_key}}_{name}=\\"\\${{{name}+=}}\\$_gpuassist_directory\\""'.encode(),
            f'    export {name}="$_gpuassist_directory${{{name}:+:${name}}}"'.encode(),
            b"fi",
        ]
    if held.lists:
        lines.append(b"unset _gpuassist_directory")
    return tuple(lines)


def putting_back(lists: str) -> tuple[bytes, ...]:
    """Puts everything back that `setting` kept under `_gpuassist_key`; of the lists only these."""
    return (
        f"for _gpuassist_name in {_VARIABLES}; do".encode(),
        b'    eval "_gpuassist_kept=\\"\\${${_gpuassist_key}_${_gpuassist_name}-none}\\""',
        b'    if [ "$_gpuassist_kept" = none ]; then continue; fi',
        b'    if [ -n "$_gpuassist_kept" ]; then',
        b'        export "$_gpuassist_name=${_gpuassist_kept#=}"',
        b'    else unset "$_gpuassist_name"; fi',
        b'    unset "${_gpuassist_key}_${_gpuassist_name}"',
        b"done",
        f"for _gpuassist_name in {lists}; do".encode(),
        b'    eval "_gpuassist_kept=\\"\\${${_gpuassist_key}_${_gpuassist_name}-none}\\""',
        b'    if [ "$_gpuassist_kept" = none ]; then continue; fi',
        b'    eval "_gpuassist_list=\\":\\${${_gpuassist_name}-}:\\""',
        b'    _gpuassist_directory=":${_gpuassist_kept#=}:"',
        *(b"    " + line for line in _TAKE_FIRST_OUT),
        b'    if [ -n "$_gpuassist_list" ] || [ "${_gpuassist_kept#=}" != "$_gpuassist_kept" ]; then',
        b'        export "$_gpuassist_name=$_gpuassist_list"',
        b'    else unset "$_gpuassist_name"; fi',
        b'    unset "${_gpuassist_key}_${_gpuassist_name}"',
        b"done",
        b"unset _gpuassist_name _gpuassist_kept _gpuassist_list _gpuassist_directory",
    )


def taking_out(directory: str, variable: str) -> tuple[bytes, ...]:
    """Takes the first element out of a list that is the value of this expression."""
    return (
        f'_gpuassist_list=":${variable}:"'.encode(),
        f'_gpuassist_directory=":{directory}:"'.encode(),
        *_TAKE_FIRST_OUT,
        f'export {variable}="$_gpuassist_list"'.encode(),
        b"unset _gpuassist_list _gpuassist_directory",
    )


def setting_fish(held: ScopeValues, *, exported: bool) -> tuple[bytes, ...]:
    """Sets what is held, once what was there is kept; `_gpuassist_key` is what the kept names begin with."""
    keep = "set -gx" if exported else "set -g"
    lines: list[bytes] = []
    for name, value in held.variables:
        lines += [*_kept(name, f'"=${name}"', '""', keep), b"end"]
        lines.append(f"set -gx {name} ".encode() + quoted_for(value, Dialect.FISH))
    for name, directory in held.lists:
        lines.append(b"set -l _gpuassist_directory " + quoted_for(directory, Dialect.FISH))
        lines += _kept(name, "=$_gpuassist_directory", "$_gpuassist_directory", keep)
        # A list that is set to nothing is one empty element in fish: behind a directory it would mean the current one.
        lines += [f'    test -n "${name}"; or set -l {name}'.encode()]
        lines += [f"    set -gx {name} $_gpuassist_directory ${name}".encode(), b"end"]
    return tuple(lines)


def putting_back_fish(lists: str) -> tuple[bytes, ...]:
    """Puts everything back that `setting_fish` kept under `_gpuassist_key`; of the lists only these."""
    return (
        f"for _gpuassist_name in {_VARIABLES}".encode(),
        b'    set -l kept "$_gpuassist_key"_$_gpuassist_name',
        b"    set -q $kept; or continue",
        b'    if test -n "$$kept"',
        b'        set -gx $_gpuassist_name (string sub -s 2 -- "$$kept")',
        b"    else",
        b"        set -eg $_gpuassist_name",
        b"    end",
        b"    set -eg $kept",
        b"end",
        f"for _gpuassist_name in {lists}".encode(),
        b'    set -l kept "$_gpuassist_key"_$_gpuassist_name',
        b"    set -q $kept; or continue",
        b"    set -l directory (string replace -r -- '^=' '' $$kept)",
        b"    if set -l place (contains -i -- $directory $$_gpuassist_name)",
        b"        set -eg {$_gpuassist_name}[$place]",
        b"    end",
        b"    if test (count $$_gpuassist_name) -eq 0; and not string match -q -- '=*' $$kept",
        b"        set -eg $_gpuassist_name",
        b"    end",
        b"    set -eg $kept",
        b"end",
    )


def _kept(name: str, was_set: str, was_not: str, keep: str) -> tuple[bytes, ...]:
    kept = f'"$_gpuassist_key"_{name}'
    return (
        f"if not set -q {kept}".encode(),
        f"    if set -q {name}".encode(),
        f"        {keep} {kept} {was_set}".encode(),
        b"    else",
        f"        {keep} {kept} {was_not}".encode(),
        b"    end",
    )
