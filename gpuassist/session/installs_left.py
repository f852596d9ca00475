"""The installs that remain, asked while no other gpuassist is at one."""

from __future__ import annotations

from contextlib import nullcontext

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.install.records import Install
from gpuassist.install.remains import InstallRemains, on_record, remains, unread
from gpuassist.model.text import text
from gpuassist.session.install import InstallError, alone
from gpuassist.system.untrusted_state import UntrustedStateError


class InstallsLeft(Struct, frozen=True):
    """What installs have left, newest first, and the records that cannot be read."""

    left: tuple[InstallRemains, ...] = ()
    unread: tuple[str, ...] = ()


def installs_left(session: Session, *, is_alone: bool = False) -> InstallsLeft:
    """Nothing is changed by it, and where no install is on record nothing is asked. `is_alone` where the lock is held already."""
    found = on_record(session.world)
    missing = unread(session.world)
    if not found:
        return InstallsLeft((), missing)
    try:
        with nullcontext() if is_alone else alone(session):
            left = [_asked(session, one) for one in found]
    except (InstallError, UntrustedStateError) as error:
        left = [remains(session, one, unknown=error.reason) for one in found]
    return InstallsLeft(tuple(one for one in left if one is not None), missing)


def _asked(session: Session, install: Install) -> InstallRemains | None:
    try:
        return remains(session, install)
    except OSError as error:
        return remains(session, install, unknown=text("{error}", error=error.strerror or str(error)))
