"""Every documented Xid event and every return code of NVML is known, with what to do about it."""

from __future__ import annotations

import pynvml
import pytest

from gpuassist.knowledge.records import XidCause
from tests.knowledge.shipped import KNOWLEDGE

NVML = {one.number: one for one in KNOWLEDGE.codes.all() if one.enum == "nvmlReturn_t"}


def installed_codes() -> dict[int, str]:
    """What nvidia-ml-py calls return codes of NVML."""
    names = [name for name in dir(pynvml) if name == "NVML_SUCCESS" or name.startswith("NVML_ERROR_")]
    return {value: name for name in names if isinstance(value := getattr(pynvml, name), int)}


def test_xids_are_in_order_and_without_gaps() -> None:
    assert [xid.number for xid in KNOWLEDGE.xids()] == list(range(1, 177))


def test_every_xid_has_meaning_and_action() -> None:
    assert all(xid.name and xid.meaning and xid.action for xid in KNOWLEDGE.xids())


def test_xid_names_are_unique() -> None:
    names = [xid.name for xid in KNOWLEDGE.xids()]
    assert len(names) == len(set(names))


def test_live_xid_names_a_cause_or_reports_no_fault() -> None:
    assert [xid.number for xid in KNOWLEDGE.xids() if not xid.ended and not xid.causes] == [106, 107, 154]


@pytest.mark.parametrize(
    ("number", "name", "cause"),
    [
        (13, "ROBUST_CHANNEL_GR_EXCEPTION", XidCause.APPLICATION),
        (31, "ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT", XidCause.APPLICATION),
        (48, "ROBUST_CHANNEL_GPU_ECC_DBE", XidCause.GPU_MEMORY),
        (54, "SILENT_RUNNING_PWR_REDUCED_CLOCKING", XidCause.POWER),
        (63, "INFOROM_DRAM_RETIREMENT_EVENT", XidCause.GPU_MEMORY),
        (74, "NVLINK_ERROR", XidCause.LINK),
        (79, "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS", XidCause.BUS),
        (119, "GSP_RPC_TIMEOUT", XidCause.FIRMWARE),
        (176, "PCIE_CORRECTABLE_ERROR_FAULT", XidCause.BUS),
    ],
)
def test_xid_is_found_by_number(number: int, name: str, cause: XidCause) -> None:
    xid = KNOWLEDGE.xid(number)
    assert xid is not None
    assert xid.name == name
    assert cause in xid.causes
    assert not xid.ended


@pytest.mark.parametrize("number", [5, 14, 58, 87, 91, 108, 138])
def test_ended_xid_says_so(number: int) -> None:
    xid = KNOWLEDGE.xid(number)
    assert xid is not None
    assert xid.ended
    assert xid.meaning.startswith(("not used", "before Ampere: "))


@pytest.mark.parametrize("number", [-1, 0, 177, 9999])
def test_number_that_is_no_xid_is_unknown(number: int) -> None:
    assert KNOWLEDGE.xid(number) is None


def test_installed_library_has_no_unknown_code() -> None:
    assert installed_codes()
    assert {code: name for code, name in installed_codes().items() if code not in NVML} == {}


def test_codes_are_named_as_the_library_names_them() -> None:
    for code, name in installed_codes().items():
        assert NVML[code].name == name


def test_codes_are_unique_and_in_order() -> None:
    codes = list(NVML)
    assert codes == sorted(set(codes))


def test_every_code_has_meaning_and_action() -> None:
    assert all(record.meaning and record.action for record in NVML.values())


@pytest.mark.parametrize("code", [-1, 31, 998, 1000])
def test_other_number_is_no_code(code: int) -> None:
    assert code not in NVML
