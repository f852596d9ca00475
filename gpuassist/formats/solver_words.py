"""What pip, uv and conda say when they install nothing: which of a few reasons it is, and their explanation without the rest."""

from __future__ import annotations

import re
from enum import Enum

_UNREACHABLE = re.compile(
    r"NewConnectionError|ConnectTimeout|ReadTimeout|Temporary failure in name resolution|Name or service not known|dns error"
    r"|Could not resolve host|ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED|CondaHTTPError|CondaSSLError|error sending request"
    r"|Failed to fetch|Connection refused|network connectivity is disabled|Download error"
)
_NO_OPTION = re.compile(r"no such option: --(?:dry-run|report)|unrecognized arguments: .*--(?:dry-run|report)")
_NO_PIP = re.compile(r"No module named pip\b")
_CLOSED = re.compile(r"externally[- ]managed")
_IMPOSSIBLE = re.compile(
    r"ResolutionImpossible|No matching distribution found|No solution found|conflicting dependencies|nothing provides"
    r"|Unsatisfiable|PackagesNotFound|ResolvePackageNotFound|incompatible with each other|are incompatible|solver_problems"
    r"|Could not solve for environment specs|Encountered problems while solving"
)
_CAUSE = re.compile(
    r"^(?:ERROR: (?:Cannot install|No matching|Could not find|Ignored the following)|The conflict is caused by:|\s{4}\S.*)"
)
_DRAWN = re.compile(r"[│├└╰─▶×┌]+|^\s*(?:ERROR|error|cause|hint): ")


class Reason(str, Enum):
    """Why nothing would be installed."""

    IMPOSSIBLE = "impossible"  # no set of packages fits
    UNREACHABLE = "unreachable"
    TOO_OLD = "too old"  # a pip that cannot look
    NO_PIP = "no pip"
    CLOSED = "closed"  # the distribution's own environment: PEP 668
    OTHER = "other"


def reason_of(words: str) -> Reason:
    """Which of them; a tool that reached no index says in the end that nothing was found there, so that is asked before."""
    for pattern, reason in _REASONS:
        if pattern.search(words):
            return reason
    return Reason.OTHER


def explanation(words: str) -> str:
    """The lines that explain, on one line."""
    lines = [line for line in words.splitlines() if line.strip()]
    causes = [line for line in lines if _CAUSE.match(line)]
    chosen = causes if any(not line.startswith(" ") for line in causes) else _last_part(lines)
    return " ".join(" ".join(_DRAWN.sub(" ", line) for line in dict.fromkeys(chosen)).split())


def _last_part(lines: list[str]) -> list[str]:
    """From the first line on that names an error, else the last ones."""
    start = next((place for place, line in enumerate(lines) if _NAMES_ERROR.search(line)), max(0, len(lines) - 12))
    return lines[start:]


_NAMES_ERROR = re.compile(r"(?i)no solution found|\berror\b|problems while solving|unsatisfiable|conflict")
_REASONS = (
    (_NO_OPTION, Reason.TOO_OLD),
    (_NO_PIP, Reason.NO_PIP),
    (_CLOSED, Reason.CLOSED),
    (_UNREACHABLE, Reason.UNREACHABLE),
    (_IMPOSSIBLE, Reason.IMPOSSIBLE),
)
