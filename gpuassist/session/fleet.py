"""Many machines judged by the same rules as one, and what was found put together: who has it, and what differs between them.

Machines come one after the other and are let go of again; of each group one is kept, of which its remedies are planned once. A
group is a problem at one severity on distributions that share their commands, so that its remedies are those of all its machines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.diagnose.judge import judge
from gpuassist.install.drivers.packages import surroundings_of
from gpuassist.knowledge.families import Family, families_of
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Answer, Finding, Severity
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.inspect import in_words

_WORST_FIRST = tuple(Severity)
_DIGITS = lazy_regex(r"(\d+)")
_EXAMPLES_AT_MOST = 8
_DRIVER, _GPUS, _TOOLKITS, _TORCH, _SYSTEM = (
    text("driver"),
    text("GPUs"),
    text("CUDA toolkits"),
    text("torch"),
    text("distribution"),
)


class FleetTrait(Struct, frozen=True):
    """Something that machines of a group have otherwise than each other: each value with the machines that have it."""

    fact: Text
    values: tuple[tuple[str, tuple[str, ...]], ...]


class FleetGroup(Struct, frozen=True):
    """What was found of several machines. `answer` is that of one of them, `example`, with its remedies; `family` is whose commands
    they are; `titles` are the other ways in which it is called, as versions stand in them.
    """

    answer: Answer
    family: Family
    machines: tuple[str, ...]
    example: str
    differs: tuple[FleetTrait, ...]
    titles: tuple[str, ...] = ()


class OpenGroup(Struct, frozen=True):
    """What could not be determined of several machines; `reason` is the most frequent of theirs."""

    problem: str
    fact: Text
    reason: Text
    machines: tuple[str, ...]


class UnreadMachine(Struct, frozen=True):
    """A machine, or a file, of which nothing is known, and why."""

    name: str
    reason: Text


class FleetDiagnosis(Struct, frozen=True):
    """Of all machines that could be read; groups in the order of their weight, then of how many machines they are."""

    machines: tuple[str, ...]
    healthy: tuple[str, ...]
    groups: tuple[FleetGroup, ...]
    undetermined: tuple[OpenGroup, ...]
    unread: tuple[UnreadMachine, ...]


Key = tuple[str, Severity, Family]
_Place = tuple[list[tuple[int, str]], int]  # a machine's name as names are ordered, and the place among what was found of it
_LAST: _Place = ([(1 << 62, "")], 0)


class _Gathering:
    """A group while machines still come, over ssh in any order. Its example is the first by name of those with the most frequent
    title: so one is kept of each title, and of many titles those whose machines come first by name.
    """

    def __init__(self) -> None:
        self.machines: list[str] = []
        self.first: _Place = _LAST
        self._titles: Counter[str] = Counter()
        self._examples: dict[str, tuple[_Place, str, Machine, Finding]] = {}

    def add(self, name: str, place: _Place, title: str, found: tuple[Machine, Finding]) -> None:
        if not self.machines or self.machines[-1] != name:
            self.machines.append(name)
        self.first = min(self.first, place)
        self._titles[title] += 1
        kept = self._examples.get(title)
        if kept is None or place < kept[0]:
            self._examples[title] = place, name, *found
        if len(self._examples) > _EXAMPLES_AT_MOST:
            del self._examples[max(self._examples, key=lambda one: self._examples[one][0])]

    @property
    def example(self) -> tuple[str, Machine, Finding]:
        title = min(self._examples, key=lambda one: (-self._titles[one], self._examples[one][0]))
        _, name, machine, finding = self._examples[title]
        return name, machine, finding

    @property
    def titles(self) -> tuple[str, ...]:
        """The most frequent first."""
        return tuple(sorted(self._titles, key=lambda one: (-self._titles[one], one)))


class Fleet:
    """Takes machines in, one at a time, and puts together what they have."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._catalogue = Catalogue(_Remembered(session), session.knowledge.commands)
        self._known: dict[tuple[object, ...], tuple[Severity, str]] = {}
        self._groups: dict[Key, _Gathering] = {}
        self._open: dict[tuple[str, Text], list[tuple[_Place, str, Text]]] = {}
        self._traits: dict[str, dict[Text, str]] = {}
        self._healthy: list[str] = []
        self._unread: list[UnreadMachine] = []

    def add(self, name: str, machine: Machine) -> None:
        """Judges it; a name that is there already gets a number."""
        while name in self._traits:
            name = _next_name(name)
        diagnosis = judge(machine, self._session.knowledge)
        self._traits[name] = dict(_traits(machine))
        families = families_of(machine)
        convicts = False
        ordered = _by_number(name)
        for place, finding in enumerate(diagnosis.findings):
            severity, title = self._told(finding, machine, families)
            convicts |= severity is not Severity.INFO
            key = finding.problem, severity, families[0]
            self._groups.setdefault(key, _Gathering()).add(name, (ordered, place), title, (machine, finding))
        for place, one in enumerate(diagnosis.undetermined):
            self._open.setdefault((one.problem, one.fact), []).append(((ordered, place), name, one.reason))
        if not convicts and not diagnosis.undetermined:
            self._healthy.append(name)

    def add_unread(self, name: str, reason: Text) -> None:
        self._unread.append(UnreadMachine(name, reason))

    def diagnosis(self) -> FleetDiagnosis:
        """Of all that came; plans the remedies of each group."""
        gathered = sorted(self._groups.items(), key=lambda one: one[1].first)  # not as they came
        groups = [self._group(key, one) for key, one in gathered]
        groups.sort(key=lambda one: (_WORST_FIRST.index(one.answer.severity), -len(one.machines)))
        told = sorted(((key, sorted(every, key=_place_of)) for key, every in self._open.items()), key=lambda one: one[1][0][0])
        opened = [_opened(problem, fact, every) for (problem, fact), every in told]
        opened.sort(key=lambda one: -len(one.machines))
        unread = tuple(sorted(self._unread, key=lambda one: _by_number(one.name)))
        return FleetDiagnosis(_in_order(self._traits), _in_order(self._healthy), tuple(groups), tuple(opened), unread)

    def _told(self, finding: Finding, machine: Machine, families: tuple[Family, ...]) -> tuple[Severity, str]:
        key = (finding.problem, finding.parameters, families)
        if key not in self._known:
            answer = self._catalogue.answer(
                finding, families=families, words=self._session.words, surroundings=surroundings_of(machine)
            )
            self._known[key] = answer.severity, answer.title
        return self._known[key]

    def _group(self, key: Key, gathered: _Gathering) -> FleetGroup:
        name, machine, finding = gathered.example
        answer = in_words(self._session, machine, (finding,))[0]
        others = tuple(title for title in gathered.titles if title != answer.title)
        machines = _in_order(gathered.machines)
        return FleetGroup(answer, key[2], machines, name, tuple(self._differs(machines)), others)

    def _differs(self, machines: tuple[str, ...]) -> Iterator[FleetTrait]:
        for fact in (_DRIVER, _GPUS, _TOOLKITS, _TORCH, _SYSTEM):
            values: dict[str, list[str]] = {}
            for name in machines:
                values.setdefault(self._traits[name].get(fact, ""), []).append(name)
            if len(values) > 1:
                ordered = sorted(values.items(), key=lambda one: (-len(one[1]), one[0]))
                yield FleetTrait(fact, tuple((value, tuple(names)) for value, names in ordered))


