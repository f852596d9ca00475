"""A distribution by its os-release, or by its pretty name, `Ubuntu 22.04.3 LTS (x86_64)`, and the processor in that."""

from __future__ import annotations

import re

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution

# The name that people see, in lower case without spaces -> `ID` and `ID_LIKE` of its os-release; longer names stand before those
# that they start with.
_NAMES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("ubuntu", "ubuntu", ("debian",)),
    ("kubuntu", "ubuntu", ("debian",)),
    ("xubuntu", "ubuntu", ("debian",)),
    ("linuxmint", "linuxmint", ("ubuntu", "debian")),
    ("pop!_os", "pop", ("ubuntu", "debian")),
    ("elementaryos", "elementary", ("ubuntu", "debian")),
    ("zorinos", "zorin", ("ubuntu", "debian")),
    ("kdeneon", "neon", ("ubuntu", "debian")),
    ("debian", "debian", ()),
    ("kali", "kali", ("debian",)),
    ("raspbian", "raspbian", ("debian",)),
    ("fedora", "fedora", ()),
    ("nobara", "nobara", ("fedora",)),
    ("centos", "centos", ("rhel", "fedora")),
    ("redhatenterpriselinux", "rhel", ("fedora",)),
    ("rockylinux", "rocky", ("rhel", "centos", "fedora")),
    ("almalinux", "almalinux", ("rhel", "centos", "fedora")),
    ("scientificlinux", "scientific", ("rhel", "fedora")),
    ("oraclelinux", "ol", ("fedora",)),
    ("amazonlinux", "amzn", ("fedora",)),
    ("archlinux", "arch", ()),
    ("manjaro", "manjaro", ("arch",)),
    ("endeavouros", "endeavouros", ("arch",)),
    ("garuda", "garuda", ("arch",)),
    ("cachyos", "cachyos", ("arch",)),
    ("opensuseleap", "opensuse-leap", ("suse", "opensuse")),
    ("opensusetumbleweed", "opensuse-tumbleweed", ("suse", "opensuse")),
    ("opensuse", "opensuse", ("suse",)),
    ("suselinuxenterpriseserver", "sles", ("suse",)),
    ("suselinuxenterprisedesktop", "sled", ("suse",)),
    ("gentoo", "gentoo", ()),
    ("nixos", "nixos", ()),
    ("void", "void", ()),
    ("solus", "solus", ()),
    ("alpine", "alpine", ()),
    ("microsoftwindows", "windows", ()),
    ("windows", "windows", ()),
    ("macos", "macos", ()),
    ("darwin", "macos", ()),
)
_PROCESSOR = lazy_regex(r"\((x86_64|amd64|aarch64|arm64|ppc64le|riscv64)\)\s*$|\b(x86_64|aarch64|arm64|ppc64le)\b", re.IGNORECASE)
_VERSION = lazy_regex(r"(?<![\w.])\d{1,4}(?:\.\d{1,5}){0,3}|(?<=[a-z])\d{2}\.\d{2}", re.IGNORECASE)
_SERVICE_PACK = lazy_regex(r"\bSP(\d)\b")
_UBUNTU = lazy_regex(r"\d{2}\.\d{2}")
_SPELLED = {"amd64": "x86_64", "arm64": "aarch64"}


def read_distribution(words: str) -> Distribution | None:
    """The distribution; None where the words name none that is known."""
    found = _PROCESSOR.search(words)
    name = (words[: found.start()] if found and found[1] else words).strip()
    plain = re.sub(r"[\s/_-]|gnu(?=[/ ]?linux)", "", name.lower()[:80]).replace("gnulinux", "")
    plain = plain.replace("pop!os", "pop!_os")
    for start, id_, like in _NAMES:
        if plain.startswith(start):
            return Distribution(id_, like, _version(id_, name), name)
    return None


def read_processor(words: str) -> str:
    """`x86_64` or `aarch64`, as uname calls it; empty where the words do not say."""
    found = _PROCESSOR.search(words)
    if found is None:
        return ""
    told = (found[1] or found[2]).lower()
    return _SPELLED.get(told, told)


def _version(id_: str, name: str) -> str:
    found = _VERSION.search(name)
    if found is None:
        return ""
    if id_ == "ubuntu":
        release = _UBUNTU.match(found[0])  # 22.04.3 is the third set of images of 22.04
        return release[0] if release else found[0]
    pack = _SERVICE_PACK.search(name)
    return f"{found[0]}.{pack[1]}" if pack and id_.startswith("sle") else found[0]


# The os-release file: shell-like assignments that name a distribution (os-release(5)).


_ASSIGNMENT = lazy_regex(r"""^\s*([A-Za-z_][A-Za-z0-9_]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']*))\s*$""")
_ESCAPED = lazy_regex(r"\\(.)")


def read_os_release(words: str) -> dict[str, str]:
    """Its variables; a line that is no assignment is left out, the last of a name counts."""
    found: dict[str, str] = {}
    for line in words.splitlines():
        assignment = _ASSIGNMENT.match(line)
        if assignment:
            name, double, single, plain = assignment.groups()
            found[name] = _ESCAPED.sub(r"\1", double) if double is not None else single if single is not None else plain
    return found


_CODENAMES = ("UBUNTU_CODENAME", "DEBIAN_CODENAME", "VERSION_CODENAME")


def distribution_in(found: dict[str, str], name: str) -> Distribution:
    """The distribution that the variables of an os-release name; without ID the default is linux (os-release(5))."""
    return Distribution(
        found.get("ID", "linux"),
        tuple(found.get("ID_LIKE", "").split()),
        found.get("VERSION_ID", ""),
        name,
        codename=next((found[one] for one in _CODENAMES if found.get(one)), ""),
        variant=found.get("VARIANT_ID", ""),
        image=bool(found.get("OSTREE_VERSION")),
    )
