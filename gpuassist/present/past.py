"""What changed on a machine, in sentences: a line a change, what stands under it, and as a part of the answer that it explains."""

from __future__ import annotations

from datetime import datetime, timedelta

from gpuassist.diagnose.past.moments import moment
from gpuassist.formats.visible import shortened
from gpuassist.model.codec import Json
from gpuassist.model.finding import Answer
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import OURSELVES, RECORDING, Direction, MachineChange, Past, Subject
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.words import Words

SCHEMA = 1
_PACKAGES_NAMED = 3
_LONGEST = 160
_LONGEST_PROGRAM = 60  # the whole command line stands in the log and in the document

_MONTHS = (
    text("January"),
    text("February"),
    text("March"),
    text("April"),
    text("May"),
    text("June"),
    text("July"),
    text("August"),
    text("September"),
    text("October"),
    text("November"),
    text("December"),
)
_NAMES = {
    (Subject.COMPUTER, "computer"): text("the computer"),
    (Subject.DRIVER, "driver"): text("driver"),
    (Subject.DRIVER, "driver-libraries"): text("libraries of the driver"),
    (Subject.DRIVER, "driver-module"): text("kernel module of the driver on disk"),
    (Subject.DRIVER, "loaded-module"): text("kernel module that runs"),
    (Subject.KERNEL, "kernel"): text("kernel"),
    (Subject.SECURE_BOOT, "secure-boot"): text("Secure Boot"),
    (Subject.GPU, "kernel driver"): text("kernel driver of a GPU"),
    (Subject.DISTRIBUTION, "distribution"): text("release"),
    (Subject.TOOLKIT, "CUDA toolkit"): text("CUDA toolkit"),
    (Subject.LIBRARY, "glibc"): text("C library (glibc)"),
    (Subject.SETTING, "compute mode"): text("compute mode"),
}
_COME_OR_GONE = frozenset({Direction.ADDED, Direction.REMOVED})
_OF_ENVIRONMENTS = frozenset({Subject.TORCH, Subject.PYTHON_PACKAGE, Subject.ENVIRONMENT})
_STATES = {"on": text("on"), "off": text("off")}


# When.


def day_words(when: datetime, now: datetime | None = None) -> Text:
    """`14 November`, with the year where it is another one, or where no moment says which year it is."""
    month = _MONTHS[when.month - 1]
    if now is not None and when.year == now.year:
        return text("{day} {month}", day=when.day, month=month)
    return text("{day} {month} {year}", day=when.day, month=month, year=str(when.year))


def when_words(at: str, now: datetime | None = None) -> Text:
    """`today at 03:12`, `yesterday at 17:40`, `14 November, 18:00`; as it is written where it is no moment."""
    when = moment(at)
    if when is None:
        return verbatim(at)
    when = _local(when, now)
    clock = f"{when:%H:%M}"
    if now is not None and when.date() == now.date():
        return text("today at {time}", time=clock)
    if now is not None and when.date() == now.date() - timedelta(days=1):
        return text("yesterday at {time}", time=clock)
    return text("{day}, {time}", day=day_words(when, now), time=clock)


def _local(when: datetime, now: datetime | None) -> datetime:
    """By the clock on the wall then, which most logs write; what is written in UTC, by the one of today."""
    if now is not None and now.tzinfo is not None and when.utcoffset() == timedelta(0):
        return when.astimezone(now.tzinfo)
    return when


def _time_of(change: MachineChange, now: datetime | None) -> Text | None:
    if change.at:
        return when_words(change.at, now)
    if change.earliest and change.latest:
        return text("after {earliest}", earliest=when_words(change.earliest, now))
    return None


# A change in a line.


def change_words(change: MachineChange, now: datetime | None = None) -> Text:
    """`driver 570.86.15 → 580.95.05 (unattended-upgrade, today at 03:12)`."""
    about = tuple(part for part in (_who(change), _time_of(change, now)) if part is not None)
    what = _what_became(change)
    if not about:
        return what
    if len(about) == 1:
        return text("{what} ({about})", what=what, about=about[0])
    return text("{what} ({who}, {when})", what=what, who=about[0], when=about[1])


def name_words(change: MachineChange) -> Text:
    """What changed."""
    name, place = change.name, change.place
    known = _NAMES.get((change.subject, name))
    if known is not None:
        return known
    if change.subject is Subject.ENVIRONMENT and name == place:
        return text("environment {name}", name=name)
    if change.subject in _OF_ENVIRONMENTS and place:
        return text("{package} in {environment}", package=name, environment=place)
    if change.subject is Subject.GPU and change.direction in _COME_OR_GONE and (change.before or change.after):
        return text("{gpu} at {address}", gpu=name, address=change.before or change.after)
    if change.subject is Subject.GPU and change.direction is Direction.CHANGED and _is_address(change.after):
        return text("PCI address of the {gpu}", gpu=name)
    if change.subject is Subject.GPU and ":" in name:
        return text("GPU at {address}", address=name)
    if change.subject is Subject.STARTUP_FILE:
        return _line_of(place or name)
    if change.subject is Subject.SETTING and place not in {"", name}:
        return text("{name} in {place}", name=name, place=place)
    return text("{name} of a new terminal", name=name) if change.subject is Subject.VARIABLE else verbatim(name)


