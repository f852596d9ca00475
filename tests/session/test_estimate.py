"""Will it fit: the figures of papers, of others' measurements and of traced steps, the levers, and the verdict of this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from gpuassist.formats.model_config.read import read_model_config
from gpuassist.model.estimate import CardRoom, EstimatePart, EstimateSetting, LeverKind, ModelShape, Quantization, Sharding
from gpuassist.model.gpu import Recovery
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.estimate import card_words, first_change, lever_name, sentence_of
from gpuassist.session.estimate.activations import kv_bytes_a_token, kv_cache_bytes, step_memory
from gpuassist.session.estimate.answer import answer_fit, cards_named, cards_of, known_cards
from gpuassist.session.estimate.estimate import estimate
from gpuassist.session.estimate.source import EstimateError, shape_of, shape_of_size
from gpuassist.session.estimate.states import states_of
from gpuassist.session.estimate.tracer import SCRIPT, as_it_was_made, is_traceable, trace
from gpuassist.system.files import Files
from gpuassist.system.resources import Resources
from tests.cli.made_session import live_session
from tests.rows import for_each
from tests.torch_environment import torch_python
from tests.values import RTX_4090, RTX_5090, knowledge, machine

HERE = Path(__file__).parent.parent / "cases/estimates"
PUBLISHED = json.loads((HERE / "published.json").read_text("utf-8"))
MEASURED = json.loads((HERE / "measured.json").read_text("utf-8"))
TRACED = json.loads((HERE / "traced.json").read_text("utf-8"))
KEPT = json.loads((HERE / "kept.json").read_text("utf-8"))
COSTS = knowledge().estimates()
LLAMA = PUBLISHED["cache"][2]["config"]
GIB = 1 << 30


def shape(config: dict[str, Any]) -> ModelShape:
    return read_model_config(json.dumps(config).encode())


def setting(**given: Any) -> EstimateSetting:
    return convert(given, EstimateSetting)


def near(ours: float, theirs: float, tolerance: float) -> None:
    assert abs(ours - theirs) <= tolerance * theirs, f"ours {ours / GIB:.2f} GiB, theirs {theirs / GIB:.2f} GiB"


@for_each("row", PUBLISHED["memory"])
def test_what_others_published_or_measured(row: dict[str, Any]) -> None:
    model = shape(row["config"]) if "config" in row else shape_of(Files(), row["size"])
    asked = setting(**row["setting"])
    if row["of"] == "states":
        states = states_of(model, asked, COSTS)
        ours = states.parameters + states.gradients + states.optimizer
    else:
        found = estimate(model, asked, COSTS)
        ours = found.total_bytes - (found.of(EstimatePart.CONTEXT) if row["of"] == "no-context" else 0)
    near(ours, row["published"], row["tolerance"])


def test_measured_steps_with_adapters_are_met_and_lie_in_the_range() -> None:
    for row in PUBLISHED["adapters"]:
        found = estimate(shape(row["config"]), setting(**row["setting"]), COSTS)
        beside = found.of(EstimatePart.CONTEXT) + found.of(EstimatePart.MARGIN)
        near(found.total_bytes - beside, row["allocated"], 0.08)
        assert found.low_bytes <= row["process"] <= found.high_bytes, row["model"]


@for_each("row", MEASURED["steps"])
def test_a_step_that_was_really_made_took_as_much(row: dict[str, Any]) -> None:
    model, asked = shape(row["config"]), setting(**row["setting"])
    found, states = estimate(model, asked, COSTS), states_of(model, asked, COSTS)
    beside = found.of(EstimatePart.CONTEXT) + found.of(EstimatePart.MARGIN)
    near(found.total_bytes - beside, row["peak"], MEASURED["tolerance"])
    near(states.parameters, row["parameters"], 0.02)
    near(states.gradients, row["gradients"], 0.02)
    near(states.optimizer, row["optimizer"], 0.02 if asked.optimizer.value != "adafactor" else 0.9)  # of so small matrices


@for_each("row", PUBLISHED["cache"])
def test_what_a_token_leaves_in_the_cache(row: dict[str, Any]) -> None:
    near(kv_bytes_a_token(shape(row["config"]), 16), row["bytes"], 0.01)


@for_each("row", TRACED["steps"])
def test_what_a_traced_step_of_the_same_modules_kept(row: dict[str, Any]) -> None:
    precision = {"16-bit": "bf16", "fp32": "fp32"}[row["precision"]]
    attention = "eager" if row["config"]["model_type"] == "t5" else "fused"
    asked = setting(precision=precision, batch=row["batch"], sequence=row["sequence"], attention=attention)
    near(step_memory(shape(row["config"]), asked, COSTS).kept, row["kept_bytes"], TRACED["tolerance"])


@for_each("row", KEPT["steps"])
def test_what_a_step_on_the_cpu_kept(row: dict[str, Any]) -> None:
    asked = setting(precision=row["precision"], batch=row["batch"], sequence=row["sequence"])
    found = step_memory(shape(row["config"]), asked, COSTS)
    assert found.known
    near(found.kept, row["kept_bytes"], KEPT["tolerance"])


def test_the_margin_of_inference_is_not_called_measured() -> None:
    told = [estimate(shape(LLAMA), setting(task=task), COSTS).parts[-1].checked.message for task in ("train", "infer")]
    assert ["measured" in one for one in told] == [True, False]


def test_parts_that_are_counted_by_their_widths_are_not_called_exact() -> None:
    eye = {"model_type": "next_years_eye", "num_hidden_layers": 24, "hidden_size": 1024, "intermediate_size": 4096}
    alone, beside = (
        estimate(shape(config), setting(), COSTS).parts[0]
        for config in (LLAMA, {"model_type": "llava", "text_config": LLAMA, "vision_config": eye})
    )
    assert beside.high_bytes - beside.size_bytes > 1.5 * (alone.high_bytes - alone.size_bytes)
    assert beside.checked != alone.checked


def test_an_unknown_family_is_not_called_exact() -> None:
    known, assumed = (estimate(shape({**LLAMA, "model_type": kind}), setting(), COSTS) for kind in ("llama", "next_years"))
    assert assumed.total_bytes == known.total_bytes
    assert assumed.low_bytes < known.low_bytes
    assert all(ours.checked != theirs.checked for ours, theirs in zip(assumed.parts[:3], known.parts[:3], strict=True))


def test_weights_are_held_as_the_config_stores_them() -> None:
    stored = shape({**LLAMA, "quantization_config": {"quant_method": "awq", "bits": 4}})
    for asked in (setting(task="infer"), setting(lora=8, precision="bf16")):
        in_full = states_of(shape(LLAMA), asked, COSTS).parameters
        assert (
            states_of(stored, asked, COSTS).parameters
            == states_of(shape(LLAMA), replace(asked, quantization=Quantization.AWQ), COSTS).parameters
        )
        assert states_of(stored, asked, COSTS).parameters < in_full / 2
    assert states_of(stored, setting(), COSTS) == states_of(shape(LLAMA), setting(), COSTS)  # all of it is trained: in full


def test_the_mildest_change_that_surely_helps_is_said_first() -> None:
    session, model = live_session(), shape(LLAMA)
    for room, kind in ((61, LeverKind.OPTIMIZER_8BIT), (48, LeverKind.OFFLOAD_OPTIMIZER), (20, LeverKind.QLORA)):
        asked = setting(precision="bf16", checkpointing=kind is LeverKind.QLORA)
        answer = answer_fit(session, model, asked, (CardRoom("made", room * GIB),), imagined=True)
        assert answer.fits is not True
        said = first_change(answer)
        assert said is not None
        assert lever_name(next(one for one in answer.levers if one.kind is kind)) in dict(said.parameters).values()


def test_gradients_and_activations_take_turns_unless_they_are_summed() -> None:
    model, asked = shape(LLAMA), setting(precision="bf16", batch=8)
    found = estimate(model, asked, COSTS)
    assert found.of(EstimatePart.GRADIENTS) == 0
    assert found.turns == (EstimatePart.GRADIENTS, 2 * model.parameters)
    summed = estimate(model, replace(asked, accumulates=True), COSTS)
    assert summed.of(EstimatePart.GRADIENTS) == 2 * model.parameters
    short = estimate(model, replace(asked, batch=1, sequence=16), COSTS)
    assert short.of(EstimatePart.ACTIVATIONS) == 0
    assert short.of(EstimatePart.GRADIENTS) == 2 * model.parameters


def test_more_of_anything_never_takes_less() -> None:
    model = shape(LLAMA)
    for name in ("batch", "sequence"):
        sizes = [estimate(model, setting(**{name: count}), COSTS).total_bytes for count in (1, 2, 3, 64, 1000, 65536)]
        assert sizes == sorted(sizes)


def test_a_window_bounds_the_cache() -> None:
    mistral = shape({**LLAMA, "model_type": "mistral", "sliding_window": 4096})
    asked = setting(task="infer", sequence=32768)
    assert kv_cache_bytes(mistral, asked) == kv_cache_bytes(mistral, replace(asked, sequence=4096))
    assert kv_cache_bytes(shape(LLAMA), replace(asked, sequences=3, kv_bits=8)) == 3 * 32768 * 64 * 1024


def test_the_verdict_is_one_of_three_and_the_levers_keep_their_word() -> None:
    session = live_session()
    kinds: set[LeverKind] = set()
    for size, fits in ((80, True), (64, None), (24, False)):
        card = CardRoom("made", size * GIB)
        answer = answer_fit(session, shape(LLAMA), setting(precision="bf16"), (card,), imagined=True)
        assert answer.fits is fits, size
        assert [one.saves_bytes for one in answer.levers] == sorted((one.saves_bytes for one in answer.levers), reverse=True)
        for one in answer.levers:
            assert estimate(answer.shape, one.setting, COSTS).total_bytes == one.total_bytes
            assert one.total_bytes + one.saves_bytes == answer.estimate.total_bytes
        kinds |= {one.kind for one in answer.levers}
    assert {LeverKind.CHECKPOINTING, LeverKind.QLORA, LeverKind.OPTIMIZER_8BIT, LeverKind.SHARD} <= kinds


def test_the_largest_batch_fits_and_one_more_does_not_surely() -> None:
    session, room = live_session(), 80 * GIB
    answer = answer_fit(session, shape(LLAMA), setting(precision="bf16"), (CardRoom("made", room),), imagined=True)
    assert answer.largest_batch
    for more, fits in ((0, True), (1, False)):
        found = estimate(answer.shape, replace(answer.setting, batch=answer.largest_batch + more), COSTS)
        assert (found.high_bytes <= room) is fits
    assert answer.largest_sequence
    assert all(one.total_bytes == answer.smallest[0].total_bytes for one in answer.smallest)
    assert answer.estimate.high_bytes <= answer.smallest[0].room_bytes


def test_what_others_hold_counts_and_a_sleeping_card_has_what_its_product_has() -> None:
    session = live_session()
    (awake,) = cards_of(session, example("08-healthy"))
    assert (awake.total_bytes, awake.index) == (24 * GIB, 0)
    assert 0 < awake.held_bytes == awake.total_bytes - awake.room_bytes
    (asleep,) = cards_of(session, example("10-laptop-asleep"))
    assert (asleep.total_bytes, asleep.held_bytes) == (16 * GIB, 0)
    assert answer_fit(session, shape(LLAMA), setting(), ()).fits is None


@for_each(
    ("told", "why"),
    [
        ({"recovery": (Recovery.NONE, Recovery.POWER_CYCLE)}, "the driver no longer reaches this GPU"),
        ({"recovery": (Recovery.NONE, Recovery.START)}, "the driver does not list this GPU"),
        ({"recovery": (Recovery.NONE, Recovery.RESET)}, "it has to be reset before it works again"),
        ({"recovery": (Recovery.NONE, Recovery("7"))}, "NVML asks for action 7 before it works again"),
        ({"excluded": (False, True)}, "the driver leaves it out, as an option says"),
        ({"kernel_driver": ("nvidia", "vfio-pci")}, "it is kept for a virtual machine"),
    ],
)
def test_a_card_on_which_nothing_runs_now_has_no_room(told: dict[str, Any], why: str) -> None:
    session = live_session()
    made = machine(gpus=(RTX_4090, RTX_5090), driver="580.95.05", open_module=True, dead=(RTX_5090,), told=told)
    usable, lost = cards_of(session, made)
    assert (usable.obstacle, lost.total_bytes, lost.index) == (None, 32 * GIB, None)
    assert ENGLISH(lost.obstacle or verbatim("")) == why
    answer = answer_fit(session, shape(LLAMA), setting(task="infer", precision="bf16"), (usable, lost))
    assert [one.fits for one in answer.cards] == [True, False]
    assert "4090" in ENGLISH(sentence_of(answer))
    assert why in ENGLISH(card_words(answer.cards[1]))
    alone = answer_fit(session, shape(LLAMA), setting(), (lost,))
    assert (alone.fits, alone.largest_batch) == (False, None)
    assert "no GPU here can be used now" in ENGLISH(sentence_of(alone))
    shared = answer_fit(session, shape(LLAMA), setting(sharding="zero3", gpus=2), (usable, lost))
    assert shared.fits is False
    assert any("of which 1 can be used now" in ENGLISH(one) for one in shared.notes)


def example(name: str) -> Machine:
    return decode_machine(json.loads(Resources().read(f"machines/{name}.json")))


def test_shared_by_more_gpus_than_there_are() -> None:
    session = live_session()
    asked = setting(precision="bf16", sharding="zero3", gpus=2, batch=1, sequence=512)
    one = CardRoom("made", 80 * GIB, index=0)
    assert answer_fit(session, shape(LLAMA), asked, (one,)).fits is False
    assert answer_fit(session, shape(LLAMA), asked, (one, replace(one, index=1))).fits is True
    assert asked.sharding is Sharding.ZERO3


def test_the_cards_that_are_named_have_the_memory_that_is_known_of_them() -> None:
    known = {gpu.name: gpu.memory_bytes for gpu in knowledge().gpus()}
    for one in known_cards(COSTS):
        assert one.name in known
        assert not known[one.name] or one.total_bytes in known[one.name]
        assert round(one.total_bytes / GIB) in {round(size / GIB) for size in cards_sizes(one.name)}
    for words, sizes in (
        *(("RTX 4090", [24]), ("4090", [24]), ("10de:2684", [24]), ("A6000", [48]), ("12 GiB", [12]), ("3060", [8, 12])),
        *(("A100", [40, 64, 80]), ("A100 80GB", [80]), ("RTX 4060 Ti", [8, 16]), ("RTX 4060 Ti 16GB", [16]), ("4090 laptop", [16])),
        *(("NVIDIA H100 PCIe", [80]), ("H20 HBM3e", [141]), ("NVIDIA GeForce RTX 3060 Laptop GPU", [6]), ("B200 NVL", [180])),
        *(("M40 24GB", [24]), ("A100 80G", [80]), ("4080 16GB", [16]), ("4090 24G", [24]), ("3060 12 GB", [12]), ("1060 6GB", [6])),
    ):
        assert cards_sizes(words) == [size * GIB for size in sizes], words
    for words in ("no such card", "10de:ffff", "16", "4090 48GB"):
        with pytest.raises(EstimateError):
            cards_named(live_session(), words)


def cards_sizes(words: str) -> list[int]:
    return [one.total_bytes for one in cards_named(live_session(), words)]


def test_a_name_of_several_sizes_has_an_answer_for_each() -> None:
    session, model = live_session(), shape_of(Files(), "7B")
    cards = cards_named(session, "A100")
    asked = setting(precision="bf16", batch=1, sequence=512)
    answer = answer_fit(session, model, asked, cards, imagined=True)
    assert ([one.fits for one in answer.cards], answer.fits) == ([False, True, True], None)
    said = ENGLISH(sentence_of(answer))
    assert (
        "it fits into 64.0 GiB (A100-SXM-64GB), 80.0 GiB (A100 SXM4 80GB); it does not fit into 40.0 GiB (A100 SXM4 40GB)" in said
    )
    assert any("40GiB, 64GiB, 80GiB" in ENGLISH(note) and "--gpu 80GiB" in ENGLISH(note) for note in answer.notes)
    assert answer.largest_batch == 0  # of the smallest: nobody knows which one is meant
    small = answer_fit(session, model, setting(task="infer", precision="bf16"), cards, imagined=True)
    assert (small.fits, "(A100 SXM4 40GB)" in ENGLISH(sentence_of(small))) == (True, True)


# What is named


@for_each(
    ("words", "least", "most"),
    [
        ("7B", 7e9, 7e9),
        ("1.5b", 1.5e9, 1.5e9),
        ("350M", 350e6, 350e6),
        ("8x7B", 46_702_792_704, 46_702_792_704),
        ("8x22b", 1.35e11, 1.5e11),
        ("hidden=4000,layers=32", 7e9, 9e9),
        ("hidden=4096,layers=32,heads=32,vocab=32000,inner=11008", 6.7e9, 6.8e9),
    ],
)
def test_sizes_and_numbers(words: str, least: float, most: float) -> None:
    assert least <= shape_of(Files(), words).parameters <= most


@for_each(
    "words",
    [
        "0B",
        "999999T",
        "1x7B",
        "0x7B",
        "9999x9999T",
        "hidden=100,layers=2,heads=33",
        "hidden=0,layers=1",
        "hidden=64",
        "hidden=64,layers=2,wings=3",
        "nothing/there",
        "hidden=9,layers=x",
    ],
)
def test_what_is_no_model_is_refused(words: str) -> None:
    with pytest.raises(EstimateError):
        shape_of(Files(), words)


def test_a_size_has_about_the_shape_of_a_llama() -> None:
    found = shape_of_size(8_000_000_000, "8B")
    assert abs(found.hidden - 4096) <= 512
    assert abs(found.layers - 32) <= 6


def test_a_directory_with_its_weights_has_exactly_their_parameters(tmp_path: Path) -> None:
    small = {"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 16}
    small["intermediate_size"] = 16
    (tmp_path / "config.json").write_text(json.dumps(small))
    counted = shape_of(Files(), str(tmp_path)).parameters
    head = json.dumps({"a": {"dtype": "BF16", "shape": [counted + 1], "data_offsets": [0, 0]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
    assert shape_of(Files(), str(tmp_path)).parameters == counted + 1
    assert shape_of(Files(), str(tmp_path / "model.safetensors")).parameters == counted + 1
    (tmp_path / "model.safetensors").write_bytes(b"\xff" * 20)
    assert shape_of(Files(), str(tmp_path / "config.json")).parameters == counted


def test_of_an_unknown_family_the_weights_know_better_than_the_config(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, "model_type": "next_years"}))
    head = json.dumps({"a": {"dtype": "BF16", "shape": [64, 1_000_000], "data_offsets": [0, 0]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head)
    assert shape_of(Files(), str(tmp_path)).parameters == 64_000_000


# The user's own code


@for_each(
    ("words", "is_code"),
    [
        ("train.py", True),
        ("a/b.py:make", True),
        ("package.module:make", True),
        ("7B", False),
        ("config.json", False),
        ("C:/x", False),
    ],
)
def test_what_is_code_is_told_by_its_name(words: str, is_code: bool) -> None:
    assert is_traceable(words) is is_code


@pytest.mark.slow
def test_a_traced_step_is_measured_and_grows_with_the_batch(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "def make_model(batch, sequence):\n"
        "    print('this is no report')\n"
        "    model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Linear(256, 64))\n"
        "    return model, torch.zeros(batch, sequence, 64)\n"
    )
    asked = setting(batch=4, sequence=32)
    found = trace(live_session(), "mine.py", asked, python=torch_python(), directory=str(tmp_path))
    assert found.parameters == 64 * 256 + 256 + 256 * 64 + 64
    assert found.traced is not None
    # The input, what GELU takes, and what it gives: 64 + 256 + 256 numbers of four bytes a token.
    assert found.traced.kept_bytes == 4 * 32 * (64 + 256 + 256) * 4
    asked = as_it_was_made(found, asked)
    assert asked.precision.value == "fp32"
    one, two = (step_memory(found, replace(asked, batch=count), COSTS).kept for count in (4, 8))
    assert two == 2 * one


@pytest.mark.slow
def test_a_step_that_meta_cannot_make_is_made_on_the_cpu_within_free_memory(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import torch\n"
        "from collections import UserDict\n"
        "class Mine(torch.nn.Module):\n"
        "    def __init__(self, width):\n"
        "        super().__init__()\n"
        "        self.inner, self.dropout = torch.nn.Linear(width, width, bias=False), torch.nn.Dropout(0.1)\n"
        "    def forward(self, x):\n"
        "        y = self.dropout(self.inner(x))\n"
        "        assert not y.is_meta\n"
        "        return y\n"
        "def small(batch):\n"
        "    return Mine(64), UserDict(x=torch.zeros(batch, 64))\n"
        "def large():\n"
        "    return Mine(1 << 20), torch.zeros(1, 1 << 20)\n"
        "def on_gpu():\n"
        "    return Mine(8).cuda(), torch.zeros(1, 8)\n"
    )
    (tmp_path / "each.py").write_text(  # in one child, since torch takes its time to start
        "import json, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "import traced_step\n"
        "for name in ('small', 'large', 'on_gpu'):\n"
        "    try:\n"
        "        print(json.dumps(traced_step.traced(traced_step.maker_of(f'mine.py:{name}'), {'batch': 4, 'sequence': 8})))\n"
        "    except traced_step.TraceError as error:\n"
        "        print(json.dumps({'error': error.code}))\n"
    )
    run = (torch_python(), "each.py", str(Path(SCRIPT).parent))
    said = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    small, large, on_gpu = (json.loads(line) for line in said.stdout.splitlines())
    assert small["device"] == "cpu"
    assert small["kept_bytes"] == 4 * 64 * (4 + 1)  # the input, and a mask of one byte a number as a GPU keeps it
    assert (large, on_gpu) == ({"error": "too-large"}, {"error": "moves-to-gpu"})


def test_code_that_fails_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import sys\nsys.exit('no data here')\n")
    with pytest.raises(EstimateError) as told:
        trace(live_session(), "mine.py", setting(), python=sys.executable, directory=str(tmp_path))
    assert "no data here" in str(told.value.reason)
