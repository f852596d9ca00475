"""The live table on terminals of every size, in Unicode and in ASCII."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from gpuassist.cli.live_curve import bar, drawn_curve, draws_unicode, shares_of
from gpuassist.cli.live_layout import LiveLayout
from gpuassist.cli.live_lettering import Line
from gpuassist.cli.live_view import LiveView, LowerPart, TableScene
from gpuassist.cli.paragraphs import columns
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Window
from gpuassist.present.gpu_line import held_back_by, no_answer
from gpuassist.system.resources import Resources
from tests.hostile import obeyed
from tests.monitor.samples import WALL, known
from tests.rows import for_each

GIB = 1 << 30
COMMANDS = Knowledge(Resources().read).commands
HOSTILE = "python 训练\x1b[2J\u202e\x00\n.py " + "x" * 5000
TORCH = TorchMemory(GIB, 2 * GIB, 3 * GIB, 3 * GIB, GIB, 0)


def card(index: int, *processes: ProcessSample) -> GpuSample:
    return GpuSample(
        index,
        name=Known("NVIDIA GeForce RTX 4090", "test"),
        memory_total_bytes=known(24 * GIB),
        memory_used_bytes=known((index + 1) * GIB),
        utilization_percent=known(97),
        temperature_celsius=known(71),
        power_watts=Known(412.3, "test"),
        processes=Known(processes, "test"),
        throttle_reasons=Known(("SwPowerCap",), "test"),
    )


def process(pid: int, command: str = "python train.py --lr 3") -> ProcessSample:
    return ProcessSample(
        pid,
        user=Known("ann", "test"),
        command=Known(command, "test"),
        memory_used_bytes=known(pid * GIB // 100),
        gpu_percent=known(55),
        started=Known(WALL - 3600, "test"),
        torch=Known(TORCH, "test"),
    )


UNIFIED = Unknown(text("this GPU has no memory of its own"))
GPUS = {
    "one": (card(0, process(1000), process(1001)),),
    "many processes": (card(0, *(process(1000 + number) for number in range(300))),),
    "sixteen": tuple(card(index, process(1000 + index)) for index in range(16)),
    "asleep": (card(0), GpuSample(1, memory_used_bytes=Unknown(text("the GPU is asleep")), asleep=True)),
    "mig": (card(0), replace(card(7, process(1)), parent=0)),
    "unified": (replace(card(0, process(1)), memory_used_bytes=UNIFIED, memory_total_bytes=UNIFIED),),
    "hidden": (replace(card(0), processes=Unknown(text("this user may not read it"))),),
    "hostile": (replace(card(0, process(1, HOSTILE), process(2, "")), name=Known(HOSTILE, "test")),),
    "nothing known": (GpuSample(0),),
}


def scene(gpus: Iterable[GpuSample], *, stale: bool = False) -> TableScene:
    view, history = LiveView(), History()
    for second in range(20):
        view.take(Sample(WALL + second, 100.0 + second, tuple(gpus)))
        assert view.sample is not None
        history.add(view.sample)
    silent = no_answer(12.0, view.sample) if stale else None
    return TableScene(view, history, {0: 3 * GIB}, 100.0, WALL, WALL + 20, 120.0, silent)


def words_of(lines: Iterable[Line]) -> list[str]:
    """What stands on the screen, each span at its column."""
    shown = []
    for line in lines:
        row: list[str] = []
        for start, words, _ in line:
            row += " " * (start - len(row))
            for place, character in enumerate(words):
                row[start + place : start + place + 1] = [character]
        shown.append("".join(row).rstrip())
    return shown


def drawn(made: TableScene, width: int = 80, height: int = 24, *, unicode: bool = True) -> list[str]:
    return words_of(LiveLayout(ENGLISH, COMMANDS, unicode=unicode).screen(made, width, height))


SIZES = ((80, 24, True), (40, 24, False), (40, 6, True), (20, 3, True), (1, 1, False), (200, 60, True), (132, 8, False))
ALL = tuple((name, *size) for name in GPUS for size in SIZES)


@for_each(("name", "width", "height", "unicode"), ALL)
def test_a_screen_fits_its_terminal_whatever_is_shown(name: str, width: int, height: int, unicode: bool) -> None:
    made = scene(GPUS[name], stale=width == 132)
    for part in LowerPart:
        made.view.shown = part
        lines = LiveLayout(ENGLISH, COMMANDS, unicode=unicode).screen(made, width, height)
        assert len(lines) == height
        for line in lines:
            for start, words, _ in line:
                assert start + columns(words) <= max(width, start)
                assert obeyed(words) == []
                assert unicode or words.isascii()


@for_each("name", ("one", "sixteen", "unified", "asleep", "mig", "hostile"))
def test_every_gpu_has_its_line_in_eighty_columns(name: str) -> None:
    shown = drawn(scene(GPUS[name]))
    assert all(any(line.startswith((f"{gpu.index} ", f"└ {gpu.index}")) for line in shown) for gpu in GPUS[name])


def test_the_line_of_a_gpu_has_its_figures() -> None:
    line = drawn(scene(GPUS["one"]), 120)[1]
    for words in ("RTX 4090", "█", "1.0 of 24 GiB", "97 %", "71 °C", "412 W", "power limit", "peak 3.0 GiB"):
        assert words in line


def test_what_little_room_there_is_goes_to_what_counts() -> None:
    line = drawn(scene(GPUS["one"]), 40)[1]
    assert "1.0 of 24 GiB" in line
    assert "97 %" in line


def test_a_curve_stands_below_or_in_the_line() -> None:
    below, inline = drawn(scene(GPUS["one"])), drawn(scene(GPUS["sixteen"]))
    assert "⣀" in below[1 + 8]
    assert all("⣀" in line or "⣤" in line or "⣶" in line for line in inline[1:17])


def test_sixteen_gpus_leave_room_for_processes() -> None:
    shown = drawn(scene(GPUS["sixteen"]))
    assert sum("train.py" in line for line in shown) >= 4
    assert any("1–5 of 16" in line for line in shown)


def test_gpus_that_do_not_fit_are_told_of() -> None:
    assert any("more GPUs" in line for line in drawn(scene(GPUS["sixteen"]), 80, 12))


def test_old_figures_say_so_and_are_greyed() -> None:
    lines = LiveLayout(ENGLISH, COMMANDS, unicode=True).screen(scene(GPUS["one"], stale=True), 80, 24)
    assert "no answer from the driver for 12 s (last " in words_of(lines)[1]
    (gpu_line,) = [line for line in lines if line and line[0][1] == "0"]
    assert {style for _, _, style in gpu_line} == {"\x1b[2m"}


def test_what_happened_is_told_for_a_minute() -> None:
    made = scene(GPUS["one"])
    kinds = {EventKind.XID: "Xid 79 on GPU 0", EventKind.STARTED: "train.py starts"}
    events = tuple(Event(120.0, kind, text(words)) for kind, words in kinds.items())
    made.view.take(Sample(WALL + 20, 120.0, GPUS["one"], events=events))
    assert any("Xid 79 on GPU 0" in line for line in drawn(made))
    assert not any("train.py starts" in line for line in drawn(made))
    assert not any("Xid 79" in line for line in drawn(replace(made, epoch=WALL + 90)))


def test_the_reason_stands_where_the_memory_would() -> None:
    asleep, unified = drawn(scene(GPUS["asleep"])), drawn(scene(GPUS["unified"]))
    assert any(line.startswith("1") and "asleep" in line for line in asleep)
    assert "this GPU has no memory" in unified[1]
    assert "97 %" in unified[1]


def test_the_whole_command_is_in_the_details() -> None:
    made = scene((card(0, process(1, "python train.py " + " ".join(f"--option-{n}" for n in range(40)))),))
    made.view.press("enter", 0.0)
    assert "--option-39" in "".join(line.strip() for line in drawn(made, 60, 40)).replace(" ", "")


def test_a_screen_that_is_printed_has_everything() -> None:
    shown = words_of(LiveLayout(ENGLISH, COMMANDS, unicode=True).whole(scene(GPUS["many processes"]), 100))
    assert sum("train.py" in line for line in shown) == 300


@for_each("width", (1, 3, 10, 33))
def test_a_bar_is_as_wide_as_asked_for(width: int) -> None:
    for share in (0.0, 0.001, 0.5, 0.999, 1.0):
        for unicode in (True, False):
            assert len("".join(bar(share, width, unicode=unicode))) == width


def test_a_curve_holds_until_the_next_reading_and_breaks_at_a_gap() -> None:
    history = History()
    for second in (0.0, 1.0, 2.0, 10.0):
        history.add(Sample(second, second, (GpuSample(0, memory_used_bytes=known(50)),)))
    curve = history.curve(0, Window(12.0, 24, 12.0))
    shares = shares_of(curve, 0.0, 12.0, 24, capacity=100.0, gap=3.0)
    assert [share is not None for share in shares] == [True] * 5 + [False] * 15 + [True] * 4


def test_a_curve_of_dots_is_as_high_as_its_share() -> None:
    assert drawn_curve([None, 0.0, 0.5, 1.0], 1, unicode=True) == ["⢀⣼"]
    assert drawn_curve([None, 1.0], 2, unicode=False) == [" #", " #"]


@for_each(
    ("variables", "expected"),
    (
        ({"LANG": "en_US.UTF-8"}, True),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, False),
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, False),  # what Python makes of LANG=C
        ({"LC_CTYPE": "C.UTF-8"}, True),
        ({"LANG": "de_DE.ISO-8859-1"}, False),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, False),
        ({}, True),
    ),
)
def test_ascii_is_drawn_where_the_locale_has_no_more(variables: dict[str, str], expected: bool) -> None:
    assert draws_unicode(variables) is expected


@for_each("name", ("SwPowerCap", "nvmlClocksThrottleReasonSwPowerCap", "nvmlClocksEventReasonSwPowerCap", "power limit"))
def test_what_holds_a_gpu_back_is_known_by_every_spelling(name: str) -> None:
    assert held_back_by(name) == text("power limit")


def test_the_head_says_what_is_recorded_to_and_which_recording_is_shown() -> None:
    made = scene(GPUS["one"])
    assert "recording to run.db" in drawn(replace(made, recording="/somewhere/run.db"))[0]
    assert "night.db" in drawn(replace(made, replay=text("night.db")))[0]
