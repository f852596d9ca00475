"""The question that a text leaves open, put in the user's words: what may be the cause, and the command that decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.catalogue import Catalogue, Planner
from gpuassist.diagnose.hints import driver_version, in_container, in_wsl
from gpuassist.diagnose.questions import Case, QuestionEntry, questions_about
from gpuassist.diagnose.ranking import UNDECIDED, Rank, Ranking
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.tool_releases import torch_cuda
from gpuassist.knowledge.families import families_of
from gpuassist.model.finding import Answer, Finding, OpenQuestion, QuestionCase, Remedy
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.inspect import in_words

_MOST = 3  # remedies of the likeliest case; of another one fewer, for it is looked up once it is known to be that


class Asked(Struct, frozen=True):
    """A question in place of an answer: what is said instead of it, and the question by its parts."""

    answer: Answer
    question: OpenQuestion


def asked(
    session: Session,
    ranking: Ranking,
    setting: SignatureInput,
    *,
    about: Mapping[str, str],
    refuted: frozenset[str],
    planner: Planner,
) -> Asked | None:
    """The question that the first finding leaves open; None where it is decided, or where facts leave one cause alone."""
    if ranking.rank not in UNDECIDED or not ranking.findings:
        return None
    first = ranking.findings[0]
    ruled_out = "yes" if ranking.rank is Rank.RULED_OUT else ""
    given = {name: str(value) for name, value in first.parameters}
    parameters = {**about, **_of_text(setting), **given, "ruled_out": ruled_out}
    entries = questions_about(first.problem, session.world.resources.read("questions.toml"))
    entry = next((one for one in entries if one.fits(first, parameters)), None)
    if entry is None:
        return None
    cases = tuple(one for one in entry.cases if one.problem not in refuted)
    if len(cases) < 2:
        return None
    return _Asking(session, setting.case.machine, parameters, planner).put(entry, cases, ranking)


def _of_text(setting: SignatureInput) -> dict[str, str]:
    return {
        "torch_cuda": torch_cuda(setting),
        "driver": driver_version(setting),
        "wsl": "yes" if in_wsl(setting) else "",
        "container": "yes" if in_container(setting) else "",
    }


class _Asking:
    """Puts questions to who pasted a text."""

    def __init__(self, session: Session, machine: Machine, parameters: Mapping[str, str], planner: Planner) -> None:
        self._session, self._machine, self._parameters, self._planner = session, machine, parameters, planner

    def put(self, entry: QuestionEntry, cases: tuple[Case, ...], ranking: Ranking) -> Asked:
        first = ranking.findings[0]
        known = {one.problem: one for one in (*ranking.findings, *(doubt.finding for doubt in ranking.less_likely))}
        catalogue = Catalogue(self._session.world.resources.read, self._session.knowledge.commands)
        own = [one.remedy for one in cases if one.remedy is not None]
        said = catalogue.written(
            first,
            entry.entry(own),
            families=families_of(self._machine),
            words=self._session.words,
            surroundings=self._parameters,
        )
        decide, *rest = said.remedies
        remedies, told, of_cases = iter(rest), [decide], list[QuestionCase]()
        for case in cases:
            shows = self._session.words(Text(case.shows, tuple(self._parameters.items())))
            if case.remedy is not None:
                told += self._where(shows, (next(remedies),))
                of_cases.append(QuestionCase(shows, "", ""))
                continue
            finding = known.get(case.problem, Finding(case.problem, (), ()))
            (answer,) = in_words(self._session, self._machine, (finding,), self._planner, setting=self._parameters)
            most = _MOST if case.problem == first.problem else _MOST - 1
            useful = tuple(one for one in answer.remedies if not {use.key for use in one.commands} & case.without)
            told += self._where(shows, useful[:most])
            of_cases.append(QuestionCase(shows, answer.id, answer.title))
        (answer,) = in_words(self._session, self._machine, (first,), self._planner, setting=self._parameters)
        lines = tuple(line for use in decide.commands for line in use.lines)
        question = OpenQuestion(said.title, decide.text, lines, tuple(of_cases))
        return Asked(replace(answer, title=said.title, explanation=said.explanation, remedies=tuple(told)), question)

    def _where(self, shows: str, remedies: tuple[Remedy, ...]) -> Iterator[Remedy]:
        for place, one in enumerate(remedies):
            words = (
                text("In the same case: {remedy}", remedy=one.text)
                if place
                else text("{case}: {remedy}", case=shows, remedy=one.text)
            )
            yield replace(one, text=self._session.words(words))
