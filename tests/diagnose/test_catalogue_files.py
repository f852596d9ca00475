"""Every file of the problem catalogue against the rules that find its problem and the commands that it names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import gpuassist.diagnose.rules
from gpuassist.diagnose.catalogue import FAMILY, SETTING, Catalogue
from gpuassist.diagnose.catalogue_entry import CatalogueEntry, CommandEntry, Condition, read_entry, slots_of
from gpuassist.formats.devices import DeviceListFault
from gpuassist.install.drivers.packages import surroundings_of
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.finding import Action, Answer, Finding
from gpuassist.model.machine import Machine
from gpuassist.model.past import Subject
from gpuassist.model.words import ENGLISH, Words
from gpuassist.system.resources import Resources
from tests.diagnose.only_text import ONLY_TEXT
from tests.rows import for_each
from tests.translations import shipped

RULES = Path(gpuassist.diagnose.rules.__file__ or "").parent
RESOURCES = Resources()
FILES = RESOURCES.names("problems")
SPOKEN = (ENGLISH, shipped("zh_CN"))
PROBLEMS = tuple(name.removesuffix(".toml") for name in FILES)
COMMANDS = Knowledge(RESOURCES.read).commands
SURROUNDINGS = frozenset(surroundings_of(Machine()))
MAKERS = "|".join(
    (
        r"([a-z]+\.)*nvidia\.com/",
        r"([a-z]+\.)*pytorch\.org/",
        r"(docs\.jax\.dev|www\.tensorflow\.org|conda-forge\.org|docs\.conda\.io|docs\.astral\.sh|pip\.pypa\.io|packaging\.python\.org)/",
        r"(huggingface\.co/docs|learn\.microsoft\.com|docs\.docker\.com|docs\.kernel\.org|docs\.python\.org|onnxruntime\.ai|man7\.org|setuptools\.pypa\.io)/",
        r"documentation\.ubuntu\.com/lxd/",
        r"(docs\.ollama\.com|cuda\.juliagpu\.org|docs\.cupy\.dev|hexdocs\.pm|docs\.blender\.org|www\.mathworks\.com|docs\.vllm\.ai|rocm\.docs\.amd\.com)/",
        r"github\.com/(NVIDIA|ggml-org|pytorch|facebookresearch|Dao-AILab|bitsandbytes-foundation|triton-lang|state-spaces)/",
    )
)
FROM_TEXT = {  # parameters that a pasted message gives and no rule
    "container-lxc-devices": {"rules"},
    "device-permissions": {"rules"},
    "nvidia-smi-missing": {"jetson"},
    "compute-mode-exclusive": {"failed"},
    "gpu-memory-held-by-dead-process": {"used", "index"},
    "gpu-overheating": {"temperature", "watts"},
    "rm-init-adapter-failed": {"code", "firmware_boot", "power"},
    "video-memory-lost-over-sleep": {"refused"},
    "cuda-visible-devices-bad": {"ordinal"},
    "driver-too-old-for-cuda": {"served", "unsure", "video", "needed"},
    "driver-too-old-for-gpu": {"unsure"},
    "driver-not-loaded": {"built", "ibt"},
    "cuda-init-failed-driver-state": {"crashed", "hung", "woke", "module", "function", "mps"},
    "libcuda-missing": {"compiler"},
    "gpu-reset-required": {"busy"},
    "wsl-driver-or-windows": {"tcc"},
    "container-toolkit-missing": {"cdi"},
    "mig-mode": {"busy", "full", "unsupported", "off"},
    "dkms-build-failed": {"compiler", "tools"},
    "conda-channel-frozen": {"wanted", "none"},
    "apt-nvidia-package-conflict": {"manager"},
    "cudnn-version-mismatch": {"unsure"},
    "nvcc-arch-too-new": {"firsts", "last"},
    "nvcc-host-gcc-too-new": {"newer", "clang"},
    "nvcc-not-on-path": {"install"},
    "torch-cuda-vs-toolkit-mismatch": {"alternative", "building"},
    "torch-lacks-sm": {"dropped", "install", "tag", "floor", "python_version", "wanted_python", "last", "nccl"}
    | {"dated", "others", "engine", "instead", "pythons", "nvrtc"},  # rules by torch_choice
    "missing-cuda-runtime-lib": {"tensorrt", "requirement", "own"},
    "healthy": {"wheels", "build", "arguments", "runs", "gpu", "capability"},
    "torch-pinned-by-package": {"requested", "comes", "cuda", "lost", "was", "now", "was_tag", "cpu", "tool"},
}

_PACKAGES = tuple(one for one in Family if one not in {Family.WSL, Family.CONTAINER})
LOOKUPS = tuple(
    (place, packages, Family.ANY) for packages in _PACKAGES for place in (packages, Family.WSL, Family.CONTAINER)
)  # as knowledge.families.lookup_order makes them

every_problem = for_each("problem", PROBLEMS)


@pytest.fixture(scope="module", autouse=True)
def entries_read_once() -> Iterator[None]:
    """Each file of the catalogue is parsed once, however many answers are written from it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("gpuassist.diagnose.catalogue.read_entry", cache(read_entry))
        yield


