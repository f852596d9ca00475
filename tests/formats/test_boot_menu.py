"""What boot loaders start, by their own files."""

from __future__ import annotations

import pytest

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

MENU = """
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
else
   set default="gnulinux-advanced-1>gnulinux-6.8.0-60-generic-advanced-1"
fi
function gfxmode {
	set gfxpayload="${1}"
}
menuentry 'Ubuntu' --class ubuntu $menuentry_id_option 'gnulinux-simple-1' {
	linux	/boot/vmlinuz-6.11.0-29-generic root=UUID=1 ro quiet
	initrd	/boot/initrd.img-6.11.0-29-generic
}
submenu 'Advanced options for Ubuntu' $menuentry_id_option 'gnulinux-advanced-1' {
	menuentry 'Ubuntu, with Linux 6.11.0-29-generic' --class ubuntu $menuentry_id_option 'gnulinux-6.11.0-29-generic-advanced-1' {
		linux	/boot/vmlinuz-6.11.0-29-generic root=UUID=1 ro
	}
	menuentry 'Ubuntu, with Linux 6.8.0-60-generic' --class ubuntu $menuentry_id_option 'gnulinux-6.8.0-60-generic-advanced-1' {
		if [ x$feature = xy ]; then
			insmod part_gpt
		fi
		linuxefi	/boot/vmlinuz-6.8.0-60-generic root=UUID=1 ro modprobe.blacklist=nouveau
	}
}
menuentry "UEFI Firmware Settings" --id 'uefi-firmware' {
	fwsetup
}
"""
OLD, NEW = "/boot/vmlinuz-6.8.0-60-generic", "/boot/vmlinuz-6.11.0-29-generic"


@pytest.mark.parametrize(
    ("default", "kernel"),
    [
        ("", NEW),
        ("0", NEW),
        ("1", NEW),
        ("1>0", NEW),
        ("1>1", OLD),
        ("Advanced options for Ubuntu>Ubuntu, with Linux 6.8.0-60-generic", OLD),
        ("gnulinux-advanced-1>gnulinux-6.8.0-60-generic-advanced-1", OLD),
        ("gnulinux-simple-1", NEW),
        ("uefi-firmware", ""),
        ("7", None),
        ("1>9", None),
        ("no such title", None),
        ("0>0", None),
        ("9" * 50, None),
    ],
)
def test_default_means_an_entry(default: str, kernel: str | None) -> None:
    entry = chosen_of_menu(parse_grub_menu(MENU).entries, default)
    assert (entry.kernel if entry else None) == kernel


def test_menu_tells_its_own_default_and_the_kernels_arguments() -> None:
    menu = parse_grub_menu(MENU)
    assert menu.default == "gnulinux-advanced-1>gnulinux-6.8.0-60-generic-advanced-1"
    entry = chosen_of_menu(menu.entries, menu.default)
    assert entry is not None
    assert entry.arguments.endswith("modprobe.blacklist=nouveau")


def test_settings_and_environment_are_read() -> None:
    settings = parse_grub_settings(
        "# GRUB_DEFAULT=9\nGRUB_DEFAULT=saved\nGRUB_DEFAULT='1>2' # later wins\nGRUB_CMDLINE_LINUX=\"a b\"\n"
        'export GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n'
    )
    assert (settings["GRUB_DEFAULT"], arguments_of(settings)) == ("1>2", "a b quiet")
    block = "# GRUB Environment Block\nsaved_entry=abc-6.16\nkernelopts=root=UUID=1 ro\n" + "#" * 900
    assert parse_grub_environment(block) == {"saved_entry": "abc-6.16", "kernelopts": "root=UUID=1 ro"}
    assert parse_loader_settings("#default x\ndefault  arch*\ntimeout 3\nalone\n") == {"default": "arch*", "timeout": "3"}


def test_entry_of_the_specification_is_read() -> None:
    entry = entry_in(
        "m-6.17.conf",
        "title Fedora\nversion 6.17\nlinux /m/6.17/linux\ninitrd /m/6.17/initrd x\noptions a=1\noptions b\n# sort-key z\n",
    )
    assert entry == LoaderEntry("m-6.17.conf", "6.17", "/m/6.17/linux", "a=1 b", "/m/6.17/initrd")


def test_entries_stand_as_systemd_boot_lists_them() -> None:
    entries = (
        LoaderEntry("b-6.1.conf"),
        LoaderEntry("b-6.2.conf"),
        LoaderEntry("x+0-3.conf", sort_key="a", version="9"),
        LoaderEntry("old.conf", sort_key="fedora", version="6.16"),
        LoaderEntry("new.conf", sort_key="fedora", version="6.17"),
        LoaderEntry("arch.conf", sort_key="arch", version="6.1"),
    )
    names = [one.name for one in in_loaders_order(entries)]
    assert names == ["arch.conf", "new.conf", "old.conf", "b-6.2.conf", "b-6.1.conf", "x+0-3.conf"]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("arch*", "Arch-lts.conf"),
        ("ARCH-LTS", "Arch-lts.conf"),
        ("other+2.conf", None),
        ("other.conf", "other+2-1.conf"),
        ("x", None),
    ],
)
def test_pattern_names_an_entry(pattern: str, name: str | None) -> None:
    found = named_by(pattern, (LoaderEntry("Arch-lts.conf"), LoaderEntry("other+2-1.conf")))
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("gnulinux-6.8.0-60-generic-advanced-1", "6.8.0-60-generic"),
        ("Ubuntu, with Linux 6.8.0-60-generic", "6.8.0-60-generic"),
        ("0123-6.8.0-60-generic.conf", "6.8.0-60-generic"),
        ("gnulinux-6.8.0-60-generic-hwe", ""),
        ("16.8.0-60-generic", ""),
        ("6.8.0-60-generic-64k+3.efi", "6.8.0-60-generic-64k"),
        ("", ""),
    ],
)
def test_release_stands_as_a_whole(words: str, release: str) -> None:
    assert release_in(words, ("6.8.0-60-generic", "6.8.0-60-generic-64k", "6.8")) == release


def test_variable_is_utf_16_behind_its_attributes() -> None:
    assert efi_words(b"\x06\0\0\0" + "arch.conf".encode("utf-16-le") + b"\0\0rest") == "arch.conf"
    assert (efi_words(b""), efi_words(b"\x06\0\0\0\xff")) == ("", "\ufffd")


def test_hostile_menu_is_bounded() -> None:
    deep = parse_grub_menu("submenu 'x' {\n" * 3_000 + "}\n" * 3_000)
    many = parse_grub_menu("menuentry 'x' {\nlinux /boot/vmlinuz-1\n}\n" * 1_500)
    assert len(deep.entries) == 1
    assert len(many.entries) == 1_000
