"""What boot loaders start: GRUB's settings, environment and menu; the entries and the settings of the Boot Loader Specification."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from msgspec import Struct

from gpuassist.formats.kernel_order import by_uapi
from gpuassist.model.lazy_regex import lazy_regex

_SETTING = lazy_regex(r"^\s*(?:export\s+)?(?P<name>GRUB_\w+)=(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s#;]*)")
_OPENED = lazy_regex(r"^\s*(?P<kind>menuentry|submenu)\s+(?P<title>'[^']*'|\"[^\"]*\"|\S+)(?P<rest>.*)\{\s*$")
_ID = lazy_regex(r"(?:\$\{?menuentry_id_option\}?|--id)[ =]+(?P<id>'[^']*'|\"[^\"]*\"|\S+)")
_KERNEL = lazy_regex(r"^\s*linux(?:16|efi)?\s+(?P<path>\S+)(?P<arguments>.*)$")
_DEFAULT = lazy_regex(r"^\s*set\s+default=(?P<value>\"[^\"]*\"|'[^']*'|\S+)")
_TRIES = lazy_regex(r"\+(?P<left>\d{1,9})(?:-\d{1,9})?(?=\.(?:conf|efi)\Z)")
_ENTRIES_AT_MOST = 1_000
_DEEP_AT_MOST = 8


class BootEntry(Struct, frozen=True):
    """An entry of a boot loader's menu: `kernel` is the path of the image that it starts, as the boot loader names it, `arguments`
    the command line of that kernel; a submenu has `entries` in place of both.
    """

    title: str
    identity: str = ""
    kernel: str = ""
    arguments: str = ""
    entries: tuple[BootEntry, ...] = ()


class GrubMenu(Struct, frozen=True):
    """The entries of a grub.cfg, and what it takes for the default: a number, a title, an id, `a>b` in a submenu, or
    `${saved_entry}`.
    """

    entries: tuple[BootEntry, ...]
    default: str


def parse_grub_settings(words: str) -> dict[str, str]:
    """The assignments of /etc/default/grub, the last of each name."""
    found = (_SETTING.match(line) for line in words.splitlines())
    return {one["name"]: _plain(one["value"]) for one in found if one is not None}


def parse_grub_environment(words: str) -> dict[str, str]:
    """The environment block that grub-editenv(1) writes: a line of comment, `name=value` lines, and signs that fill it up."""
    pairs = (line.partition("=") for line in words.splitlines() if not line.startswith("#"))
    return {name: value for name, equals, value in pairs if equals}


def parse_grub_menu(words: str) -> GrubMenu:
    """The menu of a grub.cfg as far as grub-mkconfig writes them: each entry and each `}` on a line of its own."""
    default = ""
    # Of each block that is open: its heading and what it has so far; a function, and a condition in braces, has no heading.
    opened: list[tuple[BootEntry | None, list[BootEntry]]] = [(None, [])]
    count = 0
    for line in words.splitlines():
        heading = _OPENED.match(line)
        if heading is not None and count < _ENTRIES_AT_MOST and len(opened) < _DEEP_AT_MOST:
            count += 1
            found = _ID.search(heading["rest"])
            opened.append((BootEntry(_plain(heading["title"]), _plain(found["id"]) if found else ""), []))
        elif line.rstrip().endswith("{"):
            opened.append((None, []))
        elif line.strip() == "}" and len(opened) > 1:
            head, inner = opened.pop()
            if head is not None:
                opened[-1][1].append(_closed(head, inner))
        elif (kernel := _KERNEL.match(line)) is not None and opened[-1][0] is not None:
            opened[-1][1].append(BootEntry("", kernel=kernel["path"], arguments=kernel["arguments"].strip()))
        elif (told := _DEFAULT.match(line)) is not None and "next_entry" not in told["value"]:
            default = _plain(told["value"])
    return GrubMenu(tuple(opened[0][1]), default)


def _closed(head: BootEntry, inner: list[BootEntry]) -> BootEntry:
    """A heading with what stood in its braces: a line `linux`, or the entries of a submenu."""
    line = next((one for one in inner if one.kernel and not one.title), None)
    if line is not None:
        return BootEntry(head.title, head.identity, line.kernel, line.arguments)
    return BootEntry(head.title, head.identity, entries=tuple(inner))


def chosen_of_menu(entries: tuple[BootEntry, ...], default: str) -> BootEntry | None:
    """The entry that a default means (GRUB manual, `default`), of a submenu without more words its first; None where there is
    none.
    """
    found: BootEntry | None = None
    here = entries
    for part in (default or "0").split(">"):
        if part.isdecimal():
            found = here[int(part)] if len(part) < 5 and int(part) < len(here) else None
        else:
            found = next((one for one in here if part in {one.identity, one.title}), None)
        if found is None:
            return None
        here = found.entries
    while found is not None and found.entries:
        found = found.entries[0]
    return found


def entry_in(name: str, words: str) -> LoaderEntry:
    """An entry of the Boot Loader Specification, type 1: `key value` lines; `name` is that of its file."""
    fields: dict[str, str] = {}
    for line in words.splitlines():
        key, _, value = line.strip().partition(" ")
        if key and not key.startswith("#"):
            fields[key] = f"{fields[key]} {value.strip()}" if key == "options" and key in fields else value.strip()
    return LoaderEntry(
        name,
        version=fields.get("version", ""),
        kernel=fields.get("linux", "") or fields.get("efi", "") or fields.get("uki", ""),
        arguments=fields.get("options", ""),
        initrd=fields.get("initrd", "").partition(" ")[0],
        sort_key=fields.get("sort-key", ""),
        machine_id=fields.get("machine-id", ""),
    )


class LoaderEntry(Struct, frozen=True):
    """An entry of the Boot Loader Specification: `name` is that of its file, which is its id."""

    name: str
    version: str = ""
    kernel: str = ""
    arguments: str = ""
    initrd: str = ""
    sort_key: str = ""
    machine_id: str = ""


def in_loaders_order(entries: Iterable[LoaderEntry]) -> tuple[LoaderEntry, ...]:
    """As systemd-boot lists them (UAPI group, Boot Loader Specification, Sorting): those that are out of tries last, those with a
    key first and by it, then the newest version first, then by name.
    """
    newest = sorted(entries, key=lambda one: by_uapi(one.name), reverse=True)  # type: ignore[arg-type, return-value]
    newest.sort(key=lambda one: by_uapi(one.version if one.sort_key else ""), reverse=True)  # type: ignore[arg-type, return-value]
    return tuple(
        sorted(
            newest,
            key=lambda one: (_without_tries(one.name), not one.sort_key, one.sort_key, one.machine_id if one.sort_key else ""),
        )
    )


def _without_tries(name: str) -> bool:
    found = _TRIES.search(name)
    return found is not None and int(found["left"]) == 0


def named_by(pattern: str, entries: Iterable[LoaderEntry]) -> LoaderEntry | None:
    """The first entry whose id a pattern of loader.conf(5) fits, in either case; an id may be written without its ending."""
    wanted = pattern.lower()
    ids = {one: _TRIES.sub("", one.name.lower()) for one in entries}
    fits = (one for one, name in ids.items() if any(fnmatch.fnmatchcase(name, word) for word in (wanted, f"{wanted}.conf")))
    return next(fits, None)


def parse_loader_settings(words: str) -> dict[str, str]:
    """The lines of loader.conf(5)."""
    pairs = (line.split(None, 1) for line in words.splitlines() if not line.lstrip().startswith("#"))
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def efi_words(value: bytes) -> str:
    """What a variable of the Boot Loader Interface holds: UTF-16 behind four bytes of attributes, ended by a zero."""
    return value[4:].decode("utf-16-le", "replace").partition("\0")[0]


def release_in(words: str, releases: Iterable[str]) -> str:
    """The longest release that stands as a whole in an entry's name, such as `gnulinux-6.8.0-60-generic-advanced-UUID`; empty of
    none.
    """
    longest = sorted(releases, key=len, reverse=True)
    return next((one for one in longest if _stands_in(one, words)), "")


_AFTER = (" ", "'", '"', ",", ".conf", ".efi", "-advanced-", "-recovery-", "-init-", "+")


def _stands_in(release: str, words: str) -> bool:
    before, found, after = words.partition(release)
    whole = not before or not (before[-1].isalnum() or before[-1] in "._")
    return bool(found) and whole and (not after or after.startswith(_AFTER))


def _plain(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value


def arguments_of(settings: Mapping[str, str]) -> str:
    """The kernel's command line that /etc/default/grub asks for."""
    return " ".join(filter(None, (settings.get("GRUB_CMDLINE_LINUX", ""), settings.get("GRUB_CMDLINE_LINUX_DEFAULT", ""))))
