"""Which kernel starts next: what the boot loader's own files and variables say, as far as they can be read without root."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from gpuassist.detect.installed_kernels import InstalledKernel
from gpuassist.detect.small_files import read
from gpuassist.formats.boot_menu import (
    LoaderEntry,
    arguments_of,
    chosen_of_menu,
    efi_words,
    entry_in,
    in_loaders_order,
    named_by,
    parse_grub_environment,
    parse_grub_menu,
    parse_grub_settings,
    parse_loader_settings,
    release_in,
)
from gpuassist.formats.kernel_image import release_of_unified
from gpuassist.formats.kernel_order import by_dpkg, by_rpm
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.next_start import ChosenBy
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files

_VARIABLES = "/sys/firmware/efi/efivars"
_VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"  # the Boot Loader Interface's (systemd.io/BOOT_LOADER_INTERFACE)
_VARIABLE_AT_MOST_BYTES = 4096
_LAST_BOOTED = "@saved"  # loader.conf(5): what started last, which systemd-boot keeps in LoaderEntryLastBooted
_PARTITIONS = ("/boot", "/efi", "/boot/efi")  # where systemd-boot(7) expects its own to be mounted
_ENTRIES_AT_MOST = 100
_SETTINGS = "/etc/default/grub"
_PINS = ("/etc/kernel/next-boot-pin", "/etc/kernel/proxmox-boot-pin")  # proxmox-boot-tool kernel pin, for once and for ever
_GRUB = ("/boot/grub", "/boot/grub2")
_DIGITS = lazy_regex(r"\d+")


class BootChoice(Struct, frozen=True):
    """The kernel, why it is that one with the file that says so, its command line and early boot image where an entry names them
    (empty where none does), and what could not be read.
    """

    kernel: InstalledKernel
    by: ChosenBy
    source: str
    arguments: Fact[str]
    initrd: str = ""
    unread: tuple[Text, ...] = ()


def chosen(files: Files, kernels: tuple[InstalledKernel, ...], running: str) -> BootChoice:
    """Of several kernels, which must not be none; `running` is the one that runs."""
    return _Chooser(files, newest_first(files, kernels), running).choice()


def newest_first(files: Files, kernels: Iterable[InstalledKernel]) -> tuple[InstalledKernel, ...]:
    """As the distribution orders them: GRUB's 10_linux by the names of the images, of packages of RPM their own."""
    rpm = not files.exists("/var/lib/dpkg/status") and any(map(files.is_directory, ("/usr/lib/sysimage/rpm", "/var/lib/rpm")))
    if rpm:
        return tuple(sorted(kernels, key=lambda one: by_rpm(one.release), reverse=True))  # type: ignore[arg-type, return-value]
    return tuple(sorted(kernels, key=lambda one: by_dpkg(one.package or one.release), reverse=True))  # type: ignore[arg-type, return-value]


