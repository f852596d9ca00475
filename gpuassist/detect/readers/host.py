"""The system around the GPU as pasted uname, lsb_release, os-release, hostnamectl, `ldd --version`, `python --version` tell it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.detect.readers.commands import runs
from gpuassist.detect.readers.lines import Line, first, lines, lines_with
from gpuassist.formats.distribution import distribution_in, read_os_release
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.toolkit import Compiler
from gpuassist.model.version import Version

_UNAME = lazy_regex(
    r"(?:^|\s)Linux [\w.-]{1,80} (?P<kernel>\d\.\d{1,3}[\w.+~-]{0,80}) #\d[^\n]{1,160}? (?P<machine>x86_64|aarch64|ppc64le)\b"
)
_RELEASE = lazy_regex(r"\d\.\d{1,3}[\w.+~-]{1,80}")
_IN_CONTAINER = lazy_regex(r"^\s{0,4}(?:\([\w.-]{1,40}\) ?)?root@(?=[a-f]*\d)[0-9a-f]{12}:[^\s#]{1,120} ?#")
_HOSTNAMECTL = lazy_regex(r"^\s*Kernel: Linux (\d\.\d{1,3}[\w.+~-]{0,80})\s*$")
_MACHINES = {"x86_64": "x86_64", "x86-64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
_ARCHITECTURE = lazy_regex(r"^\s*Architecture:?\s+(\S+)\s*$")
_LSB = lazy_regex(r"^\s*(?P<key>Distributor ID|Description|Release):\s+(?P<value>\S.*?)\s*$")
_OPERATING_SYSTEM = lazy_regex(r"^\s*Operating System: (?P<name>\S.{2,80}?)\s*$")
_LDD = lazy_regex(r"^ldd \([^()\n]{2,80}\) (\d\.\d{1,2})\s*$")
_COMPILER = lazy_regex(r"^(?P<family>gcc|g\+\+)(?:-\d{1,2})? \([^\n]{2,120}\) (?P<version>\d{1,2}\.\d{1,2}\.\d{1,2})\b")
_CLANG = lazy_regex(r"^(?:[\w.~:+-]{1,30} )?clang version (?P<version>\d{1,2}\.\d{1,2}\.\d{1,2})\b")
# The release file of Jetson's system, its name for that system, and the bundle that it comes in.
_JETSON = lazy_regex(
    r"nv_tegra_release|# R\d{2} \(release\), REVISION: \d|\bL4T ?R?3\d\b|\bJetPack ?[4-8](?:\.\d)?\b", re.IGNORECASE
)
_JETSON_WORDS = ("tegra", "REVISION", "L4T", "l4t", "JetPack", "Jetpack", "jetpack")
_PYTHON = lazy_regex(r"^\s*Python (?P<version>[23]\.\d{1,2}\.\d{1,2})(?:\s*$| (?:\||\(|::)[^\n]{4,160}$)")
_SPOKEN_OF = lazy_regex(r"(?:\b[Pp]ython(?: version:)? ?|\bpy(?=3\.\d))(3\.\d{1,2})\b")
# What distributions call themselves, first word or two, to what os-release calls them (os-release(5), ID=).
_IDS = (
    ("Ubuntu", "ubuntu"), ("Debian", "debian"), ("Fedora", "fedora"), ("CentOS", "centos"), ("Red Hat", "rhel"), ("RedHat", "rhel"),
    ("Rocky", "rocky"), ("AlmaLinux", "almalinux"), ("Arch", "arch"), ("Manjaro", "manjaro"), ("EndeavourOS", "endeavouros"),
    ("Linux Mint", "linuxmint"), ("Linuxmint", "linuxmint"), ("LinuxMint", "linuxmint"), ("Pop", "pop"), ("Kali", "kali"),
    ("openSUSE Tumbleweed", "opensuse-tumbleweed"), ("openSUSE", "opensuse-leap"), ("SUSE Linux Enterprise", "sles"),
    ("Gentoo", "gentoo"), ("NixOS", "nixos"), ("Amazon Linux", "amzn"), ("Zorin", "zorin"), ("elementary", "elementary"),
)  # fmt: skip
_LIKE = {"ubuntu": ("debian",), "linuxmint": ("ubuntu", "debian"), "pop": ("ubuntu", "debian"), "zorin": ("ubuntu", "debian")}
_NUMBER = lazy_regex(r"\b\d{1,2}(?:\.\d{1,2})?\b")


def read(paste: Paste) -> Machine:
    """What the text says of the host, its compilers, and the Python that answered last."""
    kernel_release, compilers = kernel(paste), tuple(_compilers(paste))
    # Of a kernel that names Microsoft; WSL 1's ends with the name.
    if isinstance(kernel_release, Known) and "microsoft" in kernel_release.value.lower():
        wsl: Fact[int] = Known(1 if kernel_release.value.endswith("-Microsoft") else 2, kernel_release.source)
    else:
        wsl = NOT_ASKED
    accounts = (read_one(paste) for read_one in (_of_os_release, _of_lsb_release, _of_hostnamectl))
    source = next((one.version.source for one in compilers if isinstance(one.version, Known)), "")
    return Machine(
        host=Host(
            distribution=next((told for told in accounts if isinstance(told, Known)), NOT_ASKED),
            kernel=kernel_release,
            architecture=_architecture(paste),
            glibc=first(lines_with(paste, "ldd ("), _LDD, "ldd", lambda found: Version.parse(found[1])),
            wsl=wsl,
            # docker names a container's host by the first twelve digits of its id, which the prompt shows
            container=first(lines_with(paste, "root@"), _IN_CONTAINER, "prompt", lambda _: "docker"),
            jetson=first(lines_with(paste, *_JETSON_WORDS), _JETSON, "Jetson's system", lambda _: True),
        ),
        compilers=Known(compilers, source) if compilers else NOT_ASKED,
        environments=_python(paste),
    )


def kernel(paste: Paste) -> Fact[str]:
    """The running kernel, of `uname -a`, `uname -r` or hostnamectl."""
    for line in lines_with(paste, "Linux "):
        found = _UNAME.search(line.words)
        if found:
            return line.known(found["kernel"], "uname")
        told = _HOSTNAMECTL.match(line.words)
        if told:
            return line.known(told[1], "hostnamectl")
    return next((line.known(line.words.strip(), "uname") for line in _answers(paste, "uname -r", _RELEASE)), NOT_ASKED)


def _answers(paste: Paste, command: str, pattern: re.Pattern[str]) -> Iterator[Line]:
    """The first line of what a command printed, where it is nothing but what it should print."""
    for run in runs(paste, command):
        if run.output and pattern.fullmatch(run.output[0].words.strip()):
            yield run.output[0]


def _architecture(paste: Paste) -> Fact[str]:
    for line in lines_with(paste, "Linux ", "Architecture"):
        found = _UNAME.search(line.words)
        if found:
            return line.known(found["machine"], "uname")
        told = _ARCHITECTURE.match(line.words)
        if told and told[1] in _MACHINES:
            return line.known(_MACHINES[told[1]], "hostnamectl")
    known = re.compile("|".join(_MACHINES))
    return next((line.known(_MACHINES[line.words.strip()], "uname") for line in _answers(paste, "uname -m", known)), NOT_ASKED)


def _of_os_release(paste: Paste) -> Fact[Distribution]:
    """The lines of the file stand together; without an ID it is some other file."""
    every = lines(paste) if "ID=" in paste.words else ()
    for place, line in enumerate(every):
        if re.match(r"\s*(?:ID|VERSION_ID|PRETTY_NAME)=", line.words):
            block = "\n".join(one.words for one in every[max(0, place - 6) : place + 12])
            found = read_os_release(block)
            name = found.get("PRETTY_NAME") or found.get("NAME", "")
            if found.get("ID") and name:
                return line.known(distribution_in(found, name), "os-release")
    return NOT_ASKED


def _of_lsb_release(paste: Paste) -> Fact[Distribution]:
    told: dict[str, str] = {}
    start: Line | None = None
    for line in lines_with(paste, "Distributor ID:", "Description:", "Release:"):
        found = _LSB.match(line.words)
        if found and (found["key"] == "Distributor ID" or told):
            told.setdefault(found["key"], found["value"])
            start = start or line
    distribution = _named(told.get("Distributor ID", ""), told.get("Release", ""), told.get("Description", ""))
    return start.known(distribution, "lsb_release") if start and distribution else NOT_ASKED


def _of_hostnamectl(paste: Paste) -> Fact[Distribution]:
    def made(found: re.Match[str]) -> Distribution | None:
        number = _NUMBER.search(found["name"])
        return _named(found["name"], number[0] if number else "", found["name"])

    return first(lines_with(paste, "Operating System: "), _OPERATING_SYSTEM, "hostnamectl", made)


def _named(title: str, release: str, name: str) -> Distribution | None:
    """A distribution by its own name; none where that is not known here."""
    identity = next((known for start, known in _IDS if title.startswith(start)), "")
    if not identity:
        return None
    version = release if re.match(r"\d", release) else ""
    return Distribution(identity, _LIKE.get(identity, ()), version, name or f"{title} {release}".strip())


def _compilers(paste: Paste) -> Iterator[Compiler]:
    seen: set[str] = set()
    for line in lines_with(paste, "gcc", "g++", "clang version"):
        found = _COMPILER.match(line.words)
        clang = None if found else _CLANG.match(line.words)
        family = found["family"] if found else "clang"
        version = found or clang
        if version and family not in seen:
            seen.add(family)
            yield Compiler(family, "", line.known(Version.parse(version["version"]), f"{family} --version"))


def _python(paste: Paste) -> Fact[tuple[PythonEnvironment, ...]]:
    """The line of `python --version`, or what an interpreter says as it starts."""
    found = [(line, match) for line in lines_with(paste, "Python ") if (match := _PYTHON.match(line.words))]
    if not found or len(set(_SPOKEN_OF.findall(paste.words))) > 1:
        return NOT_ASKED  # which of them has the torch is not told
    line, match = found[-1]
    environment = PythonEnvironment("", "", python_version=line.known(Version.parse(match["version"]), "python"))
    return line.known((environment,), "python")
