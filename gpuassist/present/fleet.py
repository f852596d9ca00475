"""A fleet's diagnosis in words, and as the contract of `doctor --fleet --json` has it."""

from __future__ import annotations

from gpuassist.knowledge.families import Family
from gpuassist.model.codec import Json
from gpuassist.model.text import Text, counted, joined, listed, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.answer_document import SCHEMA, remedies_document
from gpuassist.session.fleet import FleetDiagnosis, FleetGroup, FleetTrait, OpenGroup

NAMES_SHOWN, VALUES_SHOWN, TITLES_SHOWN = 12, 6, 3
_NO_DISTRIBUTION = {Family.ANY: "", Family.WSL: "WSL"}


def fleet_title(found: FleetDiagnosis) -> Text:
    count = len(found.machines)
    if not count:
        return text("No machine could be read")
    sound = len(found.healthy)
    if sound == count:
        return counted("{count} machine, and nothing is wrong with it", "{count} machines, and nothing is wrong with any", count)
    return counted("{sound} of {count} machine is healthy", "{sound} of {count} machines are healthy", count, sound=sound)


def group_title(group: FleetGroup, machines: int) -> Text:
    """`17 of 20 machines (ubuntu): …`."""
    family = _NO_DISTRIBUTION.get(group.family, group.family.value)
    count, title = len(group.machines), group.answer.title
    if family:
        return text("{count} of {all} ({family}): {title}", count=count, all=machines, family=family, title=title)
    return text("{count} of {all}: {title}", count=count, all=machines, title=title)


def other_titles(group: FleetGroup) -> tuple[Text, ...]:
    """As which else it is known on its machines."""
    more = len(group.titles) - TITLES_SHOWN
    shown = tuple(text("also: {title}", title=one) for one in group.titles[:TITLES_SHOWN])
    return (*shown, counted("and {count} more such title", "and {count} more such titles", more)) if more > 0 else shown


def names_words(names: tuple[str, ...]) -> Text:
    """The first of them by name, and how many more there are."""
    more = len(names) - NAMES_SHOWN
    if more <= 0:
        return listed(names)
    first = listed(names[:NAMES_SHOWN])
    return counted("{names} and {count} more", "{names} and {count} more", more, names=first)


def differs_words(trait: FleetTrait) -> Text:
    """`driver: 535.104.05 (12), 525.60.13 (5)`."""
    shown = [f"{value or '?'} ({len(names)})" for value, names in trait.values[:VALUES_SHOWN]]
    if len(trait.values) > VALUES_SHOWN:
        shown.append("…")
    return text("differs, {fact}: {values}", fact=trait.fact, values=listed(shown))


def open_words(group: OpenGroup, machines: int) -> Text:
    return text("{count} of {all}: {fact}: {reason}", count=len(group.machines), all=machines, fact=group.fact, reason=group.reason)


def fleet_figures(found: FleetDiagnosis) -> Text:
    parts = [counted("{count} machine", "{count} machines", len(found.machines))]
    if found.unread:
        parts.append(counted("{count} could not be read", "{count} could not be read", len(found.unread)))
    return joined(tuple(parts)) if len(parts) > 1 else parts[0] if parts else verbatim("")


def fleet_document(found: FleetDiagnosis, words: Words) -> Json:
    return {
        "schema": SCHEMA,
        "machines": len(found.machines),
        "healthy": list(found.healthy),
        "groups": [_group(one, words) for one in found.groups],
        "undetermined": [
            {"id": one.problem, "fact": words(one.fact), "reason": words(one.reason), "machines": list(one.machines)}
            for one in found.undetermined
        ],
        "unread": [{"machine": one.name, "reason": words(one.reason)} for one in found.unread],
    }


def _group(group: FleetGroup, words: Words) -> Json:
    return {
        "id": group.answer.id,
        "severity": group.answer.severity.value,
        "title": group.answer.title,
        "titles": list(group.titles),
        "family": group.family.value,
        "machines": list(group.machines),
        "example": group.example,
        "explanation": group.answer.explanation,
        "differs": [
            {"fact": words(one.fact), "values": [{"value": value or None, "machines": list(names)} for value, names in one.values]}
            for one in group.differs
        ],
        "remedies": remedies_document(group.answer, words),
        "links": list(group.answer.links),
    }
