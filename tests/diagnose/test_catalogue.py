"""Findings as answers: the words, the severity, the remedies for a family, and what happens without a description."""

from __future__ import annotations

import gettext

import pytest

from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import CommandRecord
from gpuassist.model.finding import Action, Answer, CommandUse, Evidence, Finding, Remedy, Severity
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import Parameter, Text, text, verbatim
from gpuassist.model.words import ENGLISH, Words
from tests.translations import words_of

ENTRY = """
severity = "problem"
parameters = ["gpu", "version", "fine"]
links = ["https://docs.nvidia.com/cuda/"]
severity_when = { "fine" = "info", "version=12.4" = "warning" }
title = [{ when = "version", text = "{gpu} wants {version}" }, "{gpu} wants something"]
explanation = [
    "First.",
    { when = "version", text = "Then ${{PATH}} and {version}." },
    { when = "family=debian", text = "On Debian." },
]
"""
CHINESE = {
    "{gpu} wants {version}": "{gpu}需要{version}",
    "First.": "一。",
    "Then ${{PATH}} and {version}.": "二。",
    "{sentences} {sentence}": "{sentences}{sentence}",
}
FAMILIES = (Family.UBUNTU, Family.ANY)
EVIDENCE = (Evidence(text("nvcc"), verbatim("11.7"), "/usr/bin/nvcc"),)


def _record(
    key: str, family: Family, line: str, *parameters: str, root: bool = False, action: Action = Action.COMMAND
) -> CommandRecord:
    return CommandRecord(key, family, (line,), parameters, root, action, "manual", "2026-11-21")


RECORDS = [
    _record("use-cuda", Family.ANY, "gpuassist use cuda {version}", "version"),
    _record("install", Family.UBUNTU, "sudo apt install cuda-{version:dashed}", "version", root=True),
    _record("reboot", Family.ANY, "sudo systemctl reboot", root=True, action=Action.REBOOT),
    _record("new-terminal", Family.ANY, "exec $SHELL -l", action=Action.NEW_SHELL),
]
COMMANDS = Commands({(one.key, one.family.value): one for one in RECORDS})


def _catalogue(content: str = ENTRY, remedies: str = "", added: str = "") -> Catalogue:
    return Catalogue({"problems/wants.toml": (content.replace("\n]\n", f"\n{added}]\n") + remedies).encode()}.__getitem__, COMMANDS)


def _finding(**parameters: Parameter) -> Finding:
    return Finding("wants", tuple(parameters.items()), EVIDENCE)


def _answer(
    remedies: str = "", *, families: tuple[Family, ...] = FAMILIES, words: Words = ENGLISH, **parameters: Parameter
) -> Answer:
    return _catalogue(remedies=remedies).answer(_finding(gpu="RTX 4090", **parameters), families=families, words=words)


def test_answer_carries_id_evidence_and_links() -> None:
    answer = _answer()
    assert (answer.id, answer.evidence, answer.links) == ("wants", EVIDENCE, ("https://docs.nvidia.com/cuda/",))


def test_title_is_the_first_that_holds() -> None:
    assert _answer(version="12.4").title == "RTX 4090 wants 12.4"
    assert _answer().title == "RTX 4090 wants something"


def test_explanation_joins_the_sentences_that_hold() -> None:
    assert _answer(version="12.4").explanation == "First. Then ${PATH} and 12.4."
    assert _answer().explanation == "First."


def test_condition_can_ask_for_the_family() -> None:
    assert _answer(families=(Family.DEBIAN,)).explanation == "First. On Debian."


@pytest.mark.parametrize(
    ("parameters", "severity"),
    [
        ({}, Severity.PROBLEM),
        ({"fine": "yes"}, Severity.INFO),
        ({"version": "12.4"}, Severity.WARNING),
        ({"version": "11.8"}, Severity.PROBLEM),
        ({"fine": "yes", "version": "12.4"}, Severity.INFO),
    ],
)
def test_severity_depends_on_parameters(parameters: dict[str, Parameter], severity: Severity) -> None:
    assert _answer("", **parameters).severity is severity  # type: ignore[arg-type]