class _Chooser:
    """Asks what there is, and remembers what could not be read on the way."""

    def __init__(self, files: Files, kernels: tuple[InstalledKernel, ...], running: str) -> None:
        self._files = files
        self._kernels = kernels
        self._running = running
        self._unread: list[Text] = []

    def choice(self) -> BootChoice:
        told = self._pinned() or (self._of_systemd_boot() if self._has_systemd_boot() else self._of_grub())
        if len(self._kernels) == 1:  # whatever could not be read cannot choose another
            only = told or self._choice(self._kernels[0], ChosenBy.ONLY, self._kernels[0].image)
            return BootChoice(only.kernel, ChosenBy.ONLY, only.kernel.image, only.arguments, only.initrd)
        if told is None:
            kernel = self._newest()
            told = self._choice(kernel, ChosenBy.NEWEST, kernel.image)
        return BootChoice(told.kernel, told.by, told.source, told.arguments, told.initrd, tuple(dict.fromkeys(self._unread)))

    def _newest(self) -> InstalledKernel:
        """Of packages without versions in their files the one that runs goes on: nothing says that another is preferred."""
        kind = _DIGITS.sub("", self._running)
        alike = (one for one in self._kernels if one.package and _DIGITS.sub("", one.release) == kind)
        return next(alike, self._kernels[0])

    def _choice(self, kernel: InstalledKernel, by: ChosenBy, source: str, entry: LoaderEntry | None = None) -> BootChoice:
        """An entry says how the kernel is started, where it does not leave that to `$kernelopts` of GRUB's environment."""
        arguments = self._grub_arguments() if entry is None or "$" in entry.arguments else Known(entry.arguments, entry.name)
        return BootChoice(kernel, by, source, arguments, entry.initrd if entry is not None else "")

    def _grub_arguments(self) -> Fact[str]:
        """Those that the next menu would be made with."""
        words = read(self._files, _SETTINGS)
        return words if isinstance(words, Unknown) else Known(arguments_of(parse_grub_settings(words.value)), _SETTINGS)

    def _kernel_of(self, path: str, words: str = "") -> InstalledKernel | None:
        """The kernel of an entry: by the name of its image, by the directory that this lies in (/MACHINE/RELEASE/linux), else by
        the words of the entry.
        """
        image, directory = posixpath.basename(path), posixpath.basename(posixpath.dirname(path))
        for one in self._kernels:
            if image and image == posixpath.basename(one.image) and image != "vmlinuz":
                return one
        found = release_in(image, self._releases()) or (directory if directory in self._releases() else "")
        found = found or release_in(words, self._releases())
        return next((one for one in self._kernels if one.release == found), None)

    def _releases(self) -> tuple[str, ...]:
        return tuple(one.release for one in self._kernels)

    def _read(self, path: str) -> str:
        """The text of a file that is there; what keeps it from being read is remembered."""
        found = read(self._files, path)
        if isinstance(found, Unknown) and self._files.exists(path):
            self._unread.append(found.reason)
        return value_or(found, "")

    def _names(self, directory: str) -> tuple[str, ...]:
        names = self._files.names(directory)
        if not names and self._files.is_directory(directory) and not self._files.may(directory, 4):
            self._unread.append(text("{path} may not be read by this user", path=directory))
        return names[:_ENTRIES_AT_MOST]

    def _pinned(self) -> BootChoice | None:
        """By Proxmox's own tool, whichever boot loader it has there."""
        for path in _PINS:
            pinned = self._read(path)
            kernel = next((one for one in self._kernels if one.release == pinned), None)
            if kernel is not None:
                return self._choice(kernel, ChosenBy.SETTING, path)
        return None

    # systemd-boot

    def _has_systemd_boot(self) -> bool:
        """It says so itself when it has started the system; GRUB leaves its own name there since 2.12. Where the variables are not
        to be seen, its settings say so, on a system without GRUB's.
        """
        info = self._variable("LoaderInfo")
        if info:
            return info.startswith("systemd-boot")
        settings = any(self._files.exists(f"{one}/loader/loader.conf") for one in _PARTITIONS)
        return settings and not any(map(self._files.is_directory, _GRUB))

    def _variable(self, name: str) -> str:
        try:
            return efi_words(self._files.read_bytes(f"{_VARIABLES}/{name}-{_VENDOR}", _VARIABLE_AT_MOST_BYTES))
        except OSError:
            return ""

    def _of_systemd_boot(self) -> BootChoice | None:
        entries = in_loaders_order((*self._entries(), *self._unified()))
        settings = (f"{one}/loader/loader.conf" for one in _PARTITIONS)
        asked = [
            (self._variable("LoaderEntryOneShot"), "LoaderEntryOneShot"),
            (self._variable("LoaderEntryDefault"), "LoaderEntryDefault"),
            *((parse_loader_settings(self._read(path)).get("default", ""), path) for path in settings if self._files.exists(path)),
        ]
        for pattern, source in asked:
            if pattern == _LAST_BOOTED:
                pattern = self._variable("LoaderEntryLastBooted")
            entry = named_by(pattern, entries) if pattern else None
            kernel = self._kernel_of(entry.kernel, f"{entry.version} {entry.name}") if entry else self._kernel_of("", pattern)
            if kernel is not None:
                return self._choice(kernel, ChosenBy.SETTING, source, entry or LoaderEntry(pattern))
        for entry in entries:
            kernel = self._kernel_of(entry.kernel, f"{entry.version} {entry.name}")
            if kernel is not None:
                return self._choice(kernel, ChosenBy.FIRST, entry.name, entry)
        self._unread.append(text("the entries of systemd-boot are not to be seen by this user"))
        return None

    def _entries(self) -> Iterator[LoaderEntry]:
        for directory in (f"{one}/loader/entries" for one in _PARTITIONS):
            for name in self._names(directory):
                if name.endswith(".conf"):
                    yield entry_in(name, self._read(f"{directory}/{name}"))

    def _unified(self) -> Iterator[LoaderEntry]:
        """Unified kernel images, which are entries by themselves."""
        for directory in (f"{one}/EFI/Linux" for one in _PARTITIONS):
            for name in self._names(directory):
                path = f"{directory}/{name}"
                if name.endswith(".efi"):
                    try:
                        release = release_of_unified(lambda at, size, path=path: self._files.read_part(path, at, size))  # type: ignore[misc]
                    except OSError:
                        release = ""
                    yield LoaderEntry(name, version=release, kernel=path)

    # GRUB

    def _of_grub(self) -> BootChoice | None:
        settings = parse_grub_settings(self._read(_SETTINGS))
        for path in self._files.glob(f"{_SETTINGS}.d/*.cfg")[:_ENTRIES_AT_MOST]:
            settings.update(parse_grub_settings(self._read(path)))
        directory = next((one for one in _GRUB if self._files.is_directory(one)), "")
        if not directory:
            return None
        environment = parse_grub_environment(self._read(f"{directory}/grubenv"))
        default, source = settings.get("GRUB_DEFAULT", "0"), _SETTINGS
        menu = parse_grub_menu(self._read(f"{directory}/grub.cfg"))
        if menu.entries:
            default, source = menu.default or "0", f"{directory}/grub.cfg"
        if default in {"saved", "${saved_entry}"}:
            default, source = environment.get("saved_entry", ""), f"{directory}/grubenv"
        if environment.get("next_entry"):
            default, source = environment["next_entry"], f"{directory}/grubenv"
        entries = in_loaders_order(self._entries()) if settings.get("GRUB_ENABLE_BLSCFG", "").lower() == "true" else ()
        if entries:
            return self._of_entries(entries, default, source)
        if settings.get("GRUB_ENABLE_BLSCFG", "").lower() == "true" and not menu.entries:
            return self._without_entries(default, source)
        if menu.entries:
            entry = chosen_of_menu(menu.entries, default)
            kernel = self._kernel_of(entry.kernel) if entry else None
            if entry is not None and kernel is not None:
                by = ChosenBy.FIRST if default in {"", "0"} else ChosenBy.SETTING
                return self._choice(kernel, by, source, LoaderEntry(f"{directory}/grub.cfg", arguments=entry.arguments))
            self._not_found(default, source)
            return None
        return self._without_menu(settings, default, source)

    def _of_entries(self, entries: tuple[LoaderEntry, ...], default: str, source: str) -> BootChoice | None:
        entry = named_by(default, entries) if default and not default.isdecimal() else None
        by = ChosenBy.SETTING if entry is not None else ChosenBy.FIRST
        if entry is None and default.isdecimal() and len(default) < 4 and int(default) < len(entries):
            entry, by = entries[int(default)], ChosenBy.FIRST if default == "0" else ChosenBy.SETTING
        for one in (entry,) if entry is not None else entries:
            kernel = self._kernel_of(one.kernel, f"{one.version} {one.name}")
            if kernel is not None:
                return self._choice(kernel, by, source if by is ChosenBy.SETTING else one.name, one)
        self._not_found(default, source)
        return None

    def _without_entries(self, default: str, source: str) -> BootChoice | None:
        """Where the entries are closed to this user, only a default that names a kernel tells."""
        kernel = self._kernel_of("", default)
        if kernel is None:
            self._unread.append(text("the entries of the boot loader are not to be seen by this user"))
        return self._choice(kernel, ChosenBy.SETTING, source) if kernel is not None else None

    def _without_menu(self, settings: Mapping[str, str], default: str, source: str) -> BootChoice | None:
        """By the setting alone: the first of the list is the newest; another place in it only the list would tell."""
        if default in {"", "0"} or default.startswith("gnulinux-simple-"):  # the id of the first line of 10_linux
            return self._choice(self._first_of_grub(settings), ChosenBy.FIRST, source)
        kernel = self._kernel_of("", default)
        if kernel is None:
            self._not_found(default, source)
        return self._choice(kernel, ChosenBy.SETTING, source) if kernel is not None else None

    def _not_found(self, default: str, source: str) -> None:
        told = text("{source} lets {entry} start, which is none of the kernels that were found", source=source, entry=default)
        self._unread.append(told)

    def _first_of_grub(self, settings: Mapping[str, str]) -> InstalledKernel:
        """The newest, unless settings put another at the top: GRUB_TOP_LEVEL names an image (GRUB manual), GRUB_FLAVOUR_ORDER
        kinds of Ubuntu's kernels, of which the first that is installed leads (Ubuntu's patch of grub-mkconfig).
        """
        top = posixpath.basename(settings.get("GRUB_TOP_LEVEL", ""))
        kinds = settings.get("GRUB_FLAVOUR_ORDER", "").split()
        preferred = (one for kind in kinds for one in self._kernels if one.release.endswith(f"-{kind}"))
        named = (one for one in self._kernels if top and posixpath.basename(one.image) == top)
        return next(named, next(preferred, self._kernels[0]))
