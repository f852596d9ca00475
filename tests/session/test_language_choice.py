"""Which language the window speaks, and what is said where it cannot be shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session, words_for
from gpuassist.model.words import ENGLISH
from gpuassist.session.language_choice import in_letters_of_the_console, no_font
from gpuassist.system.resources import Resources
from tests.fakes import put, world_under
from tests.translations import KNOWN_CHINESE, with_languages
from tests.values import knowledge

SYSTEMS = {
    'ID=debian\nNAME="Debian"': "sudo apt install fonts-noto-cjk",
    'ID=linuxmint\nID_LIKE="ubuntu debian"\nNAME="Linux Mint"': "sudo apt install fonts-noto-cjk",
    'ID=fedora\nNAME="Fedora Linux"': "sudo dnf install google-noto-sans-cjk-fonts",
    'ID=arch\nNAME="Arch Linux"': "sudo pacman -S noto-fonts-cjk",
    'ID=opensuse-tumbleweed\nID_LIKE="opensuse suse"\nNAME="openSUSE"': "sudo zypper install google-noto-sans-sc-fonts",
    'ID=fedora\nVARIANT_ID=silverblue\nNAME="Fedora Linux"': "",  # an image, whose packages are not installed so
    'ID=gentoo\nNAME="Gentoo"': "",
    "": "",
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    languages = {"zh_CN": KNOWN_CHINESE, "pl": KNOWN_CHINESE}
    return with_languages(tmp_path_factory.mktemp("languages") / "copy", languages, guides=False)


def spoken(root: Path, resources: Resources, language: str) -> Session:
    """A session on the machine under this root."""
    return Session(replace(world_under(root), resources=resources), knowledge(), words_for(language, resources))


@pytest.mark.parametrize(("system", "command"), SYSTEMS.items(), ids=lambda one: one.partition("\n")[0])
def test_a_font_is_named_as_the_distribution_calls_its_package(
    tmp_path: Path, resources: Resources, system: str, command: str
) -> None:
    put(tmp_path, "/etc/os-release", system)
    said = ENGLISH(no_font(spoken(tmp_path, resources, "zh_CN")))
    assert "the letters of Chinese" in said
    assert said.partition(": ")[2] == command


def test_a_language_whose_fonts_nobody_looked_up_has_no_command(tmp_path: Path, resources: Resources) -> None:
    put(tmp_path, "/etc/os-release", "ID=debian\nNAME=Debian")
    assert "apt" not in ENGLISH(no_font(spoken(tmp_path, resources, "pl")))


def test_the_console_shows_what_is_not_wide(tmp_path: Path, resources: Resources) -> None:
    shown = {code: in_letters_of_the_console(spoken(tmp_path, resources, code)).words for code in ("zh_CN", "pl", "en")}
    assert {code: words.language for code, words in shown.items()} == {"zh_CN": "en", "pl": "pl", "en": "en"}
    assert [code for code, words in shown.items() if words.notice is not None] == ["zh_CN"]