def test_chinese_sentences_are_joined_without_a_space() -> None:
    answer = _answer(words=words_of("zh_CN", CHINESE), version="12.4")
    assert (answer.title, answer.explanation) == ("RTX 4090需要12.4", "一。二。")


def test_parameters_that_are_texts_are_rendered() -> None:
    assert _answer(version=text("release {number}", number="12.4")).title == "RTX 4090 wants release 12.4"


def test_remedy_renders_its_commands_for_the_family() -> None:
    commands = 'commands = [{ key = "install", version = "{version}" }]\n'
    remedy = f'[[remedy]]\ntext = "Install {{version}}."\ncheck = "See {{gpu}}."\n{commands}'
    (answered,) = _answer(remedy, version="12.4").remedies
    assert (answered.text, answered.check) == ("Install 12.4.", "See RTX 4090.")
    assert answered.commands == (CommandUse("install", (("version", "12.4"),), ("sudo apt install cuda-12-4",)),)


def test_remedy_needs_root_where_one_command_does() -> None:
    edit = '[[remedy]]\naction = "edit"\ntext = "Switch."\ncommands = [{ key = "use-cuda", version = "12.4" }]\n'
    both = edit.replace("}]", '}, { key = "reboot" }]')
    switched, restarted = _answer(edit + both).remedies
    assert (switched.needs_root, restarted.needs_root) == (False, True)
    assert switched.action is Action.EDIT


@pytest.mark.parametrize(
    ("keys", "action"),
    [
        (["new-terminal"], Action.NEW_SHELL),
        (["reboot"], Action.REBOOT),
        (["new-terminal", "reboot"], Action.REBOOT),
        ([], Action.NONE),
    ],
)
def test_remedy_asks_for_the_act_of_its_commands(keys: list[str], action: Action) -> None:
    commands = ", ".join(f'{{ key = "{key}" }}' for key in keys)
    (remedy,) = _answer(f'[[remedy]]\ntext = "Do it."\ncommands = [{commands}]\n').remedies
    assert remedy.action is action


def test_remedy_that_the_family_has_no_command_for_is_left_out() -> None:
    remedy = '[[remedy]]\ntext = "Install."\ncommands = [{ key = "install", version = "1" }, { key = "reboot" }]\n'
    assert len(_answer(remedy).remedies) == 1
    assert _answer(remedy, families=(Family.ARCH, Family.ANY)).remedies == ()


def test_remedy_whose_condition_fails_is_left_out() -> None:
    remedy = '[[remedy]]\nwhen = "version"\ntext = "Switch."\n'
    assert _answer(remedy).remedies == ()
    assert len(_answer(remedy, version="12.4").remedies) == 1


def test_words_with_an_unfilled_slot_are_left_out() -> None:
    finding = Finding("wants", (("gpu", "RTX 4090"),), EVIDENCE)
    answer = _catalogue(added='"It wants {wanted}.",').answer(finding, families=FAMILIES, words=ENGLISH)
    assert answer.explanation == "First."


def test_remedy_with_an_unfilled_slot_is_left_out() -> None:
    remedy = '[[remedy]]\ntext = "Install {version}."\n'
    assert _answer(remedy).remedies == ()
    assert [one.text for one in _answer(remedy, version="12.4").remedies] == ["Install 12.4."]


def test_remedy_whose_command_lacks_a_parameter_is_left_out() -> None:
    remedy = '[[remedy]]\ntext = "Install."\ncommands = [{ key = "install", version = "{version}" }]\n'
    assert _answer(remedy).remedies == ()
    assert _answer(remedy, version="").remedies == ()


def test_check_with_an_unfilled_slot_is_left_out() -> None:
    (remedy,) = _answer('[[remedy]]\ntext = "Wait."\ncheck = "It shows {version}."\n').remedies
    assert (remedy.text, remedy.check) == ("Wait.", "")


