"""What LD_LIBRARY_PATH makes the programs of an environment load in place of the libraries that they bring along."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, proof
from gpuassist.model.environment import LoadedLibrary
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import Version

_VERSION = lazy_regex(r"\.so\.(\d{1,9}(?:\.\d{1,9}){0,4})$")


def own_libraries_win(case: RuleInput) -> Iterator[Verdict]:
    """An older library in place of an environment's own lacks symbols that the program was built against."""
    for environment in value_or(case.machine.environments, ()):
        replaced = [library for library in value_or(environment.libraries, ()) if older(library)]
        if replaced:
            first = replaced[0]
            assert isinstance(environment.libraries, Known)
            yield finding(
                "ld-library-path-shadows-bundled-libs",
                *(
                    proof(
                        text("{library} of {program}", library=one.soname, program=one.program.rpartition("/")[2]),
                        environment.libraries,
                        text("{taken} in place of {own}", taken=one.taken, own=one.own),
                    )
                    for one in replaced
                ),
                library=first.soname,
                directory=first.taken.rpartition("/")[0],
                python=value_or(environment.interpreter, "python"),
            )


def older(library: LoadedLibrary) -> bool:
    """Whether an older file, or one of another major release, takes the place of the program's own; by their names."""
    own, taken = _parts(library.own), _parts(library.taken)
    both = min(len(own), len(taken))  # a name that ends with the major release tells no more than that
    return bool(both) and (taken[:both] < own[:both] or taken[0] != own[0])


def _parts(path: str) -> tuple[int, ...]:
    found = _VERSION.search(path)
    return Version.parse(found[1]).parts if found else ()


RULES = (own_libraries_win,)
