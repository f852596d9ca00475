"""One GPU is found under each way in which its name is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.names import alternatives, board, key, looser, product, telling
from tests.knowledge.shipped import KNOWLEDGE


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "GeForce RTX 4090 Mobile"),
        ("NVIDIA GeForce RTX 2080 with Max-Q Design", "GeForce RTX 2080 Max-Q"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM4 80GB"),
        ("Tesla V100-SXM2-16GB", "tesla v100 sxm2 16gb"),
        ("NVIDIA GeForce RTX 3050Ti Laptop GPU", "GeForce RTX 3050 Ti Mobile"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "A100 SXM4 80GB"),
        ("NVIDIA GeForce RTX 5090 D v2", "GeForce RTX 5090 D V2"),
    ],
)
def test_two_spellings_are_one_key(first: str, second: str) -> None:
    assert key(first) == key(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("GeForce RTX 4090", "GeForce RTX 4090 Laptop GPU"),
        ("GeForce RTX 5090", "GeForce RTX 5090 D"),
        ("GeForce RTX 4070", "GeForce RTX 4070 Ti"),
        ("GeForce RTX 4070 Ti", "GeForce RTX 4070 Ti SUPER"),
        ("Quadro RTX 6000", "RTX 6000 Ada Generation"),
        ("RTX A6000", "RTX 6000"),
    ],
)
def test_two_products_are_two_keys(first: str, second: str) -> None:
    assert key(first) != key(second)


def test_looser_drops_memory_and_slot_first() -> None:
    assert looser(key("Tesla V100-PCIE-32GB"))[0] == key("Tesla V100")


def test_looser_drops_mobile_after_that() -> None:
    assert key("Quadro M1200") in looser(key("Quadro M1200 Mobile"))


def test_looser_drops_the_brand_last() -> None:
    assert looser(key("GeForce RTX 5090"))[-1] == key("RTX 5090")


def test_name_of_nothing_but_a_size_finds_nothing() -> None:
    assert looser(key("80GB")) == ()


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("Tesla C2050 / C2070", {"Tesla C2050", "Tesla C2070"}),
        ("A2 / A16", {"A2", "A16"}),
        ("Quadro K620M / Quadro M500M", {"Quadro K620M", "Quadro M500M"}),
        ("GeForce GT 555M/635M", {"GeForce GT 555M", "GeForce GT 635M"}),
    ],
)
def test_name_with_strokes_is_several(name: str, others: set[str]) -> None:
    assert others <= set(alternatives(name))


def test_mobile_after_a_stroke_is_no_product() -> None:
    assert {key(piece) for piece in alternatives("GeForce RTX 4090 Max-Q / Mobile")} == {key("GeForce RTX 4090 Mobile")}


@given(st.text(max_size=60))
def test_any_text_gives_a_key(name: str) -> None:
    assert key(name.upper()) == key(name.upper().lower())


@given(st.text(max_size=60))
def test_any_text_has_alternatives(name: str) -> None:
    assert alternatives(name)[0] == name


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "4090"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("NVIDIA TITAN RTX", "titan"),
        ("Quadro", "quadro"),
        ("NVIDIA", ""),
    ],
)
def test_telling_word_is_the_rarest(name: str, word: str) -> None:
    assert telling(key(name)) == word


@given(st.sampled_from([name for gpu in KNOWLEDGE.gpus() for name in (gpu.name, *gpu.aliases)]))
def test_telling_word_stands_in_the_name(name: str) -> None:
    assert telling(key(name)) in name.lower()


@pytest.mark.parametrize(
    ("name", "words"),
    [("NVIDIA A40-12", "NVIDIA A40"), ("NVIDIA L40S-1-3", "NVIDIA L40S"), ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB")],
)
def test_board_of_a_virtual_gpu_is_in_front(name: str, words: str) -> None:
    assert board(name) == words


@pytest.mark.parametrize("profile", ["-8Q", "-1B4", "-1-5C", "-1-5CME", "-48A"])
def test_profile_of_a_virtual_gpu_does_not_count(profile: str) -> None:
    assert key(f"NVIDIA A100D{profile}") == key("NVIDIA A100D")


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("ASUS TUF Gaming GeForce RTX 4070 SUPER OC", "rtx 4070 super"),
        ("Gigabyte RTX 4070 Ti SUPER Eagle 16G", "rtx 4070 ti super"),
        ("MSI GeForce RTX 3060 Ventus 2X 12G OC", "rtx 3060"),
        ("PNY RTX A4000 16GB", "rtx a4000"),
        ("gtx1080 ti", "gtx 1080 ti"),
        ("1080ti", "gtx 1080 ti"),
        ("4090D", "rtx 4090 d"),
        ("4090 laptop", "rtx 4090 laptop"),
    ],
)
def test_card_is_found_in_what_a_shop_writes(name: str, card: str) -> None:
    assert product(name) == card


@pytest.mark.parametrize(
    "name", ["Radeon RX 7900 XTX", "AMD 4080 something", "Intel Arc A770", "RTX PRO 6000", "Tesla T4", "H100", ""]
)
def test_other_names_hold_no_such_card(name: str) -> None:
    assert product(name) == ""
