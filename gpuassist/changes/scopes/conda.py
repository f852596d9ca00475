"""The hooks of a conda environment: what activating it sets, and deactivating it puts back, in sh's kin and in fish.

conda runs deactivate.d before it leaves an environment and activate.d once it has entered one. Where it goes from one environment
straight to another it writes PATH between the two as it was before the first hook ran: what that hook took out is there again. So
the hook notes it, and the next one takes it out.
"""

from __future__ import annotations

import hashlib

from gpuassist.changes.scopes.hooks import putting_back, putting_back_fish, setting, setting_fish, taking_out
from gpuassist.changes.scopes.values import ScopeValues, block_lines

ACTIVATE = "etc/conda/activate.d/gpuassist"
DEACTIVATE = "etc/conda/deactivate.d/gpuassist"
_LISTS = "LD_LIBRARY_PATH PATH"
_KEPT = b"# What was there before is kept under names with _GPUASSIST_ in front, for deactivate.d to put back."


def activate_lines(prefix: str, held: ScopeValues) -> tuple[bytes, ...]:
    """For activate.d/*.sh; none where nothing is held."""
    return block_lines(
        held,
        _KEPT,
        b'if [ -n "${_GPUASSIST_LEFT-}" ]; then',
        b'    if [ "${_GPUASSIST_LEFT#*:}" != "$PATH" ]; then',
        *(b"        " + line for line in taking_out("${_GPUASSIST_LEFT%%:*}", "PATH")),
        b"    fi",
        b"    unset _GPUASSIST_LEFT",
        b"fi",
        _key(prefix),
        *setting(held, exported=True),
        b"unset _gpuassist_key",
    )


def deactivate_lines(prefix: str, held: ScopeValues) -> tuple[bytes, ...]:
    """For deactivate.d/*.sh: puts back whatever the other hook set, also where that was changed since."""
    return block_lines(
        held,
        _key(prefix),
        b'eval "_gpuassist_left=\\"\\${${_gpuassist_key}_PATH-}\\""',
        *putting_back(_LISTS),
        b"# On the way to another environment conda writes PATH anew, from before this file ran: the next hook sees to it.",
        b'if [ -n "$_gpuassist_left" ]; then',
        b'    case ":$PATH:" in',
        b'        *":${CONDA_PREFIX:-/nonexistent}/bin:"*) export _GPUASSIST_LEFT="${_gpuassist_left#=}:$PATH" ;;',
        b"    esac",
        b"fi",
        b"unset _gpuassist_key _gpuassist_left",
    )


def activate_fish(prefix: str, held: ScopeValues) -> tuple[bytes, ...]:
    """For activate.d/*.fish; none where nothing is held."""
    return block_lines(
        held,
        _KEPT,
        b"if set -q _GPUASSIST_LEFT",
        b"    set -l left (string split -m 1 : -- (string join : -- $_GPUASSIST_LEFT))",
        b'    if test "$left[2]" != (string join : -- $PATH)',
        b"        and set -l place (contains -i -- $left[1] $PATH)",
        b"        set -eg PATH[$place]",
        b"    end",
        b"    set -eg _GPUASSIST_LEFT",
        b"end",
        *_key_fish(prefix),
        *setting_fish(held, exported=True),
    )


def deactivate_fish(prefix: str, held: ScopeValues) -> tuple[bytes, ...]:
    """For deactivate.d/*.fish: puts back whatever the other hook set, also where that was changed since."""
    return block_lines(
        held,
        *_key_fish(prefix),
        b'set -l _gpuassist_left "$_gpuassist_key"_PATH',
        b"set _gpuassist_left (string replace -r -- '^=' '' $$_gpuassist_left)",
        *putting_back_fish(_LISTS),
        b"# On the way to another environment conda writes PATH anew, from before this file ran: the next hook sees to it.",
        b'if test -n "$_gpuassist_left"; and contains -- "$CONDA_PREFIX/bin" $PATH',
        b'    set -gx _GPUASSIST_LEFT "$_gpuassist_left:"(string join : -- $PATH)',
        b"end",
    )


def _key(prefix: str) -> bytes:
    return f"_gpuassist_key=_GPUASSIST_{_hash(prefix)}_${{CONDA_SHLVL:-0}}".encode()


def _key_fish(prefix: str) -> tuple[bytes, ...]:
    key = f"_GPUASSIST_{_hash(prefix)}"
    return (
        f"set -l _gpuassist_key {key}_0".encode(),
        f'set -q CONDA_SHLVL; and set _gpuassist_key {key}_"$CONDA_SHLVL"'.encode(),
    )


def _hash(prefix: str) -> str:
    """Tells the environment of this prefix from others that are active at the same time."""
    return hashlib.sha256(prefix.encode("utf-8", "surrogateescape")).hexdigest()[:8]