def test_title_with_an_unfilled_slot_gives_way_to_the_next() -> None:
    entry = 'severity = "info"\ntitle = [{ when = "!none", text = "{gpu} waits" }, "Something waits"]\n'
    answer = _catalogue(entry).answer(_finding(), families=FAMILIES, words=ENGLISH)
    assert answer.title == "Something waits"


def test_last_title_stands_though_a_slot_is_empty() -> None:
    entry = 'severity = "info"\ntitle = "The {gpu} waits"\n'
    answer = _catalogue(entry).answer(_finding(), families=FAMILIES, words=ENGLISH)
    assert answer.title == "The waits"


def test_defaults_fill_slots_but_not_conditions() -> None:
    remedies = '[[remedy]]\nwhen = "!version"\ntext = "Install {version}."\n[[remedy]]\nwhen = "version"\ntext = "Exactly that."\n'
    entry = ENTRY + '[defaults]\nversion = "any"\n' + remedies
    answer = _catalogue(entry).answer(_finding(), families=FAMILIES, words=ENGLISH)
    assert [one.text for one in answer.remedies] == ["Install any."]


def test_parameter_of_the_finding_wins_over_the_default() -> None:
    entry = ENTRY + '[defaults]\nversion = "any"\n[[remedy]]\ntext = "Install {version}."\n'
    answer = _catalogue(entry).answer(_finding(version="12.4"), families=FAMILIES, words=ENGLISH)
    assert [one.text for one in answer.remedies] == ["Install 12.4."]


@pytest.mark.parametrize(
    ("parameters", "explanation"),
    [
        ({"a": "1", "b": "2"}, "1. 2. End."),
        ({"a": "1"}, "1. No b. End."),
        ({"b": "2"}, "No a. 2. End."),
        ({"c": "3"}, "C 3. No b. End."),
        ({}, "No a. No b. End."),
    ],
)
def test_otherwise_stands_where_the_sentence_before_does_not(parameters: dict[str, Parameter], explanation: str) -> None:
    words = ("{a}.", "C {c}.", "No a.", "{b}.", "No b.", "End.")
    sentences = [
        f'{{ when = "otherwise", text = "{one}" }}' if place in {1, 2, 4} else f'"{one}"' for place, one in enumerate(words)
    ]
    entry = f'severity = "info"\ntitle = "x"\nexplanation = [{", ".join(sentences)}]\n'
    answer = _catalogue(entry).answer(_finding(**parameters), families=FAMILIES, words=ENGLISH)
    assert answer.explanation == explanation


def test_otherwise_remedy_stands_where_the_one_before_was_left_out() -> None:
    first = '[[remedy]]\ntext = "Install."\ncommands = [{ key = "install", version = "{version}" }]\n'
    second = '[[remedy]]\nwhen = ["otherwise", "gpu"]\ntext = "Look it up."\n'
    assert [one.text for one in _answer(first + second).remedies] == ["Look it up."]
    assert [one.text for one in _answer(first + second, version="1").remedies] == ["Install."]


def test_surroundings_fill_commands_and_conditions() -> None:
    remedy = '[[remedy]]\nwhen = "place"\ntext = "At {place}."\n'
    answer = _catalogue(remedies=remedy).answer(_finding(), families=FAMILIES, words=ENGLISH, surroundings={"place": "here"})
    assert [one.text for one in answer.remedies] == ["At here."]


def test_finding_wins_over_surroundings() -> None:
    answer = _catalogue().answer(_finding(gpu="its own"), families=FAMILIES, words=ENGLISH, surroundings={"gpu": "another"})
    assert answer.title == "its own wants something"


def test_unknown_system_gets_what_serves_any() -> None:
    remedy = '[[remedy]]\nwhen = "family=any"\ntext = "Anywhere."\n'
    assert [one.text for one in _answer(remedy, families=()).remedies] == ["Anywhere."]


def _missing(name: str) -> bytes:
    raise FileNotFoundError(2, "No such file or directory", f"/somewhere/{name}")


def test_missing_description_is_said_with_the_id() -> None:
    answer = Catalogue(_missing, COMMANDS).answer(_finding(), families=FAMILIES, words=ENGLISH)
    assert "wants" in answer.title
    assert "description is missing" in answer.explanation
    assert "No such file or directory" in answer.explanation
    assert (answer.severity, answer.evidence, answer.remedies) == (Severity.PROBLEM, EVIDENCE, ())


