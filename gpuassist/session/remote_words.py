"""Why another machine cannot be looked at: what happened, and what to do about it, in a sentence or two each."""

from __future__ import annotations

from gpuassist.formats.ssh_complaints import SshComplaint, complaint_of, last_words
from gpuassist.model.text import Text, counted, text

WAITS_FOR_USER = frozenset({SshComplaint.DENIED, SshComplaint.CHANGED_KEY, SshComplaint.UNKNOWN_KEY, SshComplaint.CONFIGURATION})
"""What no further try mends, and what a server may take for an attack if it is tried again and again."""

_UNDETERMINED = 3  # the exit status of a command that could not find out


def refused(host: str, errors: str) -> Text:
    """Why ssh ended before anything ran there, by what it said."""
    complaint = complaint_of(errors)
    if complaint is SshComplaint.OTHER:
        said = last_words(errors)
        if said:
            return text("ssh to {host} ended: {said}", host=host, said=said)
        return text(
            "ssh to {host} ended without a word. `ssh {host} true` in a terminal shows whether it works by itself.", host=host
        )
    return text("{why} ssh says: {said}", why=_WHY[complaint](host), said=last_words(errors))


def _changed_key(host: str) -> Text:
    return text(
        "{host} shows another host key than before: it was installed anew, or somebody stands between. Nothing was sent. "
        "Ask whoever runs it, and only then remove the old key with `ssh-keygen -R`.",
        host=host,
    )


def _unknown_key(host: str) -> Text:
    return text(
        "The host key of {host} is not known here yet. Run `ssh {host} true` once in a terminal and answer its question.", host=host
    )


def _denied(host: str) -> Text:
    return text(
        "{host} did not let you in. Give your key to the agent (`ssh-add`), put it there (`ssh-copy-id {host}`), "
        "or, for a password, start `gpuassist --ssh {host}` in a terminal, where ssh asks for it.",
        host=host,
    )


def _unknown_name(host: str) -> Text:
    return text(
        "The name {host} is not known: look for a typing error, or for its entry in ~/.ssh/config; a VPN may be off.", host=host
    )


def _no_route(host: str) -> Text:
    return text("{host} cannot be reached: it is off, or the network between does not lead there (a VPN, a firewall).", host=host)


def _no_server(host: str) -> Text:
    return text(
        "{host} is there, but no SSH server answers: it may be starting, or listen on another port (Port in ~/.ssh/config).",
        host=host,
    )


def _configuration(host: str) -> Text:
    return text("Your ssh does not take its own configuration for {host}. Nothing was tried.", host=host)


def _no_shell(host: str) -> Text:
    return text("{host} let you in, but runs no shell for you: this account is for something else.", host=host)


def _closed(host: str) -> Text:
    return text("The connection to {host} was closed.", host=host)


_WHY = {
    SshComplaint.CHANGED_KEY: _changed_key,
    SshComplaint.UNKNOWN_KEY: _unknown_key,
    SshComplaint.DENIED: _denied,
    SshComplaint.UNKNOWN_NAME: _unknown_name,
    SshComplaint.NO_ROUTE: _no_route,
    SshComplaint.NO_SERVER: _no_server,
    SshComplaint.CONFIGURATION: _configuration,
    SshComplaint.NO_SHELL: _no_shell,
    SshComplaint.CLOSED: _closed,
}


def bad_name(host: str) -> Text:
    shown = host or '""'
    return text("{host} is no name of a machine for ssh: give an alias, a host, user@host or ssh://user@host:port", host=shown)


def no_ssh(words: str) -> Text:
    if words:
        return text("ssh could not be started: {words}", words=words)
    return text("ssh is not installed here: its package is openssh-client, on Fedora and RHEL openssh-clients, on Arch openssh")


def silent(host: str, seconds: float) -> Text:
    return counted(
        "{host} has not answered for {count} second: it is overloaded, or the network between is gone.",
        "{host} has not answered for {count} seconds: it is overloaded, or the network between is gone.",
        round(seconds),
        host=host,
    )


def lost(host: str, errors: str) -> Text:
    said = last_words(errors)
    if not said:
        return text("The connection to {host} was lost.", host=host)
    return text("The connection to {host} was lost. ssh says: {said}", host=host, said=said)


def no_python(host: str, newest: str) -> Text:
    if newest:
        return text(
            "The newest Python on {host} is {version}; gpuassist needs 3.10 there. Your own one (uv, conda) on its PATH will do.",
            host=host,
            version=newest,
        )
    return text("There is no Python on {host} that can be found; gpuassist needs 3.10 or newer there.", host=host)


def no_half(host: str, machine: str, version: str, other: str) -> Text:
    """`other` is the version of a gpuassist that is installed there and is not ours, empty where none is."""
    what = text(
        "What is installed here does not run on {host} ({machine}, Python {version}). Install gpuassist there "
        "(`pipx install gpuassist`), or name the file that is made for it: `--remote-half gpuassist-{machine}.pyz`.",
        host=host,
        machine=machine,
        version=version,
    )
    return text("{what} (The gpuassist there is {other}, and this is another version.)", what=what, other=other) if other else what


def bad_half(path: str, words: str) -> Text:
    if words:
        return text("{path} could not be read: {words}", path=path, words=words)
    return text("{path} is no gpuassist-<machine>.pyz", path=path)


def other_half(path: str, host: str, machine: str, version: str) -> Text:
    return text(
        "{path} is not for {host}, which has {machine} and Python {version}", path=path, host=host, machine=machine, version=version
    )


def no_place(host: str, why: str) -> Text:
    return text("There is no directory on {host} that gpuassist could be copied to: {why}", host=host, why=why)


def failed(host: str, status: int, errors: str) -> Text:
    said = last_words(errors)
    if not said:
        return text("gpuassist failed on {host} (exit status {status})", host=host, status=status)
    return text("gpuassist failed on {host}: {said}", host=host, said=said)


def ended(host: str, status: int, errors: str) -> Text:
    """Why `monitor` ended there: where it cannot read the GPUs it says so itself."""
    said = last_words(errors)
    return text("{host}: {said}", host=host, said=said) if status == _UNDETERMINED and said else failed(host, status, errors)


def no_answer(host: str) -> Text:
    return text("What {host} answered is no machine: another gpuassist may be installed there, or its output was cut.", host=host)


def said_too_much(host: str) -> Text:
    return text("{host} sends more than any gpuassist does: the connection was ended.", host=host)
