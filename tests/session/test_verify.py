"""Which environment is verified, in which surroundings, and what it proves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.verdict import DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.session.checks import check_label, is_known
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verify import (
    VerifyRequest,
    choose,
    find_environments,
    interpreter_at,
    judged,
    verify,
    with_next_step,
)
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.child.families import checks_of
from gpuassist.verify.child.several import joints
from gpuassist.verify.protocol import Planned
from tests.fakes import put, world_under
from tests.rows import for_each
from tests.torch_environment import interpreter_that_runs


def environment(name: str, accelerator: Accelerator | None, *, active: bool = False, whole: bool = True) -> PythonEnvironment:
    torch = () if accelerator is None else (Torch(f"/{name}/torch", accelerator=Known(accelerator, "test")),)
    interpreter: Fact[str] = Known(f"/{name}/bin/python", "test") if whole else Unknown(text("missing"))
    return PythonEnvironment(f"/{name}", name, interpreter=interpreter, active=Known(active, "test"), torch=Known(torch, "test"))


def chosen(*environments: PythonEnvironment) -> str:
    found = choose(Known(environments, "test"))
    return found.value.name if isinstance(found, Known) else ENGLISH(found.reason)


def test_the_active_environment_is_chosen() -> None:
    assert chosen(environment("a", Accelerator.CUDA), environment("b", Accelerator.CPU, active=True)) == "b"


def test_a_gpus_torch_goes_before_a_cpus() -> None:
    assert chosen(environment("a", Accelerator.CPU), environment("b", Accelerator.CUDA)) == "b"


def test_one_without_torch_is_not_chosen() -> None:
    assert chosen(environment("a", None, active=True), environment("b", Accelerator.CPU)) == "b"


def test_one_without_an_interpreter_is_not_chosen() -> None:
    assert chosen(environment("a", Accelerator.CUDA, whole=False), environment("b", Accelerator.CPU)) == "b"


def test_none_to_choose_is_said() -> None:
    assert chosen(environment("a", None)) == "no Python environment with torch was found; name one with --python"


def test_environments_that_are_unknown_stay_so() -> None:
    unknown = Unknown(text("nobody looked"))
    assert choose(unknown) is unknown


def test_environments_are_found_without_a_shell(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/env/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n")
    put(tmp_path, "/home/you/env/bin/python", "", mode=0o755)
    put(tmp_path, "/home/you/env/lib/python3.11/site-packages/torch/version.py", "__version__ = '2.5.1+cpu'\ncuda = None\n")
    variables = {"PATH": "/home/you/env/bin:/usr/bin", "VIRTUAL_ENV": "/home/you/env"}
    session = Session(world_under(tmp_path, variables=variables), Knowledge(Resources().read), ENGLISH)
    found = choose(find_environments(session))
    assert isinstance(found, Known)
    assert found.value.prefix == "/home/you/env"


@pytest.mark.parametrize("given", ["/env", "/env/bin", "/env/bin/python", "/env/"])
def test_an_interpreter_is_found_at_a_path(tmp_path: Path, given: str) -> None:
    put(tmp_path, "/env/bin/python", "", mode=0o755)
    found = interpreter_at(world_under(tmp_path), given)
    assert isinstance(found, Known)
    assert found.value == "/env/bin/python"


def test_python3_will_do(tmp_path: Path) -> None:
    put(tmp_path, "/env/bin/python3", "", mode=0o755)
    found = interpreter_at(world_under(tmp_path), "/env")
    assert isinstance(found, Known)
    assert found.value == "/env/bin/python3"


@pytest.mark.parametrize("given", ["/env", "/nowhere", "/env/lib"])
def test_no_interpreter_at_a_path_is_said(tmp_path: Path, given: str) -> None:
    (tmp_path / "env" / "lib").mkdir(parents=True)
    found = interpreter_at(world_under(tmp_path), given)
    assert isinstance(found, Unknown)
    assert given in ENGLISH(found.reason)


def environment_seen(tmp_path: Path, terminal: Terminal | None) -> dict[str, str]:
    own = {"PATH": "/usr/bin:/bin", "HOME": "/home/you", "CUDA_VISIBLE_DEVICES": "1", "LD_LIBRARY_PATH": "/own"}
    session = Session(World(Surroundings("/home/you", "you", 1000, own)), Knowledge(Resources().read), ENGLISH)
    python = interpreter_that_runs(tmp_path, sys.executable, "print(json.dumps(dict(os.environ)))")
    result = verify(session, VerifyRequest(python, terminal=terminal), on_event=lambda event: None, cancelled=lambda: False)
    found: dict[str, str] = json.loads(result.output)
    return found


def test_without_a_terminal_its_own_variables_count(tmp_path: Path) -> None:
    found = environment_seen(tmp_path, None)
    assert (found["CUDA_VISIBLE_DEVICES"], found["LD_LIBRARY_PATH"]) == ("1", "/own")


def test_with_a_new_terminal_only_that_ones_count(tmp_path: Path) -> None:
    terminal = Terminal("/bin/bash", (Variable("PATH", "/usr/bin:/bin"), Variable("LD_LIBRARY_PATH", "/new")), ())
    found = environment_seen(tmp_path, terminal)
    assert found["LD_LIBRARY_PATH"] == "/new"
    assert "CUDA_VISIBLE_DEVICES" not in found
    assert found["HOME"] == "/home/you"


def sentence(*verdicts: Verdict, visible: int, why_none: str = "") -> str:
    devices = tuple(DeviceVerdict(f"cuda:{index}", "", verdict, ()) for index, verdict in enumerate(verdicts))
    return ENGLISH(verdict_on_accelerators(Verification("python", (), devices, visible=visible, no_accelerator=why_none)))


def test_all_gpus_that_passed_are_all() -> None:
    assert sentence(Verdict.PASS, Verdict.PASS, visible=2) == "Every GPU that this torch sees computed the right results."


def test_some_gpus_are_counted() -> None:
    assert sentence(Verdict.PASS, Verdict.FAIL, visible=2).startswith("1 of the 2 GPUs")
    assert sentence(Verdict.PASS, visible=2).startswith("1 of the 2 GPUs")


def test_none_is_said_with_its_reason() -> None:
    assert sentence(visible=0, why_none="torch sees no GPU") == "No GPU was tested: torch says “torch sees no GPU”"
    assert sentence(visible=0) == "No GPU was tested."


def test_a_check_that_is_not_known_keeps_its_name() -> None:
    assert ENGLISH(check_label(Planned("matmul", "fp32"))) == "matrix product"
    assert ENGLISH(check_label(Planned("something-new", "fp8"))) == "something-new"


@pytest.mark.parametrize("device", ["cpu", "cuda:0"])
def test_every_check_has_its_name_and_its_group(device: str) -> None:
    joint = [name for one in joints(["cuda:0", "cuda:1"]) for name, _ in one.checks]
    assert [name for name in (*(one.name for one in checks_of("full", device)), *joint) if not is_known(name)] == []


CARD = Gpu(
    index=Known(0, "NVML"), uuid=Known("GPU-aa", "NVML"), name=Known("RTX 4090", "NVML"), pci_address=Known("0000:01:00.0", "pci")
)
ON_CPU = Verification(
    "python",
    (("torch", "2.6.0+cu124"), ("cuda", "12.4")),
    (DeviceVerdict("cpu", "x86_64", Verdict.PASS, ()),),
    verdict=Verdict.PASS,
    no_accelerator="RuntimeError: No CUDA GPUs are available",
)


@pytest.mark.parametrize(
    ("gpus", "variables", "why", "asked", "verdict"),
    [
        ((CARD,), {}, "RuntimeError: No CUDA GPUs are available", ("all",), Verdict.ERROR),
        ((CARD,), {}, "RuntimeError: Error 803: system has unsupported display driver", ("all",), Verdict.ERROR),
        ((), {}, "RuntimeError: Error 803: system has unsupported display driver", ("all",), Verdict.ERROR),
        ((), {}, "RuntimeError: No CUDA GPUs are available", ("all",), Verdict.PASS),
        ((), {}, "RuntimeError: Found no NVIDIA driver on your system.", ("all",), Verdict.PASS),
        ((CARD,), {"CUDA_VISIBLE_DEVICES": "-1"}, "RuntimeError: No CUDA GPUs are available", ("all",), Verdict.SKIPPED),
        ((CARD,), {}, "RuntimeError: No CUDA GPUs are available", ("cpu",), Verdict.PASS),
    ],
)
def test_a_gpu_that_torch_cannot_start_is_no_pass(
    gpus: tuple[Gpu, ...], variables: dict[str, str], why: str, asked: tuple[str, ...], verdict: Verdict
) -> None:
    assert judged(replace(ON_CPU, no_accelerator=why), gpus, variables, asked).verdict is verdict


def test_a_torch_for_the_cpu_beside_a_gpu_leaves_it_untested() -> None:
    for_cpu = replace(
        ON_CPU, environment=(("torch", "2.6.0+cpu"), ("cuda", "")), no_accelerator="this torch is built for the CPU only"
    )
    result = judged(for_cpu, (CARD,), {}, ("all",))
    assert result.verdict is Verdict.SKIPPED
    assert "built for the CPU alone" in ENGLISH(verdict_on_accelerators(result))
    assert judged(for_cpu, (), {}, ("all",)).verdict is Verdict.PASS


@for_each(
    "result, variables, answer, commands",
    [
        (replace(ON_CPU, environment=(("torch", "2.6.0+cpu"),)), {}, "torch-for-cpu", ["gpuassist plan torch"]),
        (ON_CPU, {"CUDA_VISIBLE_DEVICES": "-1"}, "gpus-hidden", ["unset CUDA_VISIBLE_DEVICES"]),
    ],
)
def test_gpus_that_were_not_tested_have_a_next_step(
    result: Verification, variables: dict[str, str], answer: str, commands: list[str], tmp_path: Path
) -> None:
    session = Session(world_under(tmp_path), Knowledge(Resources().read), ENGLISH)
    (found,) = with_next_step(session, judged(result, (CARD,), variables, ("all",)), Machine()).explained
    lines = [line for remedy in found.answer.remedies for one in remedy.commands for line in one.lines]
    assert (found.answer.id, lines) == (answer, commands)


@pytest.mark.parametrize(("uuid", "asked"), [("GPU-aa", ("all",)), ("", ("GPU-aa",))])
def test_each_device_is_known_as_the_card_that_it_is(uuid: str, asked: tuple[str, ...]) -> None:
    device = DeviceVerdict("cuda:0", "RTX 4090", Verdict.PASS, (), uuid=uuid)
    (found,) = judged(Verification("python", (), (device,), visible=1), (CARD,), {}, asked).devices
    assert (found.uuid, found.pci, found.index) == ("GPU-aa", "0000:01:00.0", Known(0, "NVML"))
