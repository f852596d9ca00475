"""A machine survives JSON, and damage is named by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from gpuassist.model.codec import DecodeError, decode, encode
from gpuassist.model.driver import Driver, KernelModule, NvmlStatus
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess, Holder, PcieLink, PowerState, Recovery
from gpuassist.model.machine import Distribution, Host, Machine, decode_machine, encode_machine
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.toolkit import Compiler, Origin, Toolkit
from gpuassist.model.version import ComputeCapability, Target, Version
from gpuassist.model.words import ENGLISH


def _round_trip(machine: Machine) -> Machine:
    return decode_machine(json.loads(json.dumps(encode_machine(machine, ENGLISH))))


def _holder() -> Holder:
    stat, group = "/proc/41277/stat", "/proc/41277/cgroup"
    return Holder(
        41277,
        "you",
        "python train.py",
        ("/dev/nvidia0",),
        uid=Known(1000, "/proc/41277"),
        state=Known("S", stat),
        started=Known(98765, stat),
        unit=Known("session-3.scope", group),
        container=Known("", group),
    )


def _whole_machine() -> Machine:
    return Machine(
        taken_at="2026-11-21T09:00:00.000+00:00",
        host=Host(
            distribution=Known(Distribution("ubuntu", ("debian",), "22.04", "Ubuntu 22.04.4 LTS"), "/etc/os-release"),
            wsl=Known(0, "/proc/sys/kernel/osrelease"),
            secure_boot=Known(True, "efivars"),
            glibc=Known(Version((2, 35)), "libc.so.6"),
        ),
        gpus=Known((_gpu(),), "/sys/bus/pci/devices"),
        driver=Driver(
            loaded=Known((KernelModule("nvidia", Known(Version((550, 54, 14)), "/sys/module/nvidia/version")),), "/sys/module"),
            nvml_status=Known(NvmlStatus(0, "SUCCESS"), "NVML"),
        ),
        toolkits=Known((_toolkit(),), "/usr/local"),
        compilers=Known((Compiler("g++", "/usr/bin/g++", Known(Version((11, 4, 0)), "g++ -dumpfullversion")),), "PATH"),
        environments=Known((_environment(),), "files"),
        shell=Shell(new_terminal=Known(_terminal(), "bash -l, bash -i")),
        holders=Known((_holder(),), "/proc"),
    )


def _gpu() -> Gpu:
    return Gpu(
        pci_address=Known("0000:01:00.0", "/sys/bus/pci/devices"),
        compute_capability=Known(ComputeCapability(8, 9), "NVML"),
        power_state=Known(PowerState.ACTIVE, "power/runtime_status"),
        pcie_link=Known(PcieLink(16, 16, 2.5, 16.0), "sysfs"),
        memory_total_bytes=Known(25_757_220_864, "NVML"),
        processes=Known((GpuProcess(41277, "C", Unknown(text("not told under WSL2"))),), "NVML"),
    )


def _toolkit() -> Toolkit:
    return Toolkit(
        "/usr/local/cuda-12.4",
        Known(Origin.LOCAL, "its place"),
        Known(Version((12, 4, 1)), "/usr/local/cuda-12.4/version.json"),
        targets=Known((Target.parse("compute_89"), Target.parse("compute_90")), "nvcc --list-gpu-arch"),
        links=("/usr/local/cuda",),
    )


def _environment() -> PythonEnvironment:
    torch = Torch("/envs/train/torch", Known("2.5.1+cu124", "version.py"), Known(Accelerator.CUDA, "version.py"))
    return PythonEnvironment("/envs/train", "train", torch=Known((torch,), "site-packages"))


def _terminal() -> Terminal:
    return Terminal(
        "/bin/bash", (Variable("PATH", "/usr/bin"),), (Command("nvcc", "/usr/bin/nvcc", "/usr/local/cuda-12.4/bin/nvcc"),)
    )


def test_whole_machine_survives_json() -> None:
    document = encode_machine(_whole_machine(), ENGLISH)
    assert encode_machine(decode_machine(document), ENGLISH) == document


def test_loaded_machine_equals_itself_loaded_again() -> None:
    once = _round_trip(_whole_machine())
    assert _round_trip(once) == once


def test_known_facts_come_back_equal() -> None:
    loaded = _round_trip(_whole_machine())
    assert (loaded.compilers, loaded.holders) == (_whole_machine().compilers, _whole_machine().holders)


def test_recovery_is_written_as_it_always_was_and_an_action_of_a_later_nvml_keeps_its_number() -> None:
    for words in ("", "reset", "reboot", "drain", "power cycle", "start", "7"):
        recorded: dict[str, Any] = {"recovery": {"value": words, "source": "NVML"}}
        gpu = decode(Gpu, recorded)
        assert isinstance(gpu.recovery, Known)
        assert type(gpu.recovery.value) is Recovery
        assert encode(gpu.recovery, ENGLISH) == recorded["recovery"]
    with pytest.raises(DecodeError, match="recovery"):
        decode(Gpu, {"recovery": {"value": "of a stranger", "source": "x"}})


def test_empty_machine_stays_not_asked() -> None:
    assert _round_trip(Machine()).gpus == NOT_ASKED


def test_a_reason_of_ours_is_a_message_and_what_else_a_file_says_is_a_string() -> None:
    told = ("not looked at", "no /x: {y}", "a\u202eb")
    loaded = [_reason(_round_trip(Machine(gpus=Unknown(verbatim(one)))).gpus) for one in told]
    assert loaded == [text("not looked at"), *map(verbatim, told[1:])]


def test_known_fact_shows_value_and_source() -> None:
    assert encode(Known(Version((12, 4)), "NVML"), ENGLISH) == {"value": "12.4", "source": "NVML"}


def test_unknown_fact_is_null_beside_reason() -> None:
    fact = Unknown(text("cannot read {path}", path="/sys/x"))
    assert encode(fact, ENGLISH) == {"value": None, "reason": "cannot read /sys/x", "asked": True}


def test_known_absence_is_an_empty_list() -> None:
    assert encode(Known((), "/sys/module"), ENGLISH) == {"value": [], "source": "/sys/module"}


def test_document_carries_schema_number() -> None:
    assert encode_machine(Machine(), ENGLISH)["schema"] == 1


def test_reason_with_braces_survives() -> None:
    machine = Machine(gpus=Unknown(verbatim("odd {name} and }{")))
    assert ENGLISH(_reason(_round_trip(machine).gpus)) == "odd {name} and }{"


def test_unknown_key_is_left_out() -> None:
    document = {**encode_machine(_whole_machine(), ENGLISH), "later": 1}
    assert decode_machine(document) == _round_trip(_whole_machine())


def test_missing_key_is_not_looked_at() -> None:
    document = encode_machine(_whole_machine(), ENGLISH)
    del document["toolkits"]
    assert decode_machine(document).toolkits == NOT_ASKED


@pytest.mark.parametrize("document", [None, [], "x", 5, {}, {"schema": 99}, {"schema": "1"}])
def test_other_documents_are_refused(document: Any) -> None:
    with pytest.raises(DecodeError):
        decode_machine(document)


def test_refusal_names_both_schemas() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_machine({"schema": 7})
    assert "7" in ENGLISH(caught.value.reason)


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({"gpus": []}, "$.gpus"),
        ({"gpus": {"value": 3, "source": "x"}}, "$.gpus.value"),
        ({"gpus": {"value": [{"index": {"value": "0", "source": "x"}}], "source": "x"}}, "$.gpus.value[0].index.value"),
        ({"host": {"wsl": {"value": True, "source": "x"}}}, "$.host.wsl.value"),
        ({"host": 5}, "$.host"),
        ({"driver": {"version": {"value": "new", "source": "x"}}}, "$.driver.version.value"),
        ({"toolkits": {"value": [{}], "source": "x"}}, "$.toolkits.value[0]"),
        ({"taken_at": 5}, "$.taken_at"),
    ],
)
def test_damage_is_named_by_its_place(document: dict[str, Any], where: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_machine({"schema": 1, **document})
    assert f"at {where}:" in ENGLISH(caught.value.reason)


def test_whole_number_is_a_fine_float() -> None:
    link = decode(PcieLink, {"width": 16, "max_width": 16, "speed_gigatransfers": 16, "max_speed_gigatransfers": 32})
    assert link == PcieLink(16, 16, 16.0, 32.0)


def test_value_that_is_no_model_is_our_fault() -> None:
    with pytest.raises(TypeError):
        encode(object(), ENGLISH)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["value", "source", "gpus", "host", "driver"]), inner)
    ),
    max_leaves=10,
)


@given(json_values)
def test_any_json_decodes_or_is_refused(document: Any) -> None:
    try:
        machine = decode_machine({**document, "schema": 1} if isinstance(document, dict) else document)
    except DecodeError:
        return
    assert isinstance(machine, Machine)


def _reason(fact: Fact[Any]) -> Any:
    assert isinstance(fact, Unknown)
    return fact.reason


class _Row(Struct, frozen=True):
    name: str
    note: Text | None = None


def test_value_that_may_be_none_is_null() -> None:
    assert decode(_Row, {"name": "x", "note": None}) == _Row("x")
    assert decode(_Row, {"name": "x", "note": "y"}) == _Row("x", verbatim("y"))
    assert encode(_Row("x", verbatim("y")), ENGLISH) == {"name": "x", "note": "y"}


@pytest.mark.parametrize(
    ("document", "field"), [({"note": None}, "name"), ({"name": 3}, "name"), ({"name": "x", "note": 3}, "note")]
)
def test_error_names_the_field(document: Any, field: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(tuple[_Row, ...], [document])
    assert caught.value.field == field


class _Table(Struct, frozen=True):
    notes: dict[str, int] | None = None


def test_table_decodes_value_by_value() -> None:
    assert decode(_Table, {"notes": {"a": 1}}) == _Table({"a": 1})
    assert decode(_Table, {"notes": None}) == _Table()


@pytest.mark.parametrize(("notes", "field"), [([1], "notes"), ({"a": "1"}, "a")])
def test_damage_in_a_table_is_named(notes: Any, field: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(_Table, {"notes": notes})
    assert caught.value.field == field
