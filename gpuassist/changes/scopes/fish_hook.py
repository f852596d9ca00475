"""Lines of fish that set variables for a while, kept under the same names and in the same form as those for sh, and put back."""

from __future__ import annotations

from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.sections import quoted_for

_VARIABLES = "CUDA_HOME CUDA_DEVICE_ORDER CUDA_VISIBLE_DEVICES"


def setting(held: ScopeValues, *, exported: bool) -> tuple[bytes, ...]:
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


def putting_back(lists: str) -> tuple[bytes, ...]:
    """Puts everything back that `setting` kept under `_gpuassist_key`; of the lists only these."""
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
