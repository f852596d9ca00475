"""What OpenSSH says on standard error when a connection does not come about, or is lost: its messages are English everywhere."""

from __future__ import annotations

from enum import Enum

from gpuassist.formats.visible import on_one_line

LONGEST = 400


class SshComplaint(str, Enum):
    """Why there is no connection."""

    CHANGED_KEY = "changed-key"
    UNKNOWN_KEY = "unknown-key"
    DENIED = "denied"
    UNKNOWN_NAME = "unknown-name"
    NO_ROUTE = "no-route"
    NO_SERVER = "no-server"
    CONFIGURATION = "configuration"
    NO_SHELL = "no-shell"
    CLOSED = "closed"
    OTHER = "other"


# In the order in which they decide: a changed key ends in the same last line as an unknown one.
_MESSAGES = (
    (SshComplaint.CHANGED_KEY, ("REMOTE HOST IDENTIFICATION HAS CHANGED", "host key is marked as revoked", "REVOKED HOST KEY")),
    (SshComplaint.UNKNOWN_KEY, ("Host key verification failed", "key is known for")),
    (SshComplaint.DENIED, ("Permission denied (", "Too many authentication failures", "Permission denied, please try again")),
    (SshComplaint.UNKNOWN_NAME, ("Could not resolve hostname", "Name or service not known")),
    (
        SshComplaint.NO_ROUTE,
        (
            "No route to host",
            "Network is unreachable",
            "Connection timed out",
            "Operation timed out",
            "timed out during banner exchange",
        ),
    ),
    (SshComplaint.NO_SERVER, ("Connection refused",)),
    (
        SshComplaint.CONFIGURATION,
        (
            "Bad configuration option",
            "Bad owner or permissions",
            "terminating, ",
            "unknown option",
            "keyword ",
            "hostname contains invalid",
        ),
    ),
    (SshComplaint.NO_SHELL, ("This account is currently not available", "not found", "No such file or directory")),
    (
        SshComplaint.CLOSED,
        (
            "Connection closed by",
            "Connection reset by",
            "kex_exchange_identification",
            "Broken pipe",
            "Connection to ",
            "not respond",
        ),
    ),
)


def complaint_of(errors: str) -> SshComplaint:
    """What of it ended the connection: of several lines the weightiest."""
    return next((one for one, words in _MESSAGES if any(word in errors for word in words)), SshComplaint.OTHER)


def last_words(errors: str) -> str:
    """The last line that says something, to be quoted; empty where nothing was said."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return on_one_line(lines[-1][:LONGEST]) if lines else ""
