"""The problem catalogue: a finding becomes an answer in words, its file read only when its problem was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Optional, TypeVar

from msgspec.structs import replace

from gpuassist.diagnose.catalogue_entry import (
    CatalogueEntry,
    CommandEntry,
    EntryError,
    RemedyEntry,
    Sentence,
    read_entry,
    slots_of,
)
from gpuassist.diagnose.guide import read_guide
from gpuassist.knowledge.commands import CommandError, Commands
from gpuassist.knowledge.families import Family
from gpuassist.model.finding import Action, Answer, CommandUse, Finding, GuideLink, Remedy, Severity
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words

# What conditions may ask beside the finding's own parameters: whose commands serve this machine, and whether a remedy before
# them is a plan.
FAMILY = "family"
PLANNED = "planned"
# What a pasted text is about (`diagnose.framework`): its key, its name, whether torch is in play, which it is wherever a machine
# is judged without a text, and what started its container.
FRAMEWORK = "framework"
FRAMEWORK_NAME = "framework_name"
WITH_TORCH = "with_torch"
CONTAINER_ENGINE = "container_engine"
SETTING = frozenset({FAMILY, PLANNED, FRAMEWORK, FRAMEWORK_NAME, WITH_TORCH, CONTAINER_ENGINE})

Planner = Callable[[Finding, str, str], Optional[Remedy]]
"""Makes a remedy of a plan: of the finding that asks for it, its goal, and what it does in words; None where too little is known
for one."""

PackageName = Callable[[str], str]
"""What PyPI calls a package that a text names; empty where it is no known one."""

_REQUIRED = lazy_regex(r"[\w.-]{1,100}")
_OF_PIP = "pip-"
_NAMES_PACKAGE = frozenset({"requirement", "package"})

E = TypeVar("E", Sentence, RemedyEntry)
W = TypeVar("W", str, Remedy)


class Catalogue:
    """Renders findings; `read` gives the bytes of a resource such as `problems/no-driver.toml`. Where findings rest on a text,
    `package_name` says which of the names in it may stand in a command of pip: whoever owns a name that somebody misspelt would
    otherwise be run here.
    """

    def __init__(self, read: Callable[[str], bytes], commands: Commands, package_name: PackageName | None = None) -> None:
        self._read = read
        self._commands = commands
        self._package_name = package_name

    def answer(
        self,
        finding: Finding,
        *,
        families: Sequence[Family],
        words: Words,
        surroundings: Mapping[str, str] | None = None,
        planner: Planner | None = None,
    ) -> Answer:
        """What the catalogue says of a finding; `surroundings` are parameters of the machine that commands may use, and `planner`
        makes the remedies that are plans for it: without one, what stands where nothing can be planned is said.
        """
        try:
            entry = read_entry(self._read(f"problems/{finding.problem}.toml"))
            answer = self.written(finding, entry, families=families, words=words, surroundings=surroundings, planner=planner)
            guides: list[GuideLink] = []
            for topic in entry.guides:
                title = self._guide_title(topic, words.language)
                if title:
                    guides.append(GuideLink(topic, title))
            return replace(answer, guides=tuple(guides))
        except (OSError, EntryError, CommandError) as error:
            import logging  # 2 ms of every start, where nothing else needs it

            logging.getLogger(__name__).info("the description of %s cannot be used", finding.problem, exc_info=True)
            return _undescribed(finding, error, words)

    def written(
        self,
        finding: Finding,
        entry: CatalogueEntry,
        *,
        families: Sequence[Family],
        words: Words,
        surroundings: Mapping[str, str] | None = None,
        planner: Planner | None = None,
    ) -> Answer:
        """What an entry says of a finding, without the guides."""
        parameters = {
            WITH_TORCH: "yes",
            **(surroundings or {}),
            **{name: words(value) if isinstance(value, Text) else str(value) for name, value in finding.parameters},
            FAMILY: families[0].value if families else Family.ANY.value,
        }
        writer = _Writer(
            entry,
            parameters,
            words,
            commands=self._commands,
            families=tuple(families),
            planned=partial(planner, finding) if planner is not None else None,
            package_name=self._package_name,
        )
        return writer.answer(finding)

    def _guide_title(self, topic: str, language: str) -> str:
        try:
            return read_guide(self._read, topic, language)[0]
        except OSError:  # a damaged copy: the answer stands without it
            import logging  # 2 ms of every start, where nothing else needs it

            logging.getLogger(__name__).info("the guide %s cannot be read", topic, exc_info=True)
            return ""


class _Writer:
    """Writes one answer from an entry and the parameters of a finding.

    Words with a slot that nothing fills are left out, and a remedy with them: the same problem is told by a rule, which knows
    much, and by a pasted message, which may know nothing but that it happened.
    """

    def __init__(
        self,
        entry: CatalogueEntry,
        parameters: Mapping[str, str],
        words: Words,
        *,
        commands: Commands,
        families: tuple[Family, ...],
        planned: Callable[[str, str], Remedy | None] | None,
        package_name: PackageName | None = None,
    ) -> None:
        self._entry = entry
        self._parameters = parameters
        known = {name: value for name, value in parameters.items() if value}
        self._slots = {**dict(entry.defaults), **known}
        self._words = words
        self._commands = commands
        self._families = families
        self._planned = planned
        self._package_name = package_name
        self._plans: list[tuple[Step, ...]] = []

    def answer(self, finding: Finding) -> Answer:
        changed = (severity for condition, severity in self._entry.severity_when if condition.holds(self._parameters))
        # The first that stands; the last one, with an empty place, where a rule gave less than it should.
        titles = self._entry.titles
        title = next((one for one in titles if self._stands(one)), titles[-1]).message
        empty = dict.fromkeys(slots_of(title), "")
        return Answer(
            id=finding.problem,
            severity=next(changed, self._entry.severity),
            title=" ".join(filter(None, self._said(title, empty | self._slots).split(" "))),
            explanation=self._run_on(_written(self._entry.explanation, self._sentence)),
            evidence=finding.evidence,
            remedies=tuple(_written(self._entry.remedies, self._remedy)),
            links=tuple(one.message for one in self._entry.links if self._stands(one)),
        )

    def _sentence(self, entry: Sentence) -> str | None:
        return self._said(entry.message, self._slots) if self._stands(entry) else None

    def _remedy(self, entry: RemedyEntry) -> Remedy | None:
        """None where this family lacks one of its commands, or a parameter of one is not known: half a remedy would do harm."""
        if not self._stands(entry) or not self._fills(slots_of(entry.plan)):
            return None
        if entry.plan:
            does = self._said(entry.message, self._slots)
            return self._new(self._planned(entry.plan.format_map(self._slots), does) if self._planned is not None else None)
        uses = [use for use in map(self._use, entry.commands) if use is not None]
        if len(uses) < len(entry.commands):
            return None
        return Remedy(
            text=self._said(entry.message, self._slots),
            commands=tuple(uses),
            needs_root=any(self._needs_root(use.key) for use in uses),
            action=self._action(entry, uses),
            check=self._said(entry.check, self._slots) if self._fills(slots_of(entry.check)) else "",
        )

    def _new(self, planned: Remedy | None) -> Remedy | None:
        """A plan, unless this answer has the same steps already, or this is another way that leads nowhere; what stands after it
        may ask whether there is one.
        """
        if planned is None:
            return None
        self._parameters = {**self._parameters, PLANNED: planned.goal}
        told = planned.steps in self._plans or (bool(self._plans) and not planned.steps)
        self._plans.append(planned.steps)
        return None if told else planned

    def _use(self, entry: CommandEntry) -> CommandUse | None:
        if not all(self._fills(slots_of(template)) for _, template in entry.parameters):
            return None
        parameters = {name: template.format_map(self._slots) for name, template in entry.parameters}
        if entry.key.startswith(_OF_PIP) and self._package_name is not None:
            for name, template in entry.parameters:
                if name in _NAMES_PACKAGE and template.startswith("{"):
                    parameters[name] = _installable(parameters[name], self._package_name)
            if not all(parameters.values()):
                return None
        lines = self._commands.render(entry.key, self._families, parameters)
        return CommandUse(entry.key, tuple(parameters.items()), lines) if lines else None

    def _action(self, entry: RemedyEntry, uses: Sequence[CommandUse]) -> Action:
        """What the entry says; of plain commands the restart or new terminal that one of them is."""
        if entry.action is not Action.COMMAND:
            return entry.action
        records = (self._commands.record(use.key, self._families) for use in uses)
        asked = {record.action for record in records if record is not None}
        return next((one for one in (Action.REBOOT, Action.NEW_SHELL) if one in asked), Action.COMMAND)

    def _needs_root(self, key: str) -> bool:
        record = self._commands.record(key, self._families)
        return record is not None and record.needs_root

    def _said(self, message: str, slots: Mapping[str, str]) -> str:
        return self._words(Text(message, tuple(slots.items())))

    def _stands(self, one: Sentence | RemedyEntry) -> bool:
        return all(condition.holds(self._parameters) for condition in one.when) and self._fills(slots_of(one.message))

    def _fills(self, slots: frozenset[str]) -> bool:
        return slots <= self._slots.keys()

    def _run_on(self, sentences: Iterable[str]) -> str:
        """One after another: a full stop in Chinese carries its own space, so what stands between them is a message, too."""
        told = ""
        for one in sentences:
            told = self._words(text("{sentences} {sentence}", sentences=told, sentence=one)) if told else one
        return told


def _installable(requirement: str, package_name: PackageName) -> str:
    """A requirement by the name that PyPI has for it; empty where that is not known."""
    called = _REQUIRED.match(requirement)
    name = package_name(called[0]) if called else ""
    return f"{name}{requirement[called.end() :]}" if called and name else ""


def _written(entries: Iterable[E], write: Callable[[E], W | None]) -> Iterator[W]:
    """What is written of each; of one and the `otherwise` ones after it only the first."""
    done = False
    for entry in entries:
        done = done and entry.otherwise
        written = None if done else write(entry)
        if written is not None:
            done = True
            yield written


def _undescribed(finding: Finding, error: Exception, words: Words) -> Answer:
    title = text("A problem that is known as {id} was found", id=finding.problem)
    explanation = text(
        "Its description is missing from this copy of gpuassist or damaged ({error}). The evidence below is what it was found by.",
        error=(error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__,
    )
    return Answer(finding.problem, Severity.PROBLEM, words(title), words(explanation), finding.evidence, (), ())
