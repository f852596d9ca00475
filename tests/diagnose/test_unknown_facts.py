"""What a missing fact does: no rule fails on it, no problem vanishes without a word, and no sound machine gets a finding."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.judge import judge
from gpuassist.model.finding import Diagnosis
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from tests.diagnose.test_rules import PROBLEMS, SOUND
from tests.rows import for_each
from tests.values import knowledge, machine

Path = tuple[str | int, ...]
EXAMPLES = Resources().names("machines", ".json")

# A GPU that NVML lists is served by the module that is loaded, whichever that is: its flavour then hides nothing. And an
# environment that may be active is judged with the others.
TELLS_ENOUGH = {
    ("open-module-required", "driver.loaded"),
    ("open-module-required", "driver.loaded.open_flavour"),
    ("open-module-unsupported-gpu", "driver.loaded"),
    ("open-module-unsupported-gpu", "driver.loaded.open_flavour"),
    ("torch-cpu-only", "environments.active"),
}


@cache
def _example(name: str) -> str:
    return Resources().read(f"machines/{name}").decode()


@cache
def _made(place: int) -> str:
    return json.dumps(encode_machine(machine(**PROBLEMS[place][1]), ENGLISH))


def _facts(document: Any, path: Path = ()) -> Iterator[Path]:
    inside = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    if isinstance(document, dict) and "source" in document:
        yield path
    for name, value in inside:
        yield from _facts(value, (*path, name))


def _forget(document: Any, path: Path, *, asked: bool = True) -> None:
    for step in path[:-1]:
        document = document[step]
        if document is None or "reason" in document:  # the fact around it is gone already
            return
    document[path[-1]] = {"value": None, "reason": "it could not be read", "asked": asked}


def _judged(document: Any) -> Diagnosis:
    return judge(decode_machine(document), knowledge())


def _ids(diagnosis: Diagnosis) -> set[str]:
    return {finding.problem for finding in diagnosis.findings}


def _label(path: Path) -> str:
    return ".".join(str(step) for step in path if not isinstance(step, int) and step != "value")


@given(data=st.data(), name=st.sampled_from(EXAMPLES), asked=st.booleans())
def test_no_rule_fails_on_missing_facts(data: st.DataObject, name: str, asked: bool) -> None:
    document = json.loads(_example(name))
    for path in data.draw(st.lists(st.sampled_from(sorted(_facts(document), key=str)), max_size=30)):
        _forget(document, path, asked=asked)
    assert "own-check-failed" not in {one.problem for one in _judged(document).undetermined}
    assert len(chains(decode_machine(document), knowledge())) <= 2


@for_each("place", range(len(PROBLEMS)), every=3)
def test_no_problem_vanishes_without_a_word(place: int) -> None:
    for path in _facts(json.loads(_made(place))):
        document = json.loads(_made(place))
        _forget(document, path)
        told = _judged(document)
        assert told.findings or told.undetermined or (PROBLEMS[place][0], _label(path)) in TELLS_ENOUGH, _label(path)


@for_each("recipe", SOUND.values(), every=3)
def test_missing_fact_is_never_a_problem(recipe: dict[str, Any]) -> None:
    whole = encode_machine(machine(**recipe), ENGLISH)
    allowed = _ids(_judged(whole))
    for path in _facts(whole):
        document = json.loads(json.dumps(whole))
        _forget(document, path)
        assert _ids(_judged(document)) <= allowed or path == ("host", "wsl"), _label(path)


def test_nothing_looked_at_is_nothing_found() -> None:
    told = judge(Machine(), knowledge())
    assert (told.findings, told.passed) == ((), ())
    assert "no-nvidia-gpu" in {one.problem for one in told.undetermined}


def test_unread_environments_may_hide_cpu_build() -> None:
    document = json.loads(_example("03-torch-cpu-only.json"))
    document["environments"] = {"value": None, "reason": "the home directory could not be searched", "asked": True}
    told = [one for one in _judged(document).undetermined if one.problem == "torch-cpu-only"]
    assert [ENGLISH(one.reason) for one in told] == ["the home directory could not be searched"]


def test_unread_binding_is_judged_by_loaded_modules() -> None:
    document = json.loads(_example("01-new-rtx-5090-nouveau.json"))
    _forget(document, ("gpus", "value", 0, "kernel_driver"))
    assert _ids(_judged(document)) == {"nouveau-active"}


def test_architectures_follow_from_release_where_nvcc_does_not_say() -> None:
    document = json.loads(_example("02-rtx-4090-cuda-11-7-first.json"))
    for place in range(2):
        _forget(document, ("toolkits", "value", place, "targets"))
    assert "nvcc-arch-too-new" in _ids(_judged(document))
