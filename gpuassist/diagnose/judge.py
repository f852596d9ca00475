"""All rules over one machine, and all signatures over one text: what is wrong, what is fine, what could not be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules import (
    cards,
    driver,
    driver_setup,
    fabric,
    holds,
    next_start,
    packages,
    presence,
    shell,
    system_wide,
    toolkit,
    torch,
    variables,
)
from gpuassist.diagnose.verdicts import Rule
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.finding import Diagnosis, Evidence, Finding, Passed, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Clue
from gpuassist.model.text import Parameters, text, verbatim

if TYPE_CHECKING:  # a machine is judged without texts, whose part is a twentieth of such a start
    from gpuassist.diagnose.signature import Signature, SignatureInput

# In the order in which causes lead to consequences: a driver before what needs it.
RULES: tuple[Rule, ...] = (
    *presence.RULES,
    *driver_setup.RULES,
    *driver.RULES,
    *fabric.RULES,
    *next_start.RULES,
    *torch.RULES,
    *packages.RULES,
    shell.own_libraries_win,
    *toolkit.RULES,
    *system_wide.RULES,
    *shell.RULES,
    *cards.RULES,
    *variables.RULES,
    *holds.RULES,
)

# What is open about a driver that does not run at all is no question: its absence is the answer.
_NO_DRIVER = frozenset(
    {"no-driver", "driver-not-loaded", "nouveau-active", "container-no-gpu-flag", "wsl-driver-or-windows"}
    | {"driver-module-blacklisted", "secure-boot-mok-pending", "dkms-build-failed"}
)
_NEED_A_DRIVER = frozenset(
    {"driver-library-mismatch", "driver-too-old-for-gpu", "driver-too-old-for-cuda", "cuda-init-failed-driver-state"}
)

R = TypeVar("R")


def judge(machine: Machine, knowledge: Knowledge, rules: tuple[Rule, ...] = RULES) -> Diagnosis:
    """Every rule's verdicts, each once, in the rules' order."""
    case = RuleInput(machine, knowledge)
    verdicts = list(dict.fromkeys(verdict for rule in rules for verdict in survived(rule.__name__, rule, case)))
    found = tuple(_of_equal_gpus(one for one in verdicts if isinstance(one, Finding)))
    passed = tuple(one for one in verdicts if isinstance(one, Passed))
    blamed = {one.problem for one in found}
    told = blamed | _NEED_A_DRIVER if blamed & _NO_DRIVER else blamed
    open_ = tuple(one for one in verdicts if isinstance(one, Undetermined) and one.problem not in told)
    return Diagnosis(found, open_, passed)


def _of_equal_gpus(findings: Iterable[Finding]) -> Iterator[Finding]:
    """What is found of several GPUs of one name is one finding, with the evidence of each."""
    alike: dict[tuple[str, Parameters], dict[Evidence, None]] = {}
    for one in findings:
        alike.setdefault((one.problem, one.parameters), {}).update(dict.fromkeys(one.evidence))
    for (problem, parameters), evidence in alike.items():
        yield Finding(problem, parameters, tuple(evidence))


def survived(name: str, check: Callable[..., Iterable[R]], *asked: object) -> Iterator[R | Undetermined]:
    """The results of a check of ours as they come; where it fails, that instead of the rest."""
    try:
        yield from check(*asked)
    except Exception as error:  # a border: a rule that fails is told of and never stops the rest
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("the rule %s failed", name, exc_info=True)
        reason = text("gpuassist's own check failed: {error}", error=f"{type(error).__name__}: {error}")
        yield Undetermined("own-check-failed", verbatim(name), reason)


@cache
def families() -> dict[str, tuple[Signature, ...]]:
    """Every family of signatures by its module's name."""
    import pkgutil

    from gpuassist.diagnose import signatures

    return {name: _family(name) for name in sorted(module.name for module in pkgutil.iter_modules(signatures.__path__))}


@cache
def _family(name: str) -> tuple[Signature, ...]:
    import pkgutil

    found: tuple[Signature, ...] = pkgutil.resolve_name(f"gpuassist.diagnose.signatures.{name}:SIGNATURES")
    return found


def _families_of(setting: SignatureInput) -> Iterator[tuple[str, tuple[Signature, ...]]]:
    """Those of which a literal stands in the text: to load all of them takes a fifth of the time that explaining a line does."""
    from gpuassist.diagnose.family_words import FAMILY_WORDS

    return ((name, _family(name)) for name, words in FAMILY_WORDS.items() if setting.says(*words))


def _of_codes(setting: SignatureInput) -> Iterator[tuple[str, tuple[Signature, ...]]]:
    """The messages of the table of codes, which is read only where one of its sentences stands in the text."""
    from gpuassist.diagnose.family_words import CODE_SENTENCES

    if setting.says(*CODE_SENTENCES):
        from gpuassist.diagnose.signatures.codes import of_sentences

        yield "codes", of_sentences(setting.case.knowledge, setting.says)


class Recognised(Struct, frozen=True):
    """The passages that point to problems, in the order of the text; `failed` are our own signatures that broke on it."""

    clues: tuple[Clue, ...] = ()
    failed: tuple[Undetermined, ...] = ()


def recognise(setting: SignatureInput) -> Recognised:
    """Every passage that points to a problem of the catalogue."""
    from gpuassist.diagnose.hints import of_another_maker
    from gpuassist.diagnose.ranking import NO_FAULT
    from gpuassist.diagnose.signature import clues

    found = dict.fromkeys(
        one
        for name, family in (*_families_of(setting), *_of_codes(setting))
        for signature in family
        if setting.says(*signature.literals)
        for one in survived(f"{name}: {signature.literals[0]}", clues, signature, setting)
    )
    shown = [one for one in found if isinstance(one, Clue)]
    if of_another_maker(setting):  # programs for AMD's GPUs use CUDA's names, and all of torch's
        shown = [one for one in shown if one.problem in NO_FAULT]
    failed = tuple(one for one in found if isinstance(one, Undetermined))
    return Recognised(tuple(sorted(shown, key=lambda clue: (clue.passage.line, -clue.weight))), failed)
