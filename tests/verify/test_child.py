"""The child script with a real torch, sound and doctored: every check can fail, and each fails for its own reason."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.verdict import Check, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.system.clock import Clock
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.protocol import CheckBegun, Event, Started
from gpuassist.verify.runner import CHILD, Level, RunRequest, run
from tests.torch_environment import ReadyTorch, doctored_torch, surroundings, torch_python
from tests.verify.conftest import Run

pytestmark = pytest.mark.slow

OLD_PYTHONS = sorted(Path.home().joinpath(".pyenv/versions").glob("3.[89].*/bin/python"))  # before a test has a home of its own


Sound = tuple[Verification, list[Event]]


def checks(result: Verification) -> dict[str, Check]:
    return {f"{check.name} {check.dtype}": check for device in result.devices for check in device.checks}


def failed(result: Verification) -> set[str]:
    return {name for name, check in checks(result).items() if check.verdict is Verdict.FAIL}


def words_of(check: Check) -> str:
    assert check.error is not None
    return ENGLISH(check.error)


@pytest.fixture(scope="module")
def python() -> str:
    return torch_python()


@pytest.fixture(scope="module")
def sound(python: str) -> Sound:
    """One run of the sound torch, which several tests look at, and its events."""
    heard: list[Event] = []
    world = World(Surroundings.current())
    return run(world, RunRequest(python, surroundings()), on_event=heard.append, cancelled=lambda: False), heard


def test_a_sound_torch_passes_on_the_cpu(sound: Sound) -> None:
    result, _ = sound
    assert (result.verdict, result.error, failed(result)) == (Verdict.PASS, None, set())
    assert [device.device for device in result.devices] == ["cpu"]


def test_the_cpu_alone_verifies_no_accelerator(sound: Sound) -> None:
    result, _ = sound
    assert not result.accelerator_verified
    assert result.no_accelerator == "this torch is built for the CPU only"


def test_every_check_has_error_and_bound_or_a_reason(sound: Sound) -> None:
    for check in checks(sound[0]).values():
        if check.verdict is Verdict.PASS:
            assert isinstance(check.max_abs_error, Known)
            assert isinstance(check.tolerance, Known)
        else:
            assert (check.verdict, check.error is not None) == (Verdict.SKIPPED, True)


def test_products_and_copies_have_rates(sound: Sound) -> None:
    units = {name: check.rate_unit for name, check in checks(sound[0]).items() if isinstance(check.rate, Known)}
    assert {units["matmul fp32"], units["convolution fp32"]} == {"TFLOP/s"}
    assert {units["copy-to-device int64"], units["copy-from-device int64"]} == {"GB/s"}


def test_what_is_planned_is_what_is_done(sound: Sound) -> None:
    _, heard = sound
    planned = [(check.name, check.dtype) for check in next(event for event in heard if isinstance(event, Started)).checks]
    assert [(event.name, event.dtype) for event in heard if isinstance(event, CheckBegun)] == planned


def test_two_runs_find_the_same_errors(verified: Run, python: str, sound: Sound) -> None:
    first, second = (
        {name: check.max_abs_error for name, check in checks(result).items()}
        for result in (sound[0], verified(python, devices=("cpu",)))
    )
    assert first == second


def test_the_full_level_does_more(verified: Run, python: str) -> None:
    result = verified(python, level=Level.FULL)
    assert result.verdict is Verdict.PASS
    assert {"fft complex64", "solve fp64", "matmul fp64"} <= set(checks(result))
    assert checks(result)["matmul tf32"].verdict is Verdict.SKIPPED


# Each piece breaks one operation of torch the way a bad kernel would; two runs break half of the operations each, so that every
# check is seen to fail where it should and to pass where its neighbours fail.
CUT_INPUTS = """
real_product = torch.Tensor.__matmul__
def cut(x):
    return (x.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32) if x.dtype is torch.float32 else x
