"""What pacman did, from `/var/log/pacman.log`.

lib/libalpm/log.c writes `[2026-11-14T06:12:10+0100] [ALPM] `, and wrote `[2019-06-01 06:12] ` before version 5.2 and no `[ALPM]`
before 4.1; behind it stands, in English whatever the locale (add.c, remove.c: none of these is given to gettext):

    [2026-11-14T06:12:03+0100] [PACMAN] Running 'pacman -Syu'
    [2026-11-14T06:12:10+0100] [ALPM] upgraded nvidia-open (580.95.05-1 -> 580.105.08-1)
    [2026-11-14T06:12:12+0100] [ALPM] transaction completed

What installation scripts print is [ALPM-SCRIPTLET], never [ALPM].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.formats.package_logs.entries import LogPiece, Moments, doer, is_relevant, words_of
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import PackageAction, PackageEvent

# The lines that may count, at the price of two jumps: `.` also stands for the line feed, what stands there is looked at later.
_FOUND = lazy_regex(
    rb"(?s)\n\[.{16}(?:.{8})?\] (?:\[ALPM\] )?"
    rb"(?:(?:upgraded|installed|removed|reinstalled|downgraded) ([^ \n]+)|\[[A-Z0-9_.-]{1,40}\] R|Running|transaction [cf])"
)
_LINE = lazy_regex(
    rb"\n\[([0-9T:+ -]{16,25})\] (?:\[ALPM\] )?"
    rb"(?:(installed|upgraded|downgraded|reinstalled|removed) ([^ \n]+) \(([^)\n]{1,300})\)"
    rb"|(?:\[[A-Z0-9_.-]{1,40}\] )?Running '([^\n]{1,2000})'|transaction (completed|failed))"
)


def read_pacman(log: Iterable[LogPiece], moments: Moments, path: str) -> Iterator[PackageEvent]:
    """The packages that GPU work depends on; who asked for it is not logged."""
    command = b""
    for piece in log:
        for found in _FOUND.finditer(piece.data):
            name = found[1]
            if name is not None and not is_relevant(name):
                continue
            match = _LINE.match(piece.data, found.start())
            if match is None:
                continue
            written, does, name, versions, runs, ended = match.groups()
            if runs is not None:
                command = runs
            elif ended is not None:
                command = b""
            else:
                at = moments.at(words_of(written))
                before, arrow, after = words_of(versions).partition(" -> ")
                action = PackageAction(does.decode())
                if action is PackageAction.INSTALLED:
                    before, after = "", before
                elif not arrow:
                    after = before if action is PackageAction.REINSTALLED else ""
                if at:
                    source = f"{path}:{piece.line_at(match.start())}"
                    yield PackageEvent(at, action, words_of(name), before, after, source, doer(words_of(command)))
