"""Which GPUs a wish means, and what is said where it means none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.changes.choice import ALL, Devices, choose_devices, names_of
from gpuassist.changes.wishes import WishError
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from tests.rows import for_each

UUIDS = ("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", "GPU-8aa0a6a8-1111-2222-3333-444455556666", "GPU-00000000-aaaa")
MIG = "MIG-41b3359c-e721-56e5-8009-12e5797ed514"


def _gpu(index: int, uuid: Fact[str] | None = None, *, mig: tuple[str, ...] = ()) -> Gpu:
    return Gpu(
        name=Known(f"NVIDIA RTX {index}", "x"),
        index=Known(index, "x"),
        uuid=uuid or Known(UUIDS[index], "x"),
        mig_uuids=Known(mig, "x"),
    )


THREE = Known((_gpu(0), _gpu(1), _gpu(2, mig=(MIG,))), "x")


@pytest.mark.parametrize(
    ("words", "values", "hidden"),
    [
        ("0,2", ("0", "2"), 1),
        (" 2 , 0 ", ("2", "0"), 1),
        ("00", ("0",), 2),
        ("0,1,2", ("0", "1", "2"), 0),
        (UUIDS[1], (UUIDS[1],), 2),
        ("GPU-89", ("GPU-89",), 2),
        ("GPU-89,GPU-00", ("GPU-89", "GPU-00"), 1),
        (MIG, (MIG,), 2),
        (f"MIG-{UUIDS[2]}/1/0", (f"MIG-{UUIDS[2]}/1/0",), 2),
        ("all", (), 0),
        (" all ", (), 0),
    ],
)
def test_takes_gpus_as_they_are_named(words: str, values: tuple[str, ...], hidden: int) -> None:
    devices = choose_devices(THREE, words)
    assert devices.values == values
    assert len(devices.hidden) == hidden
    assert devices.notes == ()


@for_each("words", ["", ",", "0,", "first", "-1", "0x1", "GPU-", "GPU-xyz", "NVIDIA", "0;1", "all,0", "1.0", "²", "9" * 5000])
def test_words_that_name_no_gpu_are_wrong_usage(words: str) -> None:
    with pytest.raises(WishError) as raised:
        choose_devices(THREE, words)
    assert "names no GPU" in ENGLISH(raised.value.reason)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("0,0", "0 names a GPU a second time. This machine has 0: NVIDIA RTX 0 (GPU-8932f937"),
        ("0,1,00", "0 names a GPU a second time"),
        (f"GPU-89,{UUIDS[0]}", f"{UUIDS[0]} names a GPU a second time"),
        ("0,GPU-89", "mixes indices and UUIDs"),
    ],
)
def test_a_choice_that_contradicts_itself_is_wrong_usage(words: str, says: str) -> None:
    with pytest.raises(WishError) as raised:
        choose_devices(THREE, words)
    assert says in ENGLISH(raised.value.reason)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("3", "3 is no GPU of this machine. It has 0: NVIDIA RTX 0"),
        ("GPU-ff", "GPU-ff is no GPU of this machine"),
        ("MIG-41b3359c-ffff", "is no GPU of this machine"),
        ("GPU-8", "GPU-8 fits several GPUs"),
    ],
)
def test_a_gpu_that_is_not_here_is_refused_with_those_that_are(words: str, says: str) -> None:
    with pytest.raises(RepairError) as raised:
        choose_devices(THREE, words)
    assert says in ENGLISH(raised.value.reason)
    assert "2: NVIDIA RTX 2" in ENGLISH(raised.value.reason)


def test_a_machine_without_gpus_has_none_to_choose() -> None:
    with pytest.raises(RepairError) as raised:
        choose_devices(Known((), "x"), "0")
    assert "no NVIDIA GPU" in ENGLISH(raised.value.reason)


def test_what_is_not_known_is_not_checked_and_said() -> None:
    devices = choose_devices(Unknown(text("NVML hangs")), "0,7")
    assert devices.values == ("0", "7")
    assert "not checked: this machine's GPUs are not known (NVML hangs)" in ENGLISH(devices.notes[0])


def test_a_second_time_is_told_without_knowing_the_gpus() -> None:
    with pytest.raises(WishError):
        choose_devices(Unknown(text("NVML hangs")), "0,0")


def test_a_uuid_that_cannot_be_known_is_not_refused() -> None:
    gpus = Known((_gpu(0, Unknown(text("NVML was not asked"))),), "x")
    devices = choose_devices(gpus, "GPU-ff")
    assert devices.hidden == ()
    assert "not checked: whether GPU-ff is here (NVML was not asked)" in ENGLISH(devices.notes[0])


def test_an_index_is_counted_on_the_bus_where_nvml_is_silent() -> None:
    gpus = Known((Gpu(name=Known("A", "x")), Gpu(name=Known("B", "x"))), "x")
    devices = choose_devices(gpus, "1")
    assert devices.hidden == ("0: A",)
    assert "order of the PCI bus" in ENGLISH(devices.notes[0])
    with pytest.raises(RepairError):
        choose_devices(gpus, "2")


def test_several_mig_instances_come_with_a_word() -> None:
    gpus = Known((_gpu(0, mig=(MIG, "MIG-ff")),), "x")
    assert "one MIG instance" in ENGLISH(choose_devices(gpus, f"{MIG},MIG-ff").notes[0])


INDICES = st.lists(st.integers(0, 2), min_size=1, max_size=3, unique=True)


@given(INDICES)
def test_every_choice_of_indices_is_taken_in_its_order(indices: list[int]) -> None:
    devices = choose_devices(THREE, ",".join(map(str, indices)))
    assert devices.values == tuple(map(str, indices))
    assert len(devices.hidden) == 3 - len(indices)


@given(INDICES)
def test_what_was_chosen_chooses_the_same_again(indices: list[int]) -> None:
    first = choose_devices(THREE, ",".join(map(str, indices)))
    assert choose_devices(THREE, ",".join(first.values)) == first


@given(st.integers(2, len(UUIDS[0])).map(lambda length: UUIDS[0][:length]).filter(lambda words: len(words) > len("GPU-8")))
def test_as_much_of_a_uuid_as_tells_it_apart_is_enough(words: str) -> None:
    assert choose_devices(THREE, words).values == (words,)


def _said(words: str) -> str:
    """The choice, or why there is none."""
    try:
        return ",".join(choose_devices(THREE, words).values) or ALL
    except RepairError as error:
        return ENGLISH(error.reason)


@given(st.text(max_size=12))
def test_any_words_are_a_choice_or_are_refused_in_words(words: str) -> None:
    assert _said(words)


@pytest.mark.parametrize("words", [UUIDS[0].upper(), "GPU-8932F937", "GPU-8932f937-D72C"])
def test_letters_of_a_uuid_may_be_large(words: str) -> None:
    assert choose_devices(THREE, words).values == (words,)


def test_nvmls_own_index_counts_where_the_bus_has_another_order() -> None:
    gpus = Known((_gpu(1), _gpu(0)), "x")
    assert choose_devices(gpus, "0").hidden == (f"1: NVIDIA RTX 1 ({UUIDS[1]})",)


@pytest.mark.parametrize(
    ("gpu", "name"),
    [
        (_gpu(1), f"1: NVIDIA RTX 1 ({UUIDS[1]})"),
        (Gpu(name=Known("NVIDIA L4", "x")), "0: NVIDIA L4"),
        (Gpu(pci_id=Known("10de:27b8", "x")), "0: 10de:27b8"),
        (Gpu(), "0: "),
    ],
)
def test_a_gpu_is_named_by_what_is_known_of_it(gpu: Gpu, name: str) -> None:
    assert names_of((gpu,)) == name


def test_an_instance_that_was_cut_by_nobody_knows_whom_is_not_refused() -> None:
    gpus = Known((_gpu(0), Gpu(mig_uuids=Unknown(text("NVML was not asked")))), "x")
    assert "not checked: whether MIG-ff is here" in ENGLISH(choose_devices(gpus, "MIG-ff").notes[0])


def test_all_leaves_nothing_to_check() -> None:
    assert choose_devices(Unknown(text("NVML hangs")), "all") == Devices(())
