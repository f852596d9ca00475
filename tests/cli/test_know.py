"""`gpuassist know` as a person and as a program reads it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from gpuassist.cli import know
from gpuassist.cli.context import UsageError
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.lookup.ask import KINDS
from tests.cli.made_session import live_session, run_live
from tests.cli.runs import Run
from tests.knowledge.shipped import damaged_at


def run(*arguments: str, screen: bool = False, columns: str = "100") -> Run:
    return run_live(know, *arguments, session=live_session({"COLUMNS": columns}), screen=screen)


def test_answer_comes_first_and_its_source_last() -> None:
    shown = run("gpu", "RTX 4090").out.splitlines()
    assert shown[0] == "GeForce RTX 4090: Ada Lovelace, compute capability 8.9"
    assert "  PCI ids                       0x2684" in shown
    assert [line for line in shown if line.startswith("  source  ")]
    assert shown[-1].endswith("(2026-11-21)")


def test_name_need_not_be_quoted() -> None:
    assert run("gpu", "RTX", "4090").out == run("gpu", "RTX 4090").out


@pytest.mark.parametrize(
    "arguments",
    [
        ("gpu", "10de:2684"),
        ("cuda", "12.4.1"),
        ("torch", "2.1.0+cu121"),
        ("engine", "vllm"),
        ("engine", "xformers==0.0.35"),
        ("engine", "Isaac Gym"),
        ("driver", "550.54.14-0ubuntu1"),
        ("arch", "sm_90a"),
        ("image", "cuda:12.4.1-base-ubi9"),
        ("wheel", "nvidia-cudnn-cu12"),
        ("conda", "2.5.1"),
        ("xid", "79"),
        ("nvml", "18"),
    ],
)
def test_known_name_ends_with_nothing_wrong(arguments: tuple[str, str]) -> None:
    done = run(*arguments)
    assert (done.exit, done.err) == (Exit.HEALTHY, "")
    assert "None" not in done.out


@pytest.mark.parametrize(
    "arguments", [("gpu", "RTX 9090"), ("cuda", "99"), ("torch", "9.9"), ("driver", "9999"), ("arch", "sm_200")]
)
def test_newer_name_is_no_error(arguments: tuple[str, str]) -> None:
    done = run(*arguments)
    assert done.exit is Exit.HEALTHY
    assert "newer than what I know" in done.out.splitlines()[0]


def test_unknown_name_gets_the_nearest() -> None:
    done = run("gpu", "RTX 4909")
    assert done.exit is Exit.UNDETERMINED
    assert "The nearest that I know:\n  GeForce RTX 4090\n" in done.out


def test_nothing_near_is_not_made_up() -> None:
    done = run("gpu", "banana")
    assert (done.exit, done.out) == (Exit.UNDETERMINED, "no GPU named banana is known\n")


def test_unknown_name_as_json_has_the_nearest() -> None:
    done = run("cuda", "12.7", "--json")
    document = json.loads(done.out)
    assert done.exit is Exit.UNDETERMINED
    assert (document["standing"], document["nearest"][:2]) == ("unknown", ["12.6", "12.8"])


def test_record_as_json_is_one_document() -> None:
    document = json.loads(run("gpu", "RTX 4090", "--json").out)
    assert (document["schema"], document["kind"], document["compute_capability"]) == (1, "gpu", "8.9")


@pytest.mark.parametrize("kind", KINDS)
def test_kind_alone_lists_its_names(kind: str) -> None:
    listed = run(kind).out.splitlines()
    assert listed == json.loads(run(kind, "--json").out)["names"]


def test_everything_is_one_document() -> None:
    document = json.loads(run("--all", "--json").out)
    assert set(document) == {"schema", *KINDS}
    assert len({one["name"] for one in document["gpu"]}) > 500


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "know what?"),
        (("--json",), "know what?"),
        (("--all",), "gpuassist know --all --json"),
        (("--all", "--json", "gpu"), "gpuassist know --all --json"),
        (("gpuu", "RTX 4090"), "did you mean gpu?"),
        (("bananas",), "the kinds are gpu, cuda"),
        (("MOK",), "`gpuassist explain --topic mok`"),
    ],
)
def test_wrong_usage_says_what_is_right(arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        run(*arguments)
    assert words in ENGLISH(caught.value.reason)


@pytest.mark.parametrize("columns", ["1", "40", "80"])
def test_long_source_is_folded(columns: str) -> None:
    done = run("torch", "2.6", columns=columns)
    assert done.exit is Exit.HEALTHY
    words = " ".join(done.out.split())
    assert words == " ".join(run("torch", "2.6").out.split())


def test_terminal_gets_colour_and_a_pipe_none() -> None:
    assert "\x1b[1m" in run("arch", "8.9", screen=True).out
    assert "\x1b" not in run("arch", "8.9").out


def test_notes_stand_between_answer_and_source() -> None:
    shown = run("driver", "535").out
    assert shown.index("nvidia-smi shows CUDA") < shown.index("any CUDA 12") < shown.index("  source")


def _damaged(read: Callable[[str], bytes], *arguments: str) -> Run:
    return run_live(know, *arguments, session=replace(live_session({}), knowledge=Knowledge(read)))


def test_damaged_row_is_unknown_and_the_rest_works() -> None:
    read = damaged_at("knowledge/toolkits.json", 3, b'{"release": "9.0"')
    assert _damaged(read, "cuda", "9.1").exit is Exit.HEALTHY
    assert _damaged(read, "cuda", "9.0").exit is Exit.HEALTHY  # older than the first that is left
    assert _damaged(read, "gpu", "RTX 4090").exit is Exit.HEALTHY


def test_value_stands_under_its_label_where_there_is_little_room() -> None:
    shown = run("gpu", "RTX 4090", columns="40").out.splitlines()
    assert shown[shown.index("  PCI ids") + 1] == "    0x2684"
    assert max(len(line) for line in shown if "/" not in line and "_" not in line) <= 40
