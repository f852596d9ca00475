"""What an interpreter within an image is given, where no file of ours is: the child's modules as one text, and how it is started.

A shell of the image looks for the interpreter; the text comes on the standard input, which stays open after it, and the report goes
where the standard output went: whatever prints there on its own account is led to standard error before any of it starts.
"""

from __future__ import annotations

import os

from msgspec import Struct

from gpuassist.verify.protocol import NO_INTERPRETER, NO_TORCH

_PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child")
_DESCRIPTOR = "3"
# It reads as much as is announced: an interpreter that is given a script there would wait for the end, which does not come.
_BOOT = "import sys; exec(compile(sys.stdin.buffer.read(int(sys.argv[3])), 'gpuassist', 'exec'))"
_HAS_TORCH = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
# Where images keep an interpreter: what their own PATH finds first, then environments that only their entry point would activate.
_INTERPRETERS = (
    'python3 python "${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python}" "${CONDA_PREFIX:+$CONDA_PREFIX/bin/python}" "$PWD/.venv/bin/python"'
    " /opt/conda/bin/python /opt/venv/bin/python /venv/bin/python /*/venv/bin/python /*/.venv/bin/python /opt/*/bin/python"
    " /opt/conda/envs/*/bin/python /usr/local/bin/python3 /usr/bin/python3"
)
_FIND = f"""exec 3>&1 1>&2
export CUDA_DEVICE_ORDER="${{CUDA_DEVICE_ORDER:-PCI_BUS_ID}}"
for one in {_INTERPRETERS}; do
  found=$(command -v "$one") || continue
  "$found" -c "{_HAS_TORCH}" </dev/null >/dev/null 2>&1 3>&1 && exec "$found" -c "$@"
  first=${{first:-$found}}
done
case "$first" in
  "") why="{NO_INTERPRETER}" ;;
  *[!a-zA-Z0-9/._-]*) why="{NO_TORCH}" ;;
  *) why="{NO_TORCH} ($first)" ;;
esac
echo '{{"type": "error", "stage": "import", "python": "", "error": "'"$why"'"}}' >&3
exit 1"""


class Script(Struct, frozen=True):
    """Words for a shell of the image behind `sh`, and what its standard input is given."""

    words: tuple[str, ...]
    given: bytes


def script(request: str) -> Script:
    """The child with its request."""
    given = _text()
    return Script(("-c", _FIND, "sh", _BOOT, _DESCRIPTOR, request, str(len(given))), given)


def _text() -> bytes:
    sources = {}
    for name in sorted(os.listdir(_PLACE)):
        if name.endswith(".py") and name != "__init__.py":
            with open(os.path.join(_PLACE, name), encoding="utf-8") as file:
                sources[name[:-3]] = file.read()
    lines = (f"SOURCES = {sources!a}", "exec(compile(SOURCES.pop('main'), 'main.py', 'exec'))", "")
    return "\n".join(lines).encode()
