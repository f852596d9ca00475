"""The toolkits of a machine seen from the chosen one: where a directory leads, where it would lie in the chosen one, and what a
statement does to the variables that choose a toolkit."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import Known
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.shellfiles.statements import WATCHED, Assignment, Element, Statement, printable

LISTS = frozenset(
    (
        *("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"),
        *("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"),
    )
)
# Every other variable that is watched, but for those that choose GPUs.
HOMES = frozenset(WATCHED) - LISTS - {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}
FLAGS = frozenset(("XLA_FLAGS", "LDFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"))
CHOOSING = LISTS | HOMES | FLAGS
# Not within another path, of which a part may hold a space or a quote; behind `-L` and the like of compilers one begins all the
# same.
_BEGINS = r"(?:(?<![A-Za-z0-9_.+@%~}\"'`)-])|(?<=-[LIB])|(?<=-isystem))"
_NAMED = lazy_regex(_BEGINS + r"/[A-Za-z0-9_.+@%/-]*?cuda(?:-[0-9][0-9.]*[0-9]|-[0-9])?(?=[^A-Za-z0-9_+@%-]|$)")


_TAKEN = "\0"  # what no name holds
_HOME_SIGNS = ("~", "$HOME", "${HOME}")


class Lead(str, Enum):
    """Where a directory leads: to the chosen toolkit, to another one, elsewhere, or where only a running shell can tell."""

    CHOSEN = "chosen"
    OTHER = "other"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


class InstalledToolkits(Struct, frozen=True):
    """The toolkits of this machine seen from the chosen one; `real` follows symlinks, `exists` says what is a directory."""

    chosen: Toolkit
    others: tuple[Toolkit, ...]
    real: Callable[[str], str]
    home: str = ""
    exists: Callable[[str], bool] = bool

    def lead(self, directory: str) -> Lead:
        if not directory:
            return Lead.UNKNOWN
        candidates = (directory.rstrip("/") or "/", self.real(directory))
        if any(_belongs(candidate, self.chosen) for candidate in candidates):
            return Lead.CHOSEN
        if any(_belongs(candidate, other) for other in self.others for candidate in candidates) or looks_like_cuda(directory):
            return Lead.OTHER
        return Lead.ELSEWHERE

    def lead_of(self, value: str) -> Lead:
        """Where a whole value leads, be it a list, a directory or compilers' flags: to another toolkit if anything in it does."""
        leads: set[Lead] = set()
        for root in tuple(root for one in (self.chosen, *self.others) if _is_separate(one) for root in (one.root, *one.links)):
            rest = _whole(root).sub(_TAKEN, value)
            if rest != value:
                leads.add(self.lead(root))
                value = rest
        # What is left names toolkits that are not installed; a part of an installed one's name, behind a blank in it, does not.
        leads |= {self.lead(found[0]) for found in _NAMED.finditer(value)}
        return next((lead for lead in (Lead.OTHER, Lead.CHOSEN) if lead in leads), Lead.ELSEWHERE)

    def absolute(self, written: str) -> str:
        """A path as a file writes it with the user's home filled in; with another variable in front it stays as it is."""
        sign = next((sign for sign in _HOME_SIGNS if written == sign or written.startswith(sign + "/")), "")
        return self.home + written[len(sign) :] if sign and self.home else written

    def written_roots(self) -> tuple[bytes, ...]:
        """The other toolkits' directories in every way of writing them."""
        roots = [root for other in self.others if _is_separate(other) for root in (other.root, *other.links)]
        below = [root[len(self.home) :] for root in roots if self.home and root.startswith(self.home + "/")]
        return tuple(
            form.encode("utf-8", "surrogateescape") for form in (*roots, *(sign + rest for sign in _HOME_SIGNS for rest in below))
        )

    def instead(self, written: str) -> str:
        """The chosen toolkit's directory, written like the one that it takes the place of."""
        sign = next((sign for sign in _HOME_SIGNS if written.startswith(sign + "/")), "")
        root = self.chosen.root
        return sign + root[len(self.home) :] if sign and self.home and root.startswith(self.home + "/") else root

    def holds(self, place: str) -> bool:
        """Whether there is such a directory or file; a recorded machine does not say, and is believed."""
        return self.exists(place)

    def root_of(self, directory: str) -> str:
        """The toolkit directory, installed or not, that a directory lies in; empty where it lies in none."""
        return self._root_of(directory) if directory else ""

    def moved(self, element: Element) -> str | None:
        """An element of another toolkit's, in the words it is written in, for the chosen one; none where that has no such place."""
        root = self._root_of(element.directory)
        place = self.chosen.root + element.directory[len(root) :]
        if not root or not self.exists(place.rstrip("/")):
            return None
        lead = next((lead for lead in ("~", "$HOME", "${HOME}") if element.written.startswith(lead + "/")), "")
        if lead and self.home and place.startswith(self.home + "/"):
            return lead + place[len(self.home) :]
        return place

    def _root_of(self, directory: str) -> str:
        roots = [root for other in self.others for root in (other.root, *other.links) if _belongs(directory, other)]
        inside = [root for root in roots if directory == root or directory.startswith(root + "/")]
        return max(inside, key=len) if inside else _cuda_root(directory)