@pytest.mark.parametrize(
    "content",
    [
        "not toml",
        ENTRY + '[[remedy]]\ntext = "x"\ncommands = [{ key = "no-such-key" }]\n',
        ENTRY + '[[remedy]]\ntext = "x"\ncommands = [{ key = "use-cuda" }]\n',
    ],
)
def test_damaged_description_is_said_with_the_id(content: str) -> None:
    answer = _catalogue(content).answer(_finding(gpu="x"), families=FAMILIES, words=ENGLISH)
    assert answer.title == "A problem that is known as wants was found"
    assert "damaged" in answer.explanation


class _Shouting(Words, frozen=True):
    """A language in which everything is loud."""

    def __call__(self, text: Text) -> str:
        return super().__call__(text).upper()


_SHOUTING = _Shouting("xx", gettext.NullTranslations())


def test_missing_description_is_told_in_the_users_words() -> None:
    answer = Catalogue(_missing, COMMANDS).answer(_finding(), families=FAMILIES, words=_SHOUTING)
    assert answer.title == "A PROBLEM THAT IS KNOWN AS WANTS WAS FOUND"


def test_only_the_problem_that_was_found_is_read() -> None:
    read: list[str] = []

    def reader(name: str) -> bytes:
        read.append(name)
        return ENTRY.encode()

    Catalogue(reader, COMMANDS).answer(_finding(), families=FAMILIES, words=ENGLISH)
    assert read == ["problems/wants.toml"]


PLANS = """
[[remedy]]
plan = "driver"
text = "Install it."

[[remedy]]
plan = "torch=={version}"
text = "Or keep {version}."

[[remedy]]
when = ["!planned"]
text = "Ask whoever owns it."
"""
INSTALL, RESTART = Step(StepKind.ROOT_COMMAND, text("Install")), Step(StepKind.REBOOT, text("Restart"))


def _planned(known: dict[str, tuple[Step, ...]], **parameters: Parameter) -> list[tuple[str, str]]:
    """The remedies by their goals and words, where these goals can be planned."""

    def planner(finding: Finding, goal: str, does: str) -> Remedy | None:
        return Remedy(does, (), False, Action.COMMAND, "", goal, known[goal]) if goal in known else None

    answer = _catalogue(remedies=PLANS).answer(_finding(**parameters), families=FAMILIES, words=ENGLISH, planner=planner)
    return [(one.goal, one.text) for one in answer.remedies]


def test_plans_stand_for_what_is_said_without_one() -> None:
    assert _planned({"driver": (INSTALL,), "torch==2.6": (RESTART,)}, version="2.6") == [
        ("driver", "Install it."),
        ("torch==2.6", "Or keep 2.6."),
    ]
    assert _planned({}, version="2.6") == [("", "Ask whoever owns it.")]


def test_the_same_steps_are_no_other_way() -> None:
    assert _planned({"driver": (INSTALL,), "torch==2.6": (INSTALL,)}, version="2.6") == [("driver", "Install it.")]


def test_another_way_that_leads_nowhere_is_left_out() -> None:
    assert _planned({"driver": (INSTALL,), "torch==2.6": ()}, version="2.6") == [("driver", "Install it.")]
    assert _planned({"driver": (), "torch==2.6": (INSTALL,)}, version="2.6")[0] == ("driver", "Install it.")


def test_a_goal_with_an_unknown_parameter_is_not_planned() -> None:
    assert _planned({"driver": (INSTALL,), "torch==": (RESTART,)}) == [("driver", "Install it.")]


def test_a_plan_has_no_commands_of_its_own() -> None:
    added = 'commands = [{ key = "reboot" }]\n'
    answer = _catalogue(remedies=f'[[remedy]]\nplan = "driver"\ntext = "Install it."\n{added}').answer(
        _finding(), families=FAMILIES, words=ENGLISH
    )
    assert answer.title.startswith("A problem that is known as wants")
