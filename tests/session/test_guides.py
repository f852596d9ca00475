"""The guides: each in both languages, each that a problem names is there, and none names a command that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli.main import COMMANDS
from gpuassist.context import Session, languages
from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.model.words import ENGLISH
from gpuassist.session.guides import GuideError, guide, topics
from gpuassist.session.terms import glossary
from gpuassist.system.resources import Resources
from tests.fakes import world_under
from tests.values import knowledge

RESOURCES = Resources()
SESSION = Session(world_under(Path("/nowhere")), knowledge(), ENGLISH)
TOPICS = topics(SESSION)
TERMS = glossary(SESSION)
EXPECTED = {
    "choosing-devices",
    "cuda-versions",
    "faster-dataloader",
    "freeing-memory",
    "installing-torch",
    "memory-numbers",
    "memory-overhead",
    "module-already-loaded",
    "needing-less-memory",
    "precision",
    "profilers",
    "version-pairs",
    "wheels-and-toolkit",
}

every_topic = pytest.mark.parametrize("topic", TOPICS)
every_language = pytest.mark.parametrize("language", languages(RESOURCES))
every_translation = pytest.mark.parametrize("language", languages(RESOURCES)[1:])


def in_language(language: str) -> Session:
    return replace(SESSION, words=replace(ENGLISH, language=language))


def raw(topic: str, language: str) -> str:
    return RESOURCES.read(f"guides/{topic}.{language}.md").decode("utf-8")


def test_every_topic_is_there() -> None:
    assert set(TOPICS) == EXPECTED


@every_topic
@every_language
def test_guide_has_title_and_body(topic: str, language: str) -> None:
    found = guide(in_language(language), topic)
    assert found.topic == topic
    assert found.title
    assert not found.title.startswith("#")
    assert len(found.body) > 400


@every_topic
@every_translation
def test_languages_differ_and_have_the_same_shape(topic: str, language: str) -> None:
    english, translated = raw(topic, "en"), raw(topic, language)
    assert english.partition("\n")[0] != translated.partition("\n")[0]
    for mark in ("\n|", "\n- ", "\n```"):
        assert english.count(mark) == translated.count(mark), mark


@every_topic
def test_chinese_is_written_in_chinese(topic: str) -> None:
    found = {language: bool(re.search(r"[一-鿿]", raw(topic, language))) for language in ("en", "zh_CN")}
    assert found == {"en": False, "zh_CN": True}


@every_topic
@every_translation
def test_languages_run_the_same_programs(topic: str, language: str) -> None:
    english, translated = (set(re.findall(r"`(gpuassist [^`]+)`", raw(topic, one))) for one in ("en", language))
    assert english == translated


@every_topic
def test_own_commands_exist(topic: str) -> None:
    assert {words.split()[1] for words in re.findall(r"`(gpuassist [^`]+)`", raw(topic, "en"))} <= set(COMMANDS)


@every_topic
def test_topics_named_in_a_guide_exist(topic: str) -> None:
    named = set(re.findall(r"--topic ([\w-]+)", raw(topic, "en")))
    assert {one for one in named - EXPECTED if TERMS.term(one) is None} == set()


def test_problems_lead_to_guides_that_exist() -> None:
    named = [
        topic for name in RESOURCES.names("problems", ".toml") for topic in read_entry(RESOURCES.read(f"problems/{name}")).guides
    ]
    assert set(named) == EXPECTED


def test_language_without_a_translation_gets_english() -> None:
    assert guide(in_language("xx"), "precision") == guide(SESSION, "precision")


def test_unknown_topic_names_the_nearest() -> None:
    with pytest.raises(GuideError) as caught:
        guide(SESSION, "freeing-memry")
    assert "did you mean freeing-memory?" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize("topic", ["", "zzz", "../problems/no-driver", "/etc/passwd"])
def test_no_topic_lists_those_that_are(topic: str) -> None:
    with pytest.raises(GuideError) as caught:
        guide(SESSION, topic)
    assert "there are choosing-devices, cuda-versions" in ENGLISH(caught.value.reason)