@cache
def _entry(problem: str) -> CatalogueEntry:
    return read_entry(RESOURCES.read(f"problems/{problem}.toml"))


def _links(entry: CatalogueEntry) -> Iterator[str]:
    return (one.message for one in entry.links)


def _sentences(entry: CatalogueEntry) -> Iterator[str]:
    yield from (one.message for one in entry.explanation)
    yield from (one.message for one in entry.remedies)


def _conditions(entry: CatalogueEntry) -> Iterator[Condition]:
    yield from (condition for condition, _ in entry.severity_when)
    for sentence in (*entry.titles, *entry.explanation, *entry.links):
        yield from sentence.when
    for remedy in entry.remedies:
        yield from remedy.when


def _used(entry: CatalogueEntry) -> set[str]:
    words = {slot for message in entry.messages() for slot in slots_of(message)}
    conditions = {condition.parameter for condition in _conditions(entry)}
    templates = [template for remedy in entry.remedies for use in remedy.commands for _, template in use.parameters]
    plans = [remedy.plan for remedy in entry.remedies if remedy.plan]
    where = {"python"} & set(entry.parameters) if plans else set()  # for whose environment it is planned
    slots = {slot for template in (*templates, *plans) for slot in slots_of(template)}
    return (words | conditions | slots | where) - SETTING - SURROUNDINGS


class _Rules:
    """What the source of the rules says: the ids that they can name, and the parameters that they give."""

    def __init__(self) -> None:
        self.parameters: dict[str, set[str]] = {}
        for path in RULES.glob("*.py"):
            self._read(ast.parse(path.read_text("utf-8")))

    def _read(self, module: ast.Module) -> None:
        keys = {text for node in ast.walk(module) if isinstance(node, ast.Dict) for key in node.keys if key for text in _texts(key)}
        for call in (node for node in ast.walk(module) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Name) and call.func.id in {"finding", "undetermined"} and call.args:
                given = {word.arg for word in call.keywords if word.arg}
                spread = (
                    keys | {fault.value.replace("-", "_") for fault in DeviceListFault}
                    if len(given) < len(call.keywords)
                    else set()
                )
                for problem in _named(call.args[0], module):
                    self.parameters.setdefault(problem, set()).update(given | spread)


def _named(argument: ast.expr, module: ast.Module) -> set[str]:
    """The ids that an argument can be; a local name is what is assigned to it."""
    if not isinstance(argument, ast.Name):
        return _texts(argument)
    assigned = (node.value for node in ast.walk(module) if isinstance(node, ast.Assign) and _binds(node.targets, argument.id))
    return {text for value in assigned for text in _texts(value)}