torch.Tensor.__matmul__ = lambda a, b: real_product(cut(a), cut(b))
"""
WRONG_ELEMENTS = """
real_product = torch.Tensor.__matmul__
def wrong(a, b):
    result = real_product(a, b)
    if a.dtype is torch.float16: result[3, 5] += 0.1
    if a.dtype is torch.bfloat16: result[0, 0] = float("nan")
    return result
torch.Tensor.__matmul__ = wrong
"""
SLIGHTLY_WRONG_SINE = """
real_sine = torch.Tensor.sin
torch.Tensor.sin = lambda x: real_sine(x) + (2e-6 if x.dtype is torch.float32 else 0)
"""
SUM_WITHOUT_AN_ELEMENT = """
real_sum = torch.Tensor.sum
def drop(x, *args, **named):
    if x.dtype is torch.float32 and named.get("dim") == 1:
        x = x.clone()
        x[:, 7] = 0
    return real_sum(x, *args, **named)
torch.Tensor.sum = drop
"""
CONVOLUTION_WITHOUT_ITS_LAST_ROW = """
real_convolution = torch.nn.functional.conv2d
def off(x, *args, **named):
    result = real_convolution(x, *args, **named)
    if x.dtype is torch.float32: result[:, :, -1] = 0
    return result
torch.nn.functional.conv2d = off
"""
MISSING_KERNEL = """
def missing(*args, **named): raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
torch.nn.functional.conv2d = missing
"""
BIT_FLIPS_ON_THE_WAY_THERE = """
real_copy = torch.Tensor.to
def flip(x, *args, **named):
    result = real_copy(x, *args, **named)
    if x.dtype is torch.int64 and named.get("copy") and "cpu" not in args: result[9] ^= 1
    return result
torch.Tensor.to = flip
"""
BIT_FLIPS_ON_THE_WAY_BACK = """
real_copy = torch.Tensor.to
def flip(x, *args, **named):
    result = real_copy(x, *args, **named)
    if named.get("copy") and "cpu" in args: result[9] ^= 1
    return result
torch.Tensor.to = flip
"""
HALF_A_GRADIENT = """
real_backward = torch.Tensor.backward
torch.Tensor.backward = lambda x: real_backward(x * 0.5)
"""


def test_cut_inputs_a_wrong_sine_and_missing_kernels_are_noticed(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, CUT_INPUTS + SLIGHTLY_WRONG_SINE + MISSING_KERNEL + BIT_FLIPS_ON_THE_WAY_BACK))
    assert failed(result) == {"matmul fp32", "backward fp32", "elementwise fp32", "convolution fp32", "copy-from-device int64"}
    assert words_of(checks(result)["convolution fp32"]).startswith("RuntimeError: CUDA error: no kernel image")
    assert "Traceback" in result.output


def test_single_wrong_elements_are_noticed(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    wrong = WRONG_ELEMENTS + SUM_WITHOUT_AN_ELEMENT + CONVOLUTION_WITHOUT_ITS_LAST_ROW + BIT_FLIPS_ON_THE_WAY_THERE
    result = verified(ready_torch.doctored(tmp_path, wrong))
    copies = {"copy-to-device int64", "copy-from-device int64"}
    assert failed(result) == {"matmul fp16", "matmul bf16", "reduction fp32", "convolution fp32", *copies}
    assert "not finite" in words_of(checks(result)["matmul bf16"])
    assert "further from the reference" in words_of(checks(result)["matmul fp16"])


def test_a_broken_fourier_transform_fails(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        real = torch.fft.fft
        torch.fft.fft = lambda x: real(x) * 1.001 if x.dtype is torch.complex64 else real(x)
        real_solve = torch.linalg.solve
        torch.linalg.solve = lambda a, b: real_solve(a, b) * (1 + 1e-7)
        """
    result = verified(ready_torch.doctored(tmp_path, code), level=Level.FULL)
    assert failed(result) == {"fft complex64", "solve fp64"}


