"""What holds of any two looks at a machine and any log: nothing is made up, nothing is told twice, nothing falls over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.past.compare import compare
from gpuassist.diagnose.past.order import explains, is_cause
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Evidence, Finding
from gpuassist.model.holds import HoldKind, HoldReach, PackageHold
from gpuassist.model.json_reader import read_json
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.past import Direction, KeptMachine, MachineChange, PackageAction, PackageEvent, PackageHistory, Subject
from gpuassist.model.shell import StartupFile
from gpuassist.model.text import text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.past import change_document, change_words, detail_words, explained_words
from gpuassist.session.steady_machine import steady
from gpuassist.system.resources import Resources
from tests.histories import BASHRC, EVERY, KEPT_AT, NOW, at_last, event, installed, kept, logs, startup_file, upgraded
from tests.rows import for_each
from tests.values import RTX_3090, RTX_4090, Env, machine

UNREAD = Unknown(text("not read in this test"))


@cache
def recorded() -> tuple[Machine, ...]:
    """The machines that ship with gpuassist."""
    resources = Resources()
    return tuple(decode_machine(read_json(resources.read(f"machines/{name}"))) for name in resources.names("machines", ".json"))


def blank(value: Any) -> Any:
    """With every fact unknown."""
    if isinstance(value, (Known, Unknown)):
        return UNREAD
    if isinstance(value, Struct):
        return replace(value, **{name: blank(getattr(value, name)) for name in value.__struct_fields__})
    return value


def one_unknown(value: Any) -> Iterator[Any]:
    """The value with one fact after the other unknown, those inside sections as well."""
    for name in value.__struct_fields__:
        inner = getattr(value, name)
        if isinstance(inner, Known):
            yield replace(value, **{name: UNREAD})
        elif isinstance(inner, Struct) and not isinstance(inner, Unknown):
            yield from (replace(value, **{name: other}) for other in one_unknown(inner))


@for_each("one", recorded)
def test_the_same_machine_has_not_changed(one: Machine) -> None:
    assert compare(kept(one), at_last(one), PackageHistory()) == ()
    assert compare(kept(steady(one)), at_last(steady(one)), PackageHistory()) == ()


@for_each("one", recorded)
def test_what_is_not_known_makes_no_change(one: Machine) -> None:
    nothing = blank(one)
    assert compare(kept(one), at_last(nothing), PackageHistory()) == ()
    assert compare(kept(nothing), at_last(one), PackageHistory()) == ()
    for part in one_unknown(one):
        assert compare(kept(one), at_last(part), PackageHistory()) == (), part
        assert compare(kept(part), at_last(one), PackageHistory()) == (), part


def test_any_two_machines_are_compared_and_told() -> None:
    for before, after in product(recorded(), repeat=2):
        for change in compare(kept(before), at_last(after), PackageHistory()):
            assert change.before != change.after
            ENGLISH(change_words(change))
            ENGLISH(explained_words(change))


@for_each("one", EVERY)
def test_changes_turned_round_have_the_same_subjects(one: Any) -> None:
    if one.before is None or one.history.events:
        return
    back = compare(replace(one.now, at=KEPT_AT), replace(one.before, at=NOW), PackageHistory())
    assert {change.subject for change in back} == {Subject(subject) for subject, *_ in one.told}


NAMES = (
    "libnvidia-compute-580",
    "nvidia-dkms-580",
    "linux-image-6.8.0-48-generic",
    "linux",
    "torch",
    "cuda-toolkit-12-8",
    "gcc",
    "libc6",
    "x",
)
VERSIONS = ("", "580.95.05-0ubuntu1", "6.8.0-48.50", "570.86-1", "2.7.0", "1:1", "-", "9" * 300, "\x1b[2J", "٣.1", "12.8.1-1")
MOMENTS = ("", NOW, KEPT_AT, "2026-11-20", "2026-11-20T03:00:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "noon")
NEWER = at_last(machine(driver="580.95.05"))


def drawn(random: Random) -> PackageEvent:
    """An entry of a log that no package manager would write."""
    junk = "".join(chr(random.choice((0x1B, 0x202E, 0x663, 0x41, 0x31, 0x2E, 0x2D))) for _ in range(random.randrange(9)))
    return PackageEvent(
        random.choice((*MOMENTS, junk)),
        random.choice(tuple(PackageAction)),
        random.choice((*NAMES, junk)),
        random.choice((*VERSIONS, junk)),
        random.choice((*VERSIONS, junk)),
        junk,
        by=random.choice(("", "apt", "pip")),
        environment=random.choice(("", "/home/you/train", "/nowhere")),
    )


@for_each("seed", range(100))
def test_any_log_is_joined_and_told(seed: int) -> None:
    random = Random(seed)
    events = tuple(drawn(random) for _ in range(random.randrange(12)))
    before = kept(machine(driver="570.86")) if seed % 2 else None
    found = compare(before, NEWER, PackageHistory(events), ("driver", "torch", "x:"))
    assert len(set(found)) == len(found)
    for change in found:
        for words in (change_words(change), explained_words(change), *detail_words(change)):
            ENGLISH(words)
        change_document(change, ENGLISH)


def test_thousands_of_entries_take_no_longer_than_they_must() -> None:
    many = tuple(
        event(f"2026-11-20T{number % 24:02}:{number % 60:02}:00+00:00", PackageAction.UPGRADED, "dkms", "1", "2")
        for number in range(2_000)
    )
    assert compare(None, at_last(machine()), PackageHistory(many))


def test_an_upgrade_in_two_acts_is_two_changes() -> None:
    first, second = (
        ("libnvidia-compute nvidia-dkms", "570.86-1", "575.51-1"),
        ("libnvidia-compute nvidia-dkms", "575.51-1", "580.95-1"),
    )
    done = logs(*upgraded("2026-11-16T03:00:00+00:00", *first), *upgraded("2026-11-20T03:00:00+00:00", *second))
    found = compare(kept(machine(driver="570.86")), at_last(machine(driver="580.95")), done)
    assert [(one.before, one.after) for one in found] == [("575.51", "580.95"), ("570.86", "575.51")]


def test_one_act_told_by_two_logs_is_one_change() -> None:
    rows = ("libnvidia-compute nvidia-dkms", "570.86-1", "580.95-1")
    apt = upgraded("2026-11-20T03:00:00+00:00", *rows, by="apt upgrade", user="you")
    dpkg = upgraded("2026-11-20T03:02:11+00:00", *rows, source="/var/log/dpkg.log:7")
    (found,) = compare(kept(machine(driver="570.86")), at_last(machine(driver="580.95")), logs(*apt, *dpkg))
    assert (found.by, found.user) == ("apt upgrade", "you")
    assert {"/var/log/apt/history.log:12", "/var/log/dpkg.log:7"} <= set(found.sources)


def test_what_was_done_before_the_look_is_not_told() -> None:
    done = logs(*upgraded("2026-11-10T03:00:00+00:00", "libnvidia-compute nvidia-dkms", "565.77-1", "570.86-1"))
    assert compare(kept(machine(driver="570.86")), at_last(machine(driver="570.86")), done) == ()


@for_each(
    "packages, before, after",
    (
        ("firefox", "132.0", "133.0"),
        ("libc6", "2.39-0ubuntu8.4", "2.39-0ubuntu8.5"),
        ("gcc-13", "13.3.0-6ubuntu2~24.04", "13.3.0-6ubuntu2~24.04.1"),
        ("base-files", "13ubuntu10.1", "13ubuntu10.2"),
    ),
)
def test_what_matters_to_no_gpu_is_not_told(packages: str, before: str, after: str) -> None:
    done = logs(*upgraded("2026-11-20T03:00:00+00:00", packages, before, after))
    assert compare(None, at_last(machine()), done) == ()


def test_two_equal_cards_of_which_one_moved() -> None:
    both = machine(gpus=(RTX_4090, RTX_4090))
    gpus = both.gpus.value if isinstance(both.gpus, Known) else ()
    moved = replace(both, gpus=Known((gpus[0], replace(gpus[1], pci_address=Known("0000:41:00.0", "PCI"))), "PCI"))
    (found,) = compare(kept(both), at_last(moved), PackageHistory())
    assert (found.subject, found.direction, found.before, found.after) == (
        Subject.GPU,
        Direction.CHANGED,
        "0000:02:00.0",
        "0000:41:00.0",
    )


def test_the_only_start_up_file_that_went_is_told() -> None:
    one = machine()
    none = replace(one, shell=replace(one.shell, startup_files=Known((StartupFile(BASHRC, exists=False),), "the home directory")))
    (found,) = compare(kept(one, startup_file((12, "CUDA_HOME=/usr/local/cuda-12.4"))), at_last(none), PackageHistory())
    assert (found.subject, found.direction, found.place) == (Subject.STARTUP_FILE, Direction.REMOVED, BASHRC)


def test_what_a_move_is_told_by_is_its_source() -> None:
    one = machine(gpus=(RTX_4090,))
    gpus = one.gpus.value if isinstance(one.gpus, Known) else ()
    moved = replace(one, gpus=Known((replace(gpus[0], pci_address=Known("0000:41:00.0", "PCI")),), "the PCI tree"))
    (found,) = compare(kept(one), at_last(moved), PackageHistory())
    assert found.sources == ("the PCI tree",)
    boards = (replace(one, host=replace(one.host, board=Known(name, "board_name"))) for name in ("ASUS X", "MSI Y"))
    (found,) = compare(kept(next(boards)), at_last(next(boards)), PackageHistory())
    assert (found.subject, found.before, found.after, found.sources) == (Subject.COMPUTER, "ASUS X", "MSI Y", ("board_name",))


def test_a_card_that_comes_renumbers_the_others_which_is_no_change_of_theirs() -> None:
    one = machine(gpus=(RTX_4090,))
    two = machine(gpus=(RTX_3090, RTX_4090))
    told_of = two.gpus.value if isinstance(two.gpus, Known) else ()
    uuid = (one.gpus.value if isinstance(one.gpus, Known) else ())[0].uuid
    two = replace(two, gpus=Known((told_of[0], replace(told_of[1], uuid=uuid)), "PCI"))
    found = compare(kept(one), at_last(two), PackageHistory())
    assert [(change.direction, change.name) for change in found] == [(Direction.ADDED, "NVIDIA GeForce RTX 3090")]


def test_a_change_of_an_environment_explains_its_own_findings_alone() -> None:
    change = MachineChange(Subject.TORCH, Direction.CHANGED, "torch", place="/home/you/one")
    for path, explained in (
        ("/home/you/one/lib/torch", True),
        ("/home/you/one", True),
        ("/home/you/one-two/lib", False),
        ("/x", False),
    ):
        finding = Finding("torch-cpu-only", (), (Evidence(verbatim("torch"), verbatim("2.6"), path),))
        assert explains(change, finding, ("torch",)) is explained, path
    assert explains(replace(change, subject=Subject.DRIVER), Finding("x", (), ()), ("driver",))


def test_a_new_environment_is_told_once_with_what_made_it() -> None:
    old = machine(environments=())
    new = machine(environments=(Env("train", "2.7.0+cu126"), Env("empty")))
    done = logs(*installed("2026-11-20T03:00:00+00:00", "torch", "2.7.0", by="pip", environment="/home/you/train"))
    (found,) = compare(kept(old), at_last(new), done)
    assert (found.subject, found.direction, found.name, found.after, found.by) == (
        Subject.ENVIRONMENT,
        Direction.ADDED,
        "/home/you/train",
        "torch 2.7.0+cu126",
        "pip",
    )


def test_a_kept_machine_of_a_time_to_come_is_compared_without_the_logs_times() -> None:
    ahead = KeptMachine("2027-03-01T00:00:00+00:00", "", "doctor", machine(driver="570.86"))
    (found,) = compare(ahead, at_last(machine(driver="580.95")), PackageHistory())
    assert (found.earliest, found.latest) == ("", "")


def test_holds_of_one_kind_are_one_change() -> None:
    held = tuple(
        PackageHold(HoldKind.DPKG, HoldReach.EVERY_UPGRADE, name, "/var/lib/dpkg/status")
        for name in ("nvidia-dkms-580", "libnvidia-gl-580")
    )
    free, bound = (replace(machine(), holds=Known(part, "dpkg")) for part in ((), held))
    (found,) = compare(kept(free), at_last(bound), PackageHistory())
    assert (found.subject, found.direction, found.packages) == (Subject.SETTING, Direction.ADDED, ("libnvidia-gl-580",))
    assert is_cause(found, "setting:hold")
    (back,) = compare(kept(bound), at_last(free), PackageHistory())
    assert back.direction is Direction.REMOVED
