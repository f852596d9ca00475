"""A GPU is found by its PCI id and by its name in any spelling; what is newer is answered, what is not known gets the nearest."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus
from gpuassist.session.lookup.gpus import SHELF, answer
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each


def ask(words: str) -> LookupAnswer:
    return answer(KNOWLEDGE, words)


@pytest.mark.parametrize(
    "words", ["10de:2684", "10DE:2684", "0x10de:2684", "0x2684", "2684", "RTX 4090", "NVIDIA GeForce RTX 4090"]
)
def test_every_spelling_finds_the_same_card(words: str) -> None:
    answered = ask(words)
    assert answered.standing is LookupStatus.KNOWN
    assert (answered.record["name"], answered.record["pci_ids"]) == ("GeForce RTX 4090", ["0x2684"])


@for_each(
    ("words", "capability"),
    [
        ("rtx 4090 laptop gpu", "8.9"),
        ("NVIDIA GeForce RTX 2080 Super with Max-Q Design", "7.5"),
        ("RTX 5090 D", "12.0"),
        ("GTX 1080ti", "6.1"),
        ("1080ti", "6.1"),
        ("ASUS TUF Gaming GeForce RTX 4070 SUPER OC", "8.9"),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "8.0"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("Tesla K80", "3.7"),
        ("NVIDIA GB10", "12.1"),
        ("Orin", "8.7"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
    ],
)
def test_decorated_names_are_understood(words: str, capability: str) -> None:
    assert ask(words).record["compute_capability"] == capability


def test_desktop_card_is_not_the_laptops() -> None:
    assert ask("RTX 4090").record["name"] == "GeForce RTX 4090"
    assert "Laptop" in str(ask("RTX 4090 Laptop GPU").record["name"]) or "Mobile" in str(ask("RTX 4090 Laptop GPU").record["name"])


def test_one_name_of_many_ids_is_one_record() -> None:
    ids = ask("RTX 3060").record["pci_ids"]
    assert isinstance(ids, list)
    assert {"0x2487", "0x2503"} <= set(map(str, ids))


def test_id_and_name_give_the_same_record() -> None:
    assert ask("0x2503").record == ask("RTX 3060").record


def test_name_of_different_chips_tells_each() -> None:
    record = ask("GeForce GT 730").record
    others = record["others"]
    assert isinstance(others, list)
    assert (record["compute_capability"], record["architecture"]) == (None, None)
    found = [one["compute_capability"] for one in others if isinstance(one, dict)]
    assert found == ["2.1", "3.0", "3.5"]


@pytest.mark.parametrize(("words", "capability"), [("GT 1030", "6.1"), ("GTX 750 Ti", "5.0")])
def test_card_that_the_id_list_alone_knows_confuses_nobody(words: str, capability: str) -> None:
    assert ask(words).record["compute_capability"] == capability


def test_name_of_different_chips_has_a_source() -> None:
    record = ask("GeForce GT 730").record
    assert record["source"]
    assert record["checked"]


def test_card_that_only_the_id_list_calls_so_is_told_and_decides_nothing() -> None:
    answered = ask("GT 1030")
    assert (answered.record["architecture"], answered.record["compute_capability"]) == ("Pascal", "6.1")
    assert any("10de:0fc5" in ENGLISH(note) for note in answered.notes)


def test_number_that_is_also_a_pci_id_is_told() -> None:
    answered = ask("1080")
    assert answered.record["name"] == "GeForce GTX 1080"
    assert any("GeForce GTX 580" in ENGLISH(note) and "10de:1080" in ENGLISH(note) for note in answered.notes)
    assert ask("10de:1080").record["name"] == ask("0x1080").record["name"] == "GeForce GTX 580"


@for_each(
    ("words", "name"),
    [
        ("4090", "GeForce RTX 4090"),
        ("3060", "GeForce RTX 3060"),
        ("4090 laptop", "GeForce RTX 4090 Laptop GPU"),
        ("4090d", "GeForce RTX 4090 D"),
        ("A6000", "RTX A6000"),
        ("gtx 1060", "GeForce GTX 1060 6GB"),
    ],
)
def test_what_tells_a_product_apart_names_it(words: str, name: str) -> None:
    assert ask(words).record["name"] == name


@for_each(("words", "others"), [("A100", ("A100 SXM4 80GB", "A100-SXM-64GB")), ("RTX 3080", ("GeForce RTX 3080 12GB",))])
def test_name_of_several_sizes_tells_how_the_others_are_named(words: str, others: tuple[str, ...]) -> None:
    (note,) = (told for one in ask(words).notes if "other memory" in (told := ENGLISH(one)))
    assert all(other in note for other in others)
    assert not any("other memory" in ENGLISH(one) for one in ask(others[0]).notes)


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("RTX 4909", "GeForce RTX 4090"),
        ("rtx 4080 sper", "GeForce RTX 4080 SUPER"),
        ("GeForse RTX 3080", "GeForce RTX 3080"),
        ("GTX 1800", "GeForce GTX 1080"),
        ("Tesla V10", "Tesla M10"),
    ],
)
def test_misspelt_name_gets_the_nearest(words: str, first: str) -> None:
    answered = ask(words)
    assert (answered.standing, answered.record) == (LookupStatus.UNKNOWN, {})
    assert 1 <= len(answered.nearest) <= 5
    assert first in answered.nearest


def test_every_nearest_name_can_be_asked() -> None:
    for words in ("RTX 4909", "RTX 5090 Ti", "Quadro P2020", "10de:2783"):
        assert all(ask(name).standing is LookupStatus.KNOWN for name in ask(words).nearest)


@pytest.mark.parametrize("words", ["banana", "AMD Radeon RX 7900 XTX", "%s{0}", "../../etc/passwd", "ü"])
def test_what_is_no_gpu_of_ours_has_no_record(words: str) -> None:
    assert ask(words).standing is LookupStatus.UNKNOWN


@pytest.mark.parametrize("words", ["8086:2684", "1002:744c"])
def test_other_vendors_ids_are_no_gpu(words: str) -> None:
    answered = ask(words)
    assert (answered.standing, answered.nearest) == (LookupStatus.UNKNOWN, ())


@pytest.mark.parametrize("words", ["RTX 6090", "NVIDIA GeForce RTX 7080 Ti", "GeForce RTX 10090", "10de:fffe", "0xfffe"])
def test_newer_gpu_is_answered_by_rule(words: str) -> None:
    answered = ask(words)
    assert answered.standing is LookupStatus.NEWER
    assert "newer than what I know" in ENGLISH(answered.title)
    assert "newer than what I know" in str(answered.record["source"])
    assert (answered.record["compute_capability"], answered.record["pci_ids"] or []) in [(None, []), (None, ["0xfffe"])]


def test_no_card_of_a_known_series_is_newer() -> None:
    assert ask("RTX 5055").standing is LookupStatus.UNKNOWN


@for_each("name", lambda: SHELF.names(KNOWLEDGE), every=4)
def test_every_name_finds_itself(name: str) -> None:
    answered = ask(name)
    assert answered.standing is LookupStatus.KNOWN
    assert answered.record["source"]
    assert answered.record["checked"]


@for_each("record", lambda: SHELF.records(KNOWLEDGE), every=4)
def test_every_pci_id_finds_its_own_record(record: dict[str, object]) -> None:
    ids = record["pci_ids"]
    assert isinstance(ids, list)
    assert all(ask(str(one)).record == record for one in ids[:1])


def test_records_hold_every_pci_id_once() -> None:
    listed = [record["pci_ids"] for record in SHELF.records(KNOWLEDGE)]
    ids = [str(one) for each in listed if isinstance(each, list) for one in each]
    assert sorted(ids) == sorted(f"0x{gpu.pci_id[5:]}" for gpu in KNOWLEDGE.gpus() if gpu.pci_id)


def test_memory_is_a_number_or_unknown() -> None:
    sizes = {type(record["memory_bytes"]) for record in SHELF.records(KNOWLEDGE)}
    assert sizes <= {int, type(None)}


@pytest.mark.parametrize("words", ["RTX 4090", "2684", "0xffff", "RTX 6090"])
def test_empty_base_knows_nothing_and_survives(words: str) -> None:
    assert answer(Knowledge(lambda name: b""), words).standing is LookupStatus.UNKNOWN
