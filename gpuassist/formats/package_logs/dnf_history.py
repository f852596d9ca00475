"""What dnf did, from the history that it keeps: rows of its database to entries; `detect/dnf_databases.py` asks for them.

dnf 4: `/var/lib/dnf/history.sqlite`, libdnf/transaction/sql/create_tables.sql and Types.hpp.
dnf 5: `/usr/lib/sysimage/libdnf5/transaction_history.sqlite`, create_tables.sql and transaction_item_action.hpp of libdnf5.
Of an upgrade both keep two items, what came and what it replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gpuassist.formats.package_logs.entries import Moments, doer
from gpuassist.formats.package_logs.rpm_logs import named
from gpuassist.model.past import PackageAction, PackageEvent


class Layout(Struct, frozen=True):
    """The tables of one of the two: the queries, and what its numbers mean. `failed` is the state of an item that was not done,
    `program` what its command lines leave out.
    """

    names: str
    items: str
    tables: frozenset[str]
    came: dict[int, PackageAction]
    left: frozenset[int]
    failed: int
    program: str = ""


_ITEMS = (
    "SELECT t.id, t.dt_begin, t.user_id, t.{command}, i.action{id}, i.state{id}, {name}, r.epoch, r.version, r.release, {arch} "
    "FROM rpm r {joins} JOIN trans_item i ON i.item_id = r.item_id JOIN trans t ON t.id = i.trans_id "
    "WHERE {name} IN ({{names}}) AND t.dt_begin >= ? ORDER BY t.id DESC, i.id LIMIT ?"
)
DNF4 = Layout(
    "SELECT DISTINCT name FROM rpm LIMIT ?",
    _ITEMS.format(command="cmdline", id="", name="r.name", arch="r.arch", joins=""),
    frozenset({"trans", "trans_item", "rpm"}),
    {
        1: PackageAction.INSTALLED,
        2: PackageAction.DOWNGRADED,
        4: PackageAction.INSTALLED,  # it came in the place of a package of another name
        6: PackageAction.UPGRADED,
        9: PackageAction.REINSTALLED,
    },
    frozenset({3, 5, 7, 8}),
    failed=2,
    program="dnf",  # of what was typed it keeps the arguments (dnf/base.py: `cmdline = ' '.join(self.args)`)
)
DNF5 = Layout(
    "SELECT name FROM pkg_name LIMIT ?",
    _ITEMS.format(
        command="description",
        id="_id",
        name="n.name",
        arch="a.name",
        joins="JOIN pkg_name n ON n.id = r.name_id JOIN arch a ON a.id = r.arch_id",
    ),
    frozenset({"trans", "trans_item", "rpm", "pkg_name", "arch"}),
    {
        1: PackageAction.INSTALLED,
        2: PackageAction.UPGRADED,
        3: PackageAction.DOWNGRADED,
        4: PackageAction.REINSTALLED,
    },
    frozenset({5, 6}),
    failed=3,
)
DNF_LAYOUTS = {"/var/lib/dnf/history.sqlite": DNF4, "/usr/lib/sysimage/libdnf5/transaction_history.sqlite": DNF5}


class DnfItem(Struct, frozen=True):
    """A row of `Layout.items`."""

    transaction: int
    begun: int
    user: int
    command: str
    action: int
    state: int
    name: str
    epoch: int
    version: str
    release: str
    architecture: str


NO_USER = 0xFFFFFFFF  # (uid_t) -1: nobody had logged in, as for a timer (pam_loginuid(8))


def read_dnf_history(items: Iterable[DnfItem], layout: Layout, moments: Moments, path: str) -> Iterator[PackageEvent]:
    """The entries of these items; `user` in them is still a number, and empty for `NO_USER`."""
    transactions: dict[int, list[DnfItem]] = {}
    for item in items:
        transactions.setdefault(item.transaction, []).append(item)
    for number, its_items in transactions.items():
        at = moments.of_epoch(its_items[0].begun)
        done = [item for item in its_items if item.state != layout.failed]
        left: dict[str, list[str]] = {}
        for item in done:
            if item.action in layout.left:
                left.setdefault(named(item.name, item.architecture), []).append(_version(item))
        first = its_items[0]
        user, by, source = "" if first.user == NO_USER else str(first.user), doer(_whole(first.command, layout)), f"{path}#{number}"
        for item in done if at else ():
            action = layout.came.get(item.action)
            if action is not None:
                name, after = named(item.name, item.architecture), _version(item)
                before = ""
                if action in {PackageAction.UPGRADED, PackageAction.DOWNGRADED} and left.get(name):
                    before = left[name].pop(0)
                yield PackageEvent(
                    at, action, name, after if action is PackageAction.REINSTALLED else before, after, source, by, user
                )
        for name, versions in left.items() if at else ():
            for version in versions:
                yield PackageEvent(at, PackageAction.REMOVED, name, version, "", source, by, user)


def _whole(command: str, layout: Layout) -> str:
    """The command line with its program: who reads `upgrade` does not see what was typed."""
    words = command.split()
    if not words or not layout.program or words[0].rpartition("/")[2].startswith((layout.program, "yum")):
        return command
    return f"{layout.program} {command}"


def _version(item: DnfItem) -> str:
    return f"{item.epoch}:{item.version}-{item.release}" if item.epoch else f"{item.version}-{item.release}"
