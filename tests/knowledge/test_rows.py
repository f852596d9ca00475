"""Knowledge files are read whole, and line by line where one is damaged."""

from __future__ import annotations

import json

import pytest

from gpuassist.knowledge.rows import (
    Row,
    RowError,
    Source,
    flag_of,
    number_of,
    pairs_of,
    parse,
    rows_of,
    source_of,
    text_of,
    texts_of,
)
from gpuassist.model.words import ENGLISH

HEADER = '{"kind": "gpus", "schema": 1, "sources": {"list": {"text": "a list", "checked": "2026-11-21"}}}'
FIRST = '{"name": "one", "source": "list"}'
SECOND = '{"name": "two", "source": "list"}'


def content(*lines: str) -> bytes:
    return ("[\n" + ",\n".join((HEADER, *lines)) + "\n]\n").encode()


def test_whole_file_gives_every_row() -> None:
    rows = parse("x.json", content(FIRST, SECOND))
    assert [row.fields["name"] for row in rows.rows] == ["one", "two"]
    assert rows.damaged == ()


def test_row_knows_its_line() -> None:
    assert [row.line for row in parse("x.json", content(FIRST, SECOND)).rows] == [3, 4]


def test_damaged_line_is_named() -> None:
    rows = parse("x.json", content('{"name": "on', SECOND))
    assert [ENGLISH(words) for words in rows.damaged] == ["x.json, line 3 is damaged and was skipped"]


def test_lines_after_a_damaged_one_are_kept() -> None:
    rows = parse("x.json", content('{"name": "on', SECOND))
    assert [(row.line, row.fields["name"]) for row in rows.rows] == [(4, "two")]


@pytest.mark.parametrize("damage", ["null", "3", '"words"', "[]", "\x00\x01", '{"name": 1,,}'])
def test_line_that_is_no_object_is_named(damage: str) -> None:
    rows = parse("x.json", content(FIRST, damage, SECOND))
    assert [row.line for row in rows.rows] == [3, 5]
    assert len(rows.damaged) == 1


def test_file_cut_short_keeps_what_is_whole() -> None:
    whole = content(FIRST, SECOND)
    rows = parse("x.json", whole[: whole.index(b'"two"')])
    assert [row.fields["name"] for row in rows.rows] == ["one"]
    assert len(rows.damaged) == 1


def test_bytes_that_are_no_utf8_are_named() -> None:
    rows = parse("x.json", content(FIRST, SECOND).replace(b"one", b"on\xff"))
    assert [ENGLISH(words) for words in rows.damaged] == ["x.json, line 3 is damaged and was skipped"]
    assert [row.fields["name"] for row in rows.rows] == ["two"]


def test_lines_are_counted_as_editors_count_them() -> None:
    rows = parse("x.json", content(FIRST.replace("one", "a\u2028b\x85c"), "{"))
    assert [ENGLISH(words) for words in rows.damaged] == ["x.json, line 4 is damaged and was skipped"]


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"name":' * 100_000])
def test_line_of_endless_brackets_is_named(nested: str) -> None:
    rows = parse("x.json", content(nested, SECOND))
    assert [row.fields["name"] for row in rows.rows] == ["two"]
    assert len(rows.damaged) == 1


def test_second_header_is_named() -> None:
    rows = parse("x.json", content(FIRST, HEADER, SECOND))
    assert len(rows.rows) == 2
    assert [ENGLISH(words) for words in rows.damaged] == ["x.json, line 4 is damaged and was skipped"]


def test_file_with_a_byte_order_mark_is_read() -> None:
    assert len(parse("x.json", b"\xef\xbb\xbf" + content(FIRST)).rows) == 1


def test_field_that_nobody_knows_is_left_alone() -> None:
    rows = parse("x.json", content('{"name": "one", "colour": "green", "source": "list"}'))
    assert (len(rows.rows), rows.damaged) == (1, ())