def version_parts(toolkit: Toolkit) -> list[str]:
    """The parts of its release, of its directory's name where nothing else tells; none where that does not either."""
    known = (fact.value for fact in (toolkit.version, toolkit.nvcc_version) if isinstance(fact, Known))
    told = next((str(version) for version in known), toolkit.root.rpartition("-")[2])
    return told.split(".") if told[:1].isdigit() else []


def _whole(root: str) -> re.Pattern[str]:
    """That directory, and no longer name that begins like it."""
    return re.compile(re.escape(root) + r"(?![A-Za-z0-9_+@%-]|\.[A-Za-z0-9])")


def names_directory(root: str, value: str) -> bool:
    """Whether a value names the directory, as a whole path or in front of more of it: `/opt/cuda` is not in `/opt/cuda-12`."""
    return _whole(root).search(value) is not None


def _is_separate(toolkit: Toolkit) -> bool:
    """Whether its directory is its own: not a whole Python environment, of which taking it off PATH would take more, nor the
    system.
    """
    of_python = isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}
    return not of_python and toolkit.root not in {"/", "/usr", "/usr/local"}


def _belongs(directory: str, toolkit: Toolkit) -> bool:
    if not _is_separate(toolkit):
        return False
    return any(directory == root or directory.startswith(root + "/") for root in (toolkit.root, *toolkit.links))


def looks_like_cuda(directory: str) -> bool:
    """Whether its name says CUDA, for a toolkit that is no longer installed: `/usr/local/cuda`, `/opt/cuda`, `…/cuda-10.2`."""
    return bool(_cuda_root(directory))


def _cuda_root(directory: str) -> str:
    parts = directory.split("/")
    for number, part in enumerate(parts):
        if part.startswith("cuda-") and part[5:].replace(".", "").isdigit():
            return "/".join(parts[: number + 1])
    return next((root for root in ("/usr/local/cuda", "/opt/cuda") if directory == root or directory.startswith(root + "/")), "")


def leads_of(statement: Statement, installed: InstalledToolkits) -> frozenset[Lead]:
    """Where the directories lead that a statement gives to variables that choose a toolkit."""
    return frozenset(
        installed.lead(element.directory)
        for assignment in statement.assignments
        for element in assignment.elements
        if not element.previous and assignment.variable in LISTS | HOMES
    )


def leading(statement: Statement, installed: InstalledToolkits) -> tuple[Element, ...]:
    """The directories of another toolkit that a statement gives to variables that choose one."""
    return tuple(
        element
        for assignment in statement.assignments
        for element in assignment.elements
        if not element.previous and assignment.variable in LISTS | HOMES and installed.lead(element.directory) is Lead.OTHER
    )


def follows(statement: Statement, installed: InstalledToolkits, followed: frozenset[str]) -> bool:
    """Whether it takes the other toolkit's directory from a line that is replaced."""
    return any(installed.root_of(element.directory) in followed for element in leading(statement, installed))


def harmless(statement: Statement, leads: frozenset[Lead]) -> Text:
    """Why a statement that leads to no other toolkit is left as it is."""
    if Lead.CHOSEN in leads:
        return text("leads to the toolkit that you chose; it may stay")
    if Lead.UNKNOWN in leads:
        return text("only a running shell can tell where it leads; left as it is")
    if all(assignment.variable == "CUDA_VISIBLE_DEVICES" for assignment in statement.assignments):
        return text("chooses GPUs, not a toolkit; left as it is")
    return text("has nothing to do with CUDA; left as it is")


def other_contributions(statement: Statement, installed: InstalledToolkits) -> tuple[str, ...]:
    """What a statement sets besides another toolkit."""
    also: list[str] = []
    for assignment in statement.assignments:
        if assignment.variable not in LISTS | HOMES:
            also.append(assignment.variable)
        own = (element for element in assignment.elements if not element.previous and element.written)
        users = (element for element in own if installed.lead(element.directory) in {Lead.ELSEWHERE, Lead.UNKNOWN})
        also.extend(printable(element.written) for element in users)
    return tuple(also)


def does(assignment: Assignment, installed: InstalledToolkits) -> Text:
    own = (element for element in assignment.elements if not element.previous)
    unknown = Lead.UNKNOWN
    words = (element.written if installed.lead(element.directory) is unknown else element.directory for element in own)
    shown = printable(":".join(words)) or "''"
    if all(element.previous for element in assignment.elements) and assignment.elements:
        return text("adds no directory to {variable}", variable=assignment.variable)
    if not assignment.keeps_previous:
        return text("sets {variable} to {value}", variable=assignment.variable, value=shown)
    if assignment.elements[-1].previous:
        return text("puts {value} in front of {variable}", variable=assignment.variable, value=shown)
    if assignment.elements[0].previous:
        return text("puts {value} at the end of {variable}", variable=assignment.variable, value=shown)
    return text("puts {value} around {variable}", variable=assignment.variable, value=shown)
