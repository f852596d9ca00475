"""The Python of a pasted text: by the paths of installed packages in it, by what Python says of itself, by compiled modules."""

from __future__ import annotations

import re
from itertools import islice

from msgspec.structs import replace

from gpuassist.detect.readers.lines import whole
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_LIBRARY = (
    r"[\\/](?:python3\.|[Pp]ython3|Versions[\\/]3\.)(?P<minor>\d{1,2})t?(?:-32|-64)?[\\/](?:[Ll]ib[\\/](?:python[\d.]{1,5}[\\/])?)?"
    r"(?:site|dist)-packages"
)
# The surest first; of those in one row all have to agree.
_SAID: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("-packages", lazy_regex(rf"{_LIBRARY}[\\/]{{1,2}}torch[\\/]")),
    ("-packages", lazy_regex(rf"{_LIBRARY}\b")),
    ("Python 3.", lazy_regex(r"(?m)^[ \t>]{0,8}Python 3\.(?P<minor>\d{1,2})\.\d{1,3}\b(?:$|[ \t]*(?:\(|\||::|$))")),
    (".cpython-3", lazy_regex(r"\.cpython-3(?P<minor>\d{1,2})(?:-[\w-]{3,40})?\.(?:so|pyc)\b")),
    ("-cp3", lazy_regex(r"(?:Downloading|Using cached|Saved)\s[^\n]{0,200}-cp3(?P<minor>\d{1,2})-cp3")),
)
_MOST = 200  # places of one kind: a log repeats itself


def with_python(machine: Machine, paste: Paste) -> Machine:
    """The machine of a text whose environments are told with the Python that the text names; one that tells its own keeps it."""
    if not isinstance(machine.environments, Known) or len(machine.environments.value) != 1:
        return machine
    (one,) = machine.environments.value
    told = _python(paste) if isinstance(one.python_version, Unknown) else NOT_ASKED
    if isinstance(told, Unknown):
        return machine
    return replace(machine, environments=Known((replace(one, python_version=told),), machine.environments.source))


def _python(paste: Paste) -> Fact[Version]:
    for literal, pattern in _SAID:
        if literal not in paste.words:
            continue
        text = whole(paste)
        found = list(islice(pattern.finditer(text.words), _MOST))
        if len({match["minor"] for match in found}) == 1:
            return text.known(Version((3, int(found[0]["minor"]))), "path", found[0].start("minor"))
    return NOT_ASKED