class _Remembered:
    """Reads a description once: the same problem is met on hundreds of machines."""

    def __init__(self, session: Session) -> None:
        self._session, self._read = session, dict[str, bytes]()

    def __call__(self, name: str) -> bytes:
        if name not in self._read:
            self._read[name] = self._session.world.resources.read(name)
        return self._read[name]


def _place_of(told: tuple[_Place, str, Text]) -> _Place:
    return told[0]


def _opened(problem: str, fact: Text, told: list[tuple[_Place, str, Text]]) -> OpenGroup:
    reason = Counter(reason for *_, reason in told).most_common(1)[0][0]
    return OpenGroup(problem, fact, reason, _in_order({name for _, name, _ in told}))


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    """The same whenever it is asked: over ssh they come as they come."""
    return tuple(sorted(names, key=_by_number))


def _by_number(name: str) -> list[tuple[int, str]]:
    """node2 before node10."""
    return [(int(part) if part.isdecimal() else -1, part) for part in _DIGITS.split(name)]


def _next_name(name: str) -> str:
    head, _, number = name.rpartition("#")
    return f"{head}#{int(number) + 1}" if head and number.isdecimal() else f"{name}#2"


def _traits(machine: Machine) -> Iterator[tuple[Text, str]]:
    """What machines of a group are told apart by; empty where it is not known."""
    driver = machine.driver.version
    if not isinstance(driver, Known):
        driver = next((one.version for one in value_or(machine.driver.loaded, ()) if isinstance(one.version, Known)), driver)
    yield _DRIVER, str(driver.value) if isinstance(driver, Known) else ""
    yield _GPUS, _row(value_or(gpu.name, "") for gpu in value_or(machine.gpus, ()))
    yield _TOOLKITS, _row(str(value_or(one.version, "")) for one in value_or(machine.toolkits, ()))
    environments = value_or(machine.environments, ())
    yield _TORCH, _row(value_or(one.version, "") for each in environments for one in value_or(each.torch, ()))
    distribution = machine.host.distribution
    yield _SYSTEM, distribution.value.name if isinstance(distribution, Known) else ""


def _row(names: Iterable[str]) -> str:
    counts = Counter(filter(None, names))
    return ", ".join(f"{count} × {name}" if count > 1 else name for name, count in sorted(counts.items()))