_PCI_ADDRESS = lazy_regex(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")


def _is_address(words: str) -> bool:
    return _PCI_ADDRESS.fullmatch(words) is not None


def _line_of(place: str) -> Text:
    path, _, number = place.rpartition(":")
    return text("{path}, line {number}", path=path, number=number) if path and number.isdigit() else verbatim(place)


def _what_became(change: MachineChange) -> Text:
    what, before, after = name_words(change), _shown(change.before), _shown(change.after)
    if not _has_versions(change):
        return _without_versions(change, what)
    if change.direction is Direction.REINSTALLED:
        return text("{what} {version} was installed again", what=what, version=after)
    if change.direction is Direction.DOWNGRADED and change.before:
        return text("{what} {before} → {after}, which is older", what=what, before=before, after=after)
    if change.before and change.after:
        return text("{what} {before} → {after}", what=what, before=before, after=after)
    if change.direction is Direction.CHANGED:
        return text("{what} was changed: {after}", what=what, after=after) if change.after else _without_versions(change, what)
    if change.after:
        return text("{what} is new: {after}", what=what, after=after)
    if change.subject is Subject.ENVIRONMENT:
        return text("{what} is gone, with {before}", what=what, before=before)
    return text("{what} is gone, it was {before}", what=what, before=before)


def _has_versions(change: MachineChange) -> bool:
    """Whether what it was or is says more than its name."""
    if change.subject is Subject.STARTUP_FILE or (change.subject is Subject.GPU and change.direction in _COME_OR_GONE):
        return False
    return bool({change.before, change.after} - {"", change.name})


def _without_versions(change: MachineChange, what: Text) -> Text:
    if change.direction is Direction.REINSTALLED:
        return text("{what} was installed again", what=what)
    if change.direction is Direction.ADDED:
        return text("{what} is new", what=what)
    return text("{what} is gone", what=what) if change.direction is Direction.REMOVED else text("{what} was changed", what=what)


def _shown(words: str) -> Text:
    return _STATES.get(words) or verbatim(shortened(words, _LONGEST))


def _who(change: MachineChange) -> Text | None:
    """What did it and for whom, as far as a log says."""
    if change.by == OURSELVES:
        return text("by gpuassist")
    program = shortened(change.by, _LONGEST_PROGRAM)
    if program and change.user:
        return text("{program} by {user}", program=program, user=change.user)
    if program:
        return verbatim(program)
    return text("by {user}", user=change.user) if change.user else None


def detail_words(change: MachineChange) -> tuple[Text, ...]:
    """What stands under it: the lines of a file, what came with it, what is still to come, and the way back."""
    found = []
    if change.subject is Subject.STARTUP_FILE:
        found += [text("- {line}", line=line) for line in change.before.split("\n") if change.before]
        found += [text("+ {line}", line=line) for line in change.after.split("\n") if change.after]
    if change.waits:
        found.append(text("The previous version keeps running until the computer is restarted."))
    packages = _with_it(change)
    more, named = len(packages) - _PACKAGES_NAMED, ", ".join(packages[:_PACKAGES_NAMED])
    if more > 0:
        found.append(counted("With it {named} and {count} more", "With it {named} and {count} more", more, named=named))
    elif named:
        found.append(text("With it {named}", named=named))
    if change.undo:
        found.append(text("To undo it: {command}", command=change.undo))
    return tuple(found)


def _with_it(change: MachineChange) -> tuple[str, ...]:
    """Of the system's packages without their versions, which are much the same as that of the change."""
    if change.subject in _OF_ENVIRONMENTS:
        return change.packages
    return tuple(dict.fromkeys(one.partition(" ")[0] for one in change.packages))


# The whole answer.


_IN_ORDER = {"doctor": text("doctor found no problem"), "verify": text("its GPUs passed verify")}


def title(past: Past, now: datetime | None = None) -> Text:
    """Since when, and what that is compared with."""
    when = when_words(past.since, now)
    if past.by == RECORDING:
        return text("Since the recording of {when}", when=when) if past.since else text("Since the recording")
    if not past.kept:
        return text("No state of this machine was kept yet; the package logs since {when} show this", when=when)
    if past.unchanged_since:
        same = when_words(past.unchanged_since, now)
        if not past.changes:
            return text("Nothing that matters here changed since {when}", when=when)
        return text("Nothing changed since {same}. Before that, since {when}", same=same, when=when)
    sound = _IN_ORDER.get(past.by, _IN_ORDER["doctor"])
    if not past.changes:
        return text("Nothing that matters here changed since {when}, when {sound}", when=when, sound=sound)
    return text("Since {when}, when {sound}", when=when, sound=sound)


def beside_words(past: Past) -> Text | None:
    """The packages that are counted alone; None where there is none."""
    packages = tuple(dict.fromkeys(name for one in past.beside for name in (one.name, *_with_it(one))))
    if not packages:
        return None
    names = tuple(dict.fromkeys(one.lstrip("+−") for one in packages))
    more, named = len(names) - _PACKAGES_NAMED, ", ".join(names[:_PACKAGES_NAMED])
    if more > 0:
        return counted(
            "Also changed, and seldom the cause of trouble with a GPU: {named} and {count} more package.",
            "Also changed, and seldom the cause of trouble with a GPU: {named} and {count} more packages.",
            more,
            named=named,
        )
    return text("Also changed, and seldom the cause of trouble with a GPU: {named}.", named=named)


def explained_words(change: MachineChange, now: datetime | None = None) -> Text:
    """As a part of the answer to what it may have led to: a whole sentence."""
    done = _sentence(change, now)
    if not change.waits:
        return text("{done}.", done=done)
    return text("{done}, and the computer was not restarted since.", done=done)


def explanation_of(answer: Answer, words: Words, now: datetime | None = None) -> str:
    """What an answer explains, and after it the changes of this machine that it may come from."""
    told = answer.explanation
    for change in answer.since:
        one = words(explained_words(change, now))
        told = words(text("{sentences} {sentence}", sentences=told, sentence=one)) if told else one
    return told


_IN_SENTENCES = {
    (Subject.DRIVER, "driver"): text("The driver"),
    (Subject.DRIVER, "driver-libraries"): text("The libraries of the driver"),
    (Subject.DRIVER, "driver-module"): text("The kernel module of the driver on disk"),
    (Subject.DRIVER, "loaded-module"): text("The kernel module that runs"),
    (Subject.KERNEL, "kernel"): text("The kernel"),
    (Subject.COMPUTER, "computer"): text("The computer"),
    (Subject.DISTRIBUTION, "distribution"): text("The release of the distribution"),
}


def _sentence(change: MachineChange, now: datetime | None) -> Text:
    """What was done, when, and by what."""
    what = _IN_SENTENCES.get((change.subject, change.name)) or name_words(change)
    done, when, who = _done(change, what), _time_of(change, now), _who(change)
    if when is not None:
        done = _with_time(change, done, when, now)
    if change.by == OURSELVES:
        return text("{done} by gpuassist", done=done)
    if change.by and change.user:
        return text("{done} by {program} ({user})", done=done, program=change.by, user=change.user)
    if who is None:
        return done
    # Of a user alone the words say "by" themselves.
    return text("{done} by {who}", done=done, who=who) if change.by else text("{done} {who}", done=done, who=who)


def _with_time(change: MachineChange, done: Text, when: Text, now: datetime | None) -> Text:
    at = moment(change.at)
    if at is None:
        return text("{done} some time {when}", done=done, when=when)
    near = now is not None and (now.date() - _local(at, now).date()).days in {0, 1}
    return text("{done} {when}", done=done, when=when) if near else text("{done} on {when}", done=done, when=when)


def _done(change: MachineChange, what: Text) -> Text:
    before, after = _shown(change.before), _shown(change.after)
    if not _has_versions(change) and change.direction in _COME_OR_GONE:
        return (
            text("{what} was added", what=what) if change.direction is Direction.ADDED else text("{what} was taken away", what=what)
        )
    if not _has_versions(change):
        return _without_versions(change, what)
    if change.direction is Direction.REINSTALLED:
        return text("{what} was installed again in version {version}", what=what, version=after)
    if change.direction is Direction.UPGRADED and change.before:
        return text("{what} was upgraded from {before} to {after}", what=what, before=before, after=after)
    if change.direction is Direction.DOWNGRADED and change.before:
        return text("{what} was downgraded from {before} to {after}", what=what, before=before, after=after)
    if change.before and change.after:
        return text("{what} was changed from {before} to {after}", what=what, before=before, after=after)
    if change.direction is Direction.CHANGED:
        return text("{what} was changed: {after}", what=what, after=after) if change.after else _without_versions(change, what)
    if change.after:
        return text("{what} {after} was installed", what=what, after=after)
    return text("{what} {before} was taken away", what=what, before=before)


def past_document(past: Past, words: Words) -> dict[str, Json]:
    """What `changes --json` prints."""
    return {
        "schema": SCHEMA,
        "since": {"at": past.since or None, "kept": past.kept, "by": past.by or None},
        "unchanged_since": past.unchanged_since or None,
        "changes": [change_document(one, words) for one in past.changes],
        "beside": [change_document(one, words) for one in past.beside],
        "notes": [words(one) for one in past.notes],
    }


def change_document(change: MachineChange, words: Words) -> Json:
    """Every field as it is, empty ones as null, and the sentence with whole dates."""
    plain = ("name", "before", "after", "place", "at", "earliest", "latest", "by", "user", "undo")
    return {
        "subject": change.subject.value,
        "direction": change.direction.value,
        **{field: getattr(change, field) or None for field in plain},
        "waits_for_restart": change.waits,
        "packages": list(change.packages),
        "sources": list(change.sources),
        "text": words(change_words(change)),
    }
