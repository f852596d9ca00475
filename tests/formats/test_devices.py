"""CUDA_VISIBLE_DEVICES as torch and CUDA read it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.devices import DeviceListFault, VisibleDevices, read_visible_devices
from tests.rows import for_each

FIRST = "GPU-11112222-0000-4000-8000-000000000001"
SECOND = "GPU-11113333-0000-4000-8000-000000000002"
INSTANCE = "MIG-44445555-0000-4000-8000-000000000003"
UUIDS = (FIRST, SECOND, INSTANCE)


@pytest.mark.parametrize(
    ("value", "visible"),
    [("0", 1), ("0,1", 2), ("1,0", 2), (" 1 , 0 ", 2), ("+1", 1), ("1gpu2,0", 2), ("0abc", 1)],
)
def test_list_of_indices_is_sound(value: str, visible: int) -> None:
    assert read_visible_devices(value, 2) == VisibleDevices(visible)


@for_each(
    ("value", "visible", "fault", "element"),
    [
        ("", 0, DeviceListFault.EMPTY, ""),
        ("  ", 0, DeviceListFault.EMPTY, "  "),
        ("-1", 0, DeviceListFault.EMPTY, "-1"),
        ("none", 0, DeviceListFault.NOT_A_DEVICE, "none"),
        ("NoDevFiles", 0, DeviceListFault.NOT_A_DEVICE, "NoDevFiles"),
        ("all", 0, DeviceListFault.NOT_A_DEVICE, "all"),
        ("2", 0, DeviceListFault.OUT_OF_RANGE, "2"),
        ("1,2", 1, DeviceListFault.OUT_OF_RANGE, "2"),
        ("0,-1,1", 1, DeviceListFault.OUT_OF_RANGE, "-1"),
        ("0," + "9" * 5000, 1, DeviceListFault.OUT_OF_RANGE, "9" * 5000),
        ("-" + "9" * 5000, 0, DeviceListFault.EMPTY, "-" + "9" * 5000),
        ("00000000000,000000000000", 0, DeviceListFault.TWICE, "000000000000"),
        ("0,0", 0, DeviceListFault.TWICE, "0"),
        ("0,,1", 1, DeviceListFault.NOT_A_DEVICE, ""),
        ("0,", 1, DeviceListFault.NOT_A_DEVICE, ""),
        (f"0,{FIRST}", 1, DeviceListFault.MIXED, FIRST),
    ],
)
def test_list_of_indices_ends_where_it_is_wrong(value: str, visible: int, fault: DeviceListFault, element: str) -> None:
    assert read_visible_devices(value, 2, UUIDS) == VisibleDevices(visible, fault, element)


@pytest.mark.parametrize("value", [FIRST, f"{SECOND},{FIRST}", "GPU-11112", INSTANCE, "MIG-4444"])
def test_uuid_may_be_shortened_while_it_names_one(value: str) -> None:
    assert read_visible_devices(value, 2, UUIDS).fault is None


@pytest.mark.parametrize(
    ("value", "visible", "fault", "element"),
    [
        ("GPU-1111", 0, DeviceListFault.AMBIGUOUS_UUID, "GPU-1111"),
        ("GPU-9", 0, DeviceListFault.NO_SUCH_UUID, "GPU-9"),
        (f"{FIRST},GPU-9", 1, DeviceListFault.NO_SUCH_UUID, "GPU-9"),
        (f"{FIRST},GPU-11112", 0, DeviceListFault.TWICE, "GPU-11112"),
        (f"{FIRST},1", 1, DeviceListFault.MIXED, "1"),
        (f"{FIRST},{INSTANCE}", 1, DeviceListFault.MIXED, INSTANCE),
    ],
)
def test_list_of_uuids_ends_where_it_is_wrong(value: str, visible: int, fault: DeviceListFault, element: str) -> None:
    assert read_visible_devices(value, 2, UUIDS) == VisibleDevices(visible, fault, element)


def test_uuids_are_taken_on_trust_where_none_are_known() -> None:
    assert read_visible_devices("GPU-9", 1).fault is None


@given(
    st.lists(st.one_of(st.integers(-2, 5).map(str), st.sampled_from(["", "x", "1x", "+2", " 3 "])), max_size=5), st.integers(1, 4)
)
def test_sound_means_that_torch_sees_every_element(elements: list[str], count: int) -> None:
    value = ",".join(elements)
    sees_all = bool(value.strip()) and _torch_counts(value, count) == len(value.split(","))
    assert (read_visible_devices(value, count).fault is None) is sees_all


def _torch_counts(value: str, count: int) -> int:
    """How many devices torch reports, by the steps that its documentation of device_count and CUDA's guide describe."""
    ordinals: list[int] = []
    for element in value.split(","):
        ordinal = _leading_number(element.strip())
        if ordinal in ordinals:
            return 0
        if ordinal < 0:
            break
        ordinals.append(ordinal)
    return next((place for place, ordinal in enumerate(ordinals) if ordinal >= count), len(ordinals))


def _leading_number(words: str) -> int:
    digits = words.lstrip("+-")
    end = next((place for place, sign in enumerate(digits) if not sign.isdigit()), len(digits))
    return -1 if not end or words.startswith("-") else int(digits[:end])