def test_a_format_that_this_torch_lacks_is_skipped(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        real = torch.Tensor.__matmul__
        def lacks(a, b):
            if a.dtype is torch.float16: raise RuntimeError('"addmm_impl_cpu_" not implemented for \\'Half\\'')
            return real(a, b)
        torch.Tensor.__matmul__ = lacks
        """
    result = verified(ready_torch.doctored(tmp_path, textwrap.dedent(code) + HALF_A_GRADIENT))
    assert checks(result)["matmul fp16"].verdict is Verdict.SKIPPED
    assert failed(result) == {"backward fp32"}


def test_an_abort_in_a_check_is_a_failure_there(verified: Run, tmp_path: Path) -> None:
    result = verified(doctored_torch(tmp_path, "torch.nn.functional.conv2d = lambda *a, **n: os.abort()"))
    assert failed(result) == {"convolution fp32"}
    assert "SIGABRT" in words_of(checks(result)["convolution fp32"])


class _OverAt(Clock):
    """A clock by which every limit is over once a check has begun."""

    def __init__(self, check: str, heard: list[Event]) -> None:
        self._check, self._heard = check, heard

    def monotonic(self) -> float:
        begun = any(isinstance(one, CheckBegun) and one.name == self._check for one in self._heard)
        return super().monotonic() + (1_000_000 if begun else 0)


def test_a_hang_in_a_check_is_hung_there(verified: Run, tmp_path: Path) -> None:
    hanging = doctored_torch(tmp_path, "torch.nn.functional.conv2d = lambda *a, **n: time.sleep(60)")
    heard: list[Event] = []
    result = verified(hanging, heard=heard, clock=_OverAt("convolution", heard))
    assert result.verdict is Verdict.HUNG
    assert checks(result)["convolution fp32"].verdict is Verdict.HUNG


def test_torchs_settings_and_the_users_modules_are_left_alone(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        torch.backends.cuda.matmul.allow_tf32 = True
        real_product, real_sum, seen = torch.Tensor.__matmul__, torch.Tensor.sum, set()
        def spy(a, b):
            seen.add(torch.backends.cuda.matmul.allow_tf32)
            return real_product(a, b)
        def after(x, *args, **named):
            print("tf32", torch.backends.cuda.matmul.allow_tf32, False in seen)
            try:
                import runner
            except ModuleNotFoundError as error:
                print(error)
            return real_sum(x, *args, **named)
        torch.Tensor.__matmul__, torch.Tensor.sum = spy, after
        """
    output = verified(ready_torch.doctored(tmp_path, code)).output
    assert "tf32 True True" in output
    assert "No module named 'runner'" in output


def test_a_uuid_never_falls_back_to_the_cpu(verified: Run, python: str) -> None:
    result = verified(python, devices=("GPU-5090aaaa-0000-4000-8000-000000000000",))
    assert (result.verdict, result.devices) == (Verdict.FAIL, ())


def test_an_environment_without_torch_says_so(verified: Run) -> None:
    result = verified(sys.executable)
    assert result.verdict is Verdict.SKIPPED
    assert result.error is not None
    assert "No module named 'torch'" in ENGLISH(result.error)


@pytest.mark.parametrize("place", [CHILD, str(Path(CHILD).with_name("operations.py"))])
def test_it_compiles_on_the_oldest_python(place: str, tmp_path: Path) -> None:
    if not OLD_PYTHONS:
        pytest.skip("NOT RUN: needs Python 3.8 or 3.9; install one with pyenv")
    code = f"import ast, sys; ast.parse(open({place!r}, encoding='utf-8').read()); print(sys.version_info[:2])"
    done = subprocess.run([OLD_PYTHONS[0], "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_runs_on_the_oldest_python(verified: Run) -> None:
    if not OLD_PYTHONS:
        pytest.skip("NOT RUN: needs Python 3.8 or 3.9; install one with pyenv")
    result = verified(str(OLD_PYTHONS[0]))
    assert result.verdict is Verdict.SKIPPED
    assert dict(result.environment)["python"].startswith("3.")


def test_it_imports_nothing_of_gpuassist() -> None:
    for place in (Path(CHILD), Path(CHILD).with_name("operations.py")):
        assert "import gpuassist" not in place.read_text("utf-8")
        assert "from gpuassist" not in place.read_text("utf-8")