@pytest.mark.parametrize(
    "damage", [b"", b"[]", b"[\n]\n", b"not json at all", b'{"schema": 1}x', content(FIRST).replace(b'1, "so', b'2, "so')]
)
def test_file_without_our_header_has_no_rows(damage: bytes) -> None:
    rows = parse("x.json", damage)
    assert rows.rows == ()
    assert "x.json has no header of schema 1" in [ENGLISH(words) for words in rows.damaged]


def test_sources_are_read_from_the_header() -> None:
    source = parse("x.json", content(FIRST)).sources["list"]
    assert (source.text, source.checked) == ("a list", "2026-11-21")


def test_header_with_odd_sources_is_survived() -> None:
    odd = content(FIRST).replace(b'{"list": {"text": "a list", "checked": "2026-11-21"}}', b'{"list": 3, "b": {"text": 4}}')
    assert set(parse("x.json", odd).sources) == {"b"}


@pytest.mark.parametrize("value", [3, None, [], True])
def test_text_field_of_other_type_is_refused(value: object) -> None:
    with pytest.raises(RowError):
        text_of(Row(1, {"name": value}), "name")


def test_text_field_falls_back_to_default() -> None:
    assert text_of(Row(1, {}), "name", "none") == "none"


def test_missing_text_field_is_refused() -> None:
    with pytest.raises(RowError):
        text_of(Row(1, {}), "name")


def test_flag_left_out_is_false() -> None:
    assert flag_of(Row(1, {}), "integrated") is False


def test_flag_of_other_type_is_refused() -> None:
    with pytest.raises(RowError):
        flag_of(Row(1, {"integrated": 1}), "integrated")


@pytest.mark.parametrize("value", [True, "3", 3.5])
def test_number_of_other_type_is_refused(value: object) -> None:
    with pytest.raises(RowError):
        number_of(Row(1, {"gcc_limit": value}), "gcc_limit")


def test_number_left_out_is_none() -> None:
    assert number_of(Row(1, {}), "gcc_limit") is None


@pytest.mark.parametrize("value", ["one", [1], [None], {"a": 1}])
def test_list_of_texts_holds_only_texts(value: object) -> None:
    with pytest.raises(RowError):
        texts_of(Row(1, {"aliases": value}), "aliases")


def test_inner_rows_keep_the_line() -> None:
    assert rows_of(Row(7, {"chips": [{"chip": "AD102"}]}), "chips") == (Row(7, {"chip": "AD102"}),)


@pytest.mark.parametrize("value", ["AD102", ["AD102"], None])
def test_inner_rows_are_objects(value: object) -> None:
    with pytest.raises(RowError):
        rows_of(Row(7, {"chips": value}), "chips")


def test_every_shipped_line_survives_alone() -> None:
    lines = content(FIRST, SECOND).decode().splitlines()
    assert [json.loads(line.rstrip(","))["name"] for line in lines[2:-1]] == ["one", "two"]


def test_pairs_keep_their_order() -> None:
    row = Row(3, {"pins": {"nvidia-nccl-cu12": "2.27.3", "triton": "3.4.0"}})
    assert pairs_of(row, "pins") == (("nvidia-nccl-cu12", "2.27.3"), ("triton", "3.4.0"))


def test_no_pairs_are_told_from_unknown_ones() -> None:
    assert (pairs_of(Row(3, {"pins": {}}), "pins"), pairs_of(Row(3, {}), "pins")) == ((), None)


@pytest.mark.parametrize("value", [["triton"], "triton", {"triton": 3}, {"triton": None}, 7])
def test_what_is_no_pairs_is_refused(value: object) -> None:
    with pytest.raises(RowError):
        pairs_of(Row(3, {"pins": value}), "pins")


def test_row_may_have_a_day_of_its_own() -> None:
    sources = {"list": Source("a list", "2026-11-21")}
    assert source_of(Row(3, {"source": "list"}), sources) == Source("a list", "2026-11-21")
    assert source_of(Row(3, {"source": "list", "checked": "2026-12-01"}), sources) == Source("a list", "2026-12-01")


@pytest.mark.parametrize("fields", [{}, {"source": "another"}, {"source": 1}])
def test_row_without_a_known_source_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(RowError):
        source_of(Row(3, fields), {"list": Source("a list", "2026-11-21")})