def _binds(targets: Iterable[ast.expr], name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _texts(node: ast.AST) -> set[str]:
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


READ = _Rules()


def test_rules_are_read_from_their_source() -> None:
    assert {"no-driver", "nvcc-arch-dropped", "open-module-unsupported-gpu"} <= set(READ.parameters)


def test_every_problem_of_a_rule_is_described() -> None:
    assert set(READ.parameters) - set(PROBLEMS) == set()


def test_every_description_is_reached_by_a_rule_or_by_text_alone() -> None:
    assert set(PROBLEMS) - set(READ.parameters) == ONLY_TEXT


@for_each("name", FILES)
def test_file_name_is_the_id_in_kebab_case(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.toml", name)


@every_problem
def test_declared_parameters_are_exactly_those_used(problem: str) -> None:
    entry = _entry(problem)
    assert set(entry.parameters) == _used(entry)


@for_each("problem", sorted(set(PROBLEMS) - ONLY_TEXT))
def test_parameters_are_given_by_the_rules(problem: str) -> None:
    assert set(_entry(problem).parameters) - READ.parameters[problem] - FROM_TEXT.get(problem, set()) == set()


@every_problem
def test_defaults_are_never_told_as_facts(problem: str) -> None:
    entry = _entry(problem)
    for sentence in (*entry.titles, *entry.explanation):
        asked = {condition.parameter for condition in sentence.when if not condition.negated}
        assert (slots_of(sentence.message) & set(dict(entry.defaults))) - asked == set()


@every_problem
def test_last_title_stands_without_condition(problem: str) -> None:
    titles = _entry(problem).titles
    assert titles[-1].when == ()
    assert all(one.when or slots_of(one.message) for one in titles[:-1])


@every_problem
def test_last_title_needs_no_parameter(problem: str) -> None:
    assert not slots_of(_entry(problem).titles[-1].message)


@every_problem
def test_words_are_sentences_without_stray_space(problem: str) -> None:
    entry = _entry(problem)
    assert all(message == " ".join(message.split()) for message in entry.messages())
    assert all(message.endswith((".", ":")) for message in _sentences(entry))
    assert not any(one.message.endswith(".") for one in entry.titles)


@cache
def _answers(problem: str, words: Words) -> tuple[Answer, ...]:
    """What every machine is told where no parameter is known."""
    catalogue, finding = Catalogue(RESOURCES.read, COMMANDS), Finding(problem, (), ())
    return tuple(catalogue.answer(finding, families=families, words=words) for families in LOOKUPS)


@every_problem
@for_each("words", SPOKEN)
def test_something_is_said_where_nothing_is_known(problem: str, words: Words) -> None:
    for answer in _answers(problem, words):
        assert answer.explanation
        assert answer.remedies
        assert all(one.check for one in answer.remedies)


@every_problem
def test_first_remedy_is_no_alternative_to_another(problem: str) -> None:
    answers = [answer for words in SPOKEN for answer in _answers(problem, words)]
    assert not [one.remedies[0].text for one in answers if one.remedies[0].text.startswith(("Or ", "Or,", "或者"))]


@every_problem
def test_links_are_secure(problem: str) -> None:
    assert all(re.fullmatch(r"https://[a-z0-9.-]+/\S*", link) for link in _links(_entry(problem)))


@every_problem
def test_links_lead_to_the_makers(problem: str) -> None:
    assert all(re.match(rf"https://({MAKERS})", link) for link in _links(_entry(problem)))


@every_problem
def test_commands_exist(problem: str) -> None:
    assert {use.key for remedy in _entry(problem).remedies for use in remedy.commands} <= COMMANDS.keys


@every_problem
def test_commands_are_given_no_parameter_in_vain(problem: str) -> None:
    for use in (use for remedy in _entry(problem).remedies for use in remedy.commands):
        needed = {name for record in COMMANDS.records if record.key == use.key for name in record.parameters}
        assert {name for name, _ in use.parameters} <= needed


@every_problem
def test_commands_get_all_their_parameters(problem: str) -> None:
    for families in LOOKUPS:
        for use in _uses(problem, families):
            record = COMMANDS.record(use.key, families)
            assert record is None or set(record.parameters) <= {name for name, _ in use.parameters}


def _uses(problem: str, families: tuple[Family, ...]) -> Iterator[CommandEntry]:
    """The commands of the remedies that a machine of these families can be shown."""
    for remedy in _entry(problem).remedies:
        if all(one.holds({FAMILY: families[0].value}) for one in remedy.when if one.parameter == FAMILY):
            yield from remedy.commands


@every_problem
def test_something_can_be_done_or_is_explained(problem: str) -> None:
    assert _entry(problem).explanation
    assert _entry(problem).remedies


@every_problem
def test_only_the_switch_of_toolkits_is_an_edit(problem: str) -> None:
    for remedy in _entry(problem).remedies:
        if remedy.action is Action.EDIT:
            assert [use.key for use in remedy.commands] == ["use-cuda"]
            assert all(dict(use.parameters)["version"] for use in remedy.commands)


@every_problem
def test_families_in_conditions_exist(problem: str) -> None:
    names = {condition.value for condition in _conditions(_entry(problem)) if condition.parameter == FAMILY}
    assert names <= {family.value for family in Family}


@every_problem
def test_distribution_toolkit_is_never_recommended(problem: str) -> None:
    assert b"install nvidia-cuda-toolkit" not in RESOURCES.read(f"problems/{problem}.toml").replace(b"to install `", b"")


@every_problem
def test_causes_are_subjects_of_a_change(problem: str) -> None:
    causes = _entry(problem).changed_by
    assert len(set(causes)) == len(causes)
    for cause in causes:
        subject, sign, word = cause.partition(":")
        assert subject in {one.value for one in Subject}
        assert bool(sign) is bool(word)
