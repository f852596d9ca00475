"""The block at the end of a virtual environment's activate scripts.

PATH is put back by the environment's own `deactivate`, which keeps it whole. For the other variables a function is put around that
one in bash and zsh; fish runs ours when VIRTUAL_ENV changes, whoever changes it. Another shell keeps what was set.
"""

from __future__ import annotations

from gpuassist.changes.scopes.hooks import putting_back, putting_back_fish, setting, setting_fish
from gpuassist.changes.scopes.values import ScopeValues, block_lines

_KEY = "_gpuassist_venv"
_FUNCTIONS = b"_gpuassist_venv_back _gpuassist_venv_deactivate"


def activate_lines(held: ScopeValues) -> tuple[bytes, ...]:
    """For bin/activate; none where nothing is held."""
    return block_lines(
        held,
        b"_gpuassist_venv_back () {",
        b"    _gpuassist_key=" + _KEY.encode(),
        *(b"    " + line for line in putting_back("LD_LIBRARY_PATH")),
        b'    unset _gpuassist_key "' + f"{_KEY}_PATH".encode() + b'"',
        b"}",
        b"_gpuassist_venv_back  # where another environment is left by activating this one",
        b"_gpuassist_key=" + _KEY.encode(),
        *setting(held, exported=False),
        b"unset _gpuassist_key",
        b'if [ -n "${BASH_VERSION-}${ZSH_VERSION-}" ]; then',
        b'    eval "_gpuassist_venv_$(declare -f deactivate)"',
        b"    deactivate () {",
        b"        _gpuassist_venv_back",
        b'        _gpuassist_venv_deactivate "$@"',
        b'        if [ "${1-}" != nondestructive ]; then unset -f ' + _FUNCTIONS + b"; fi",
        b"    }",
        b"fi",
    )


def activate_fish(held: ScopeValues) -> tuple[bytes, ...]:
    """For bin/activate.fish; none where nothing is held."""
    return block_lines(
        held,
        b"set -l _gpuassist_key " + _KEY.encode(),
        *setting_fish(held, exported=False),
        b"function _gpuassist_venv_back --on-variable VIRTUAL_ENV",
        b"    set -l _gpuassist_key " + _KEY.encode(),
        *(b"    " + line for line in putting_back_fish("LD_LIBRARY_PATH")),
        b"    set -eg " + f"{_KEY}_PATH".encode(),
        b"    functions -e _gpuassist_venv_back",
        b"end",
    )
