"""An environment's own libraries against those that LD_LIBRARY_PATH puts in their place."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.model.environment import LoadedLibrary
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from tests.values import knowledge, machine

OWN = "/home/you/train/lib/python3.11/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12.4.127"
OLD, NEW = "/usr/local/cuda-12.1/lib64/libnvJitLink.so.12.1.105", "/usr/local/cuda-12.8/lib64/libnvJitLink.so.12.8.93"
SHADOWED = "ld-library-path-shadows-bundled-libs"


def with_library(own: str, taken: str) -> Machine:
    one = machine()
    assert isinstance(one.environments, Known)
    library = LoadedLibrary("/site/nvidia/cusparse/lib/libcusparse.so.12", "libnvJitLink.so.12", own, taken)
    environment = replace(one.environments.value[0], libraries=Known((library,), "LD_LIBRARY_PATH"))
    return replace(one, environments=Known((environment,), "/home/you"))


def problems(one: Machine) -> list[str]:
    return [finding.problem for finding in judge(one, knowledge()).findings]


def test_older_library_in_place_of_the_own_is_a_problem() -> None:
    (found,) = (one for one in judge(with_library(OWN, OLD), knowledge()).findings if one.problem == SHADOWED)
    said = dict(found.parameters)
    assert (said["library"], said["directory"]) == ("libnvJitLink.so.12", "/usr/local/cuda-12.1/lib64")
    assert str(said["python"]).endswith("/bin/python")
    assert ENGLISH(found.evidence[0].value) == f"{OLD} in place of {OWN}"


@pytest.mark.parametrize(
    ("own", "taken"),
    [(OWN, NEW), (OWN, OWN), ("", OLD), (OWN, ""), (OWN, "/opt/libnvJitLink.so.12"), (OWN, "/opt/libnvJitLink.so")],
)
def test_what_is_not_shown_to_be_older_is_none(own: str, taken: str) -> None:
    assert SHADOWED not in problems(with_library(own, taken))


def test_environment_that_was_not_looked_at_has_none() -> None:
    one = machine()
    assert isinstance(one.environments, Known)
    environment = replace(one.environments.value[0], libraries=Unknown(text("no terminal")))
    assert SHADOWED not in problems(replace(one, environments=Known((environment,), "/home/you")))
