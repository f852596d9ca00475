"""A file of the catalogue as values, and what is wrong with one that is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.diagnose.catalogue_entry import Condition, EntryError, read_entry, slots_of
from gpuassist.model.finding import Action, Severity
from tests.rows import for_each

WHOLE = b"""
severity = "problem"
parameters = ["gpu", "alternative"]
links = ["https://docs.nvidia.com/cuda/"]
severity_when = { torch_runs = "info" }
title = [{ when = "alternative", text = "{gpu} has an alternative" }, "{gpu} has none"]
explanation = ["A sentence.", { when = ["alternative", "!family=wsl"], text = "Another with ${{PATH}}." }]

[[remedy]]
when = "alternative"
action = "edit"
text = "Switch."
check = "It shows {alternative}."
commands = [{ key = "use-cuda", version = "{alternative}" }, { key = "doctor" }]

[[remedy]]
text = "Think."
"""
SMALL = 'severity = "info"\ntitle = "x"\n'


def _small(addition: str) -> bytes:
    return (SMALL + addition).encode()


def test_severity_and_its_exceptions_are_read() -> None:
    entry = read_entry(WHOLE)
    assert entry.severity is Severity.PROBLEM
    assert entry.severity_when == ((Condition("torch_runs"), Severity.INFO),)


def test_title_has_a_form_for_each_condition() -> None:
    conditional, plain = read_entry(WHOLE).titles
    assert conditional.when == (Condition("alternative"),)
    assert plain.when == ()


def test_single_title_is_a_string() -> None:
    (title,) = read_entry(_small("")).titles
    assert title.message == "x"


def test_several_conditions_stand_in_a_list() -> None:
    assert read_entry(WHOLE).explanation[1].when == (Condition("alternative"), Condition("family", "wsl", negated=True))


def test_remedy_has_commands_with_parameters() -> None:
    remedy = read_entry(WHOLE).remedies[0]
    assert remedy.action is Action.EDIT
    assert [(use.key, use.parameters) for use in remedy.commands] == [("use-cuda", (("version", "{alternative}"),)), ("doctor", ())]


def test_remedy_without_commands_asks_for_no_act() -> None:
    remedy = read_entry(WHOLE).remedies[1]
    assert remedy.action is Action.NONE
    assert remedy.check == ""


def test_remedy_with_commands_is_one_by_default() -> None:
    entry = read_entry(_small('[[remedy]]\ntext = "y"\ncommands = [{ key = "reboot" }]\n'))
    assert entry.remedies[0].action is Action.COMMAND


def test_messages_are_all_that_can_be_said() -> None:
    said = ["{gpu} has an alternative", "{gpu} has none", "A sentence.", "Another with ${{PATH}}."]
    assert list(read_entry(WHOLE).messages()) == [*said, "Switch.", "It shows {alternative}.", "Think."]


def test_slots_are_the_names_in_braces() -> None:
    assert slots_of("{gpu} and {gpu}, ${{PATH}}, {driver}") == {"gpu", "driver"}


def test_defaults_are_words_by_parameter() -> None:
    assert read_entry(_small('[defaults]\npython = "python3"\n')).defaults == (("python", "python3"),)
    assert read_entry(WHOLE).defaults == ()


@pytest.mark.parametrize(
    ("condition", "parameters", "holds"),
    [
        (Condition("a"), {"a": "1"}, True),
        (Condition("a"), {"a": ""}, False),
        (Condition("a"), {}, False),
        (Condition("a", negated=True), {}, True),
        (Condition("a", negated=True), {"a": "1"}, False),
        (Condition("a", "wsl"), {"a": "wsl"}, True),
        (Condition("a", "wsl"), {"a": "debian"}, False),
        (Condition("a", "wsl", negated=True), {"a": "debian"}, True),
        (Condition("a", "wsl", negated=True), {"a": "wsl"}, False),
    ],
)
def test_condition_asks_one_parameter(condition: Condition, parameters: dict[str, str], holds: bool) -> None:
    assert condition.holds(parameters) is holds


@given(st.text(min_size=1), st.text())
def test_negated_condition_is_the_opposite(name: str, value: str) -> None:
    parameters = {name: value}
    assert Condition(name).holds(parameters) is not Condition(name, negated=True).holds(parameters)


@for_each(
    "content",
    [
        b"",
        b"severity = ",
        b"\xff\xfe",
        b'severity = "terrible"\ntitle = "x"\n',
        b'severity = 3\ntitle = "x"\n',
        b'severity = "info"\n',
        b'severity = "info"\ntitle = 3\n',
        b'severity = "info"\ntitle = []\n',
        b'severity = "info"\n[title]\nen = "x"\n',
        b'severity = "info"\ntitle = { when = "a" }\n',
        b'severity = "info"\ntitle = [{ when = "a", text = "x" }]\n',
        _small('explanation = [{ when = 3, text = "x" }]\n'),
        _small('explanation = [{ when = ["!"], text = "x" }]\n'),
        _small('explanation = [{ when = [3], text = "x" }]\n'),
        _small('explanation = [["x"]]\n'),
        _small('explanation = "{"\n'),
        _small('explanation = "{}"\n'),
        _small('explanation = "{a.b}"\n'),
        _small('explanation = "{a!r}"\n'),
        _small('explanation = "{a:>3}"\n'),
        _small('[[remedy]]\ncheck = "x"\n'),
        _small('[[remedy]]\ntext = "y"\ncheck = 3\n'),
        _small('[[remedy]]\ntext = "x"\naction = "pray"\n'),
        _small('[[remedy]]\ntext = "x"\ncommands = ["reboot"]\n'),
        _small('[[remedy]]\ntext = "x"\ncommands = [{ version = "1" }]\n'),
        _small('[[remedy]]\ntext = "x"\ncommands = [{ key = "reboot", times = 3 }]\n'),
        _small("[severity_when]\na = 1\n"),
        _small("[defaults]\na = 1\n"),
        b'severity = "info"\nlinks = [1]\ntitle = "x"\n',
        b'severity = "info"\ndefaults = "a"\ntitle = "x"\n',
        b'severity = "info"\nparameters = "a"\ntitle = "x"\n',
    ],
)
def test_anything_else_is_named_as_an_error(content: bytes) -> None:
    with pytest.raises(EntryError) as caught:
        read_entry(content)
    assert str(caught.value)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_else(content: bytes) -> None:
    with pytest.raises(EntryError):
        read_entry(content)
