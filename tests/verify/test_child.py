"""The child scripts with a real torch, sound and doctored: what breaks a check is named there, and the rest goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.verdict import Cause, Check, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.verify.protocol import CheckBegun, Event, Imported, Started
from gpuassist.verify.runner import CHILD, LIMITS, Level, Limits, RunRequest, run
from tests.rows import for_each
from tests.torch_environment import ReadyTorch, surroundings, torch_python
from tests.verify.conftest import Run

pytestmark = pytest.mark.slow

OLD_PYTHONS = sorted(Path.home().joinpath(".pyenv/versions").glob("3.[89].*/bin/python"))  # before a test has a home of its own
SCRIPTS = sorted(Path(CHILD).parent.glob("*.py"))
PATIENT = Limits(checks=600.0, cpu=600.0)  # on a machine that is busy with other tests

Sound = tuple[Verification, list[Event]]


def checks(result: Verification) -> dict[str, Check]:
    return {f"{check.name} {check.dtype}": check for device in result.devices for check in device.checks}


def having(result: Verification, verdict: Verdict) -> set[str]:
    return {name for name, check in checks(result).items() if check.verdict is verdict}


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
    request = RunRequest(python, surroundings(), limits=PATIENT)
    return run(world, request, on_event=heard.append, cancelled=lambda: False), heard


def test_a_sound_torch_passes_on_the_cpu(sound: Sound) -> None:
    result, _ = sound
    assert (result.verdict, result.error) == (Verdict.PASS, None)
    assert having(result, Verdict.FAIL) | having(result, Verdict.ERROR) == set()
    assert [device.device for device in result.devices] == ["cpu"]


def test_the_cpu_alone_verifies_no_accelerator(sound: Sound) -> None:
    result, _ = sound
    assert not result.accelerator_verified
    assert result.no_accelerator == "this torch is built for the CPU only"


def test_every_check_has_error_bound_and_count_or_a_reason(sound: Sound) -> None:
    for name, check in checks(sound[0]).items():
        if check.verdict is Verdict.PASS:
            assert isinstance(check.max_abs_error, Known), name
            assert isinstance(check.tolerance, Known), name
            assert isinstance(check.compared, Known), name
            assert check.compared.value > 0, name
        else:
            assert (check.verdict, check.error is not None) == (Verdict.SKIPPED, True), name


def test_what_is_planned_is_what_is_done(sound: Sound) -> None:
    _, heard = sound
    (start,) = [event for event in heard if isinstance(event, Started)]
    planned = [(check.name, check.dtype) for device in start.devices for check in device.checks]
    assert [(event.name, event.dtype) for event in heard if isinstance(event, CheckBegun)] == planned
    assert isinstance(heard[0], Imported)


def test_the_full_level_does_more() -> None:
    from gpuassist.verify.child.families import checks_of

    quick, full = ([(one.name, one.dtype) for one in checks_of(level, "cuda:0")] for level in ("quick", "full"))
    assert full[: len(quick)] == quick
    assert len(full) > len(quick)
    assert len(set(full)) == len(full)


# What torch does for the first matrix product after the first kernel.
BROKEN = {
    "SIGSEGV": "os.kill(os.getpid(), 11)",
    "SIGABRT": "os.abort()",
    "status 7": "os._exit(7)",
}


def doctored(ready_torch: ReadyTorch, folder: Path, code: str) -> str:
    """An interpreter whose torch runs `code` for each product of the format fp16."""
    lines = f"""
        real = torch.Tensor.__matmul__
        def broken(a, b):
            if a.dtype is torch.float16:
                {code}
            return real(a, b)
        torch.Tensor.__matmul__ = broken
        """
    return ready_torch.doctored(folder, lines)


@for_each(("ending", "code"), BROKEN.items())
def test_a_crash_is_an_error_of_its_check_and_the_rest_goes_on(
    ending: str, code: str, verified: Run, ready_torch: ReadyTorch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("crash")
    result = verified(doctored(ready_torch, folder, code), limits=PATIENT)
    found = checks(result)
    assert having(result, Verdict.ERROR) == {"matmul fp16"}
    assert ending in words_of(found["matmul fp16"])
    assert found["matmul bf16"].verdict is Verdict.PASS
    assert (result.verdict, result.error) == (Verdict.ERROR, None)


def test_a_hang_is_hung_there_and_the_rest_goes_on(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    limits = Limits(checks=600.0, cpu=3.0)
    result = verified(doctored(ready_torch, tmp_path, "time.sleep(600)"), limits=limits)
    assert checks(result)["matmul fp16"].verdict is Verdict.HUNG
    assert words_of(checks(result)["matmul fp16"]) == "no answer for 3 s"
    assert checks(result)["matmul fp32"].verdict is Verdict.PASS
    assert result.verdict is Verdict.HUNG


def test_what_does_not_fit_into_the_time_is_not_run(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, ""), limits=Limits(checks=1e-6))
    first, *others = result.devices[0].checks
    assert first.verdict is Verdict.PASS
    assert {check.cause for check in others} == {Cause.TIME}
    assert result.verdict is Verdict.SKIPPED  # that a kernel runs proves nothing of what it computes


def test_a_wrong_element_is_a_failure_with_its_place(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = "result = real(a, b); result[-1, 3] += 16; return result"
    result = verified(doctored(ready_torch, tmp_path, code), limits=PATIENT)
    assert checks(result)["matmul fp16"].verdict is Verdict.FAIL
    assert "3]" in words_of(checks(result)["matmul fp16"])
    assert result.verdict is Verdict.FAIL


def test_an_exception_has_torchs_words_and_its_traceback_is_kept(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    words = "CUDA error: no kernel image is available for execution on the device"
    result = verified(doctored(ready_torch, tmp_path, f"raise RuntimeError({words!r})"), limits=PATIENT)
    assert words_of(checks(result)["matmul fp16"]) == f"RuntimeError: {words}"
    assert checks(result)["matmul fp16"].verdict is Verdict.ERROR
    assert "Traceback" in result.output


def test_a_format_that_this_torch_lacks_is_skipped(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    lacks = """raise RuntimeError('"addmm_impl_cpu_" not implemented for Half')"""
    result = verified(doctored(ready_torch, tmp_path, lacks), limits=PATIENT)
    check = checks(result)["matmul fp16"]
    assert (check.verdict, check.cause) == (Verdict.SKIPPED, Cause.FORMAT)
    assert result.verdict is Verdict.PASS


def test_torchs_settings_and_the_users_modules_are_left_alone(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
        torch.backends.cuda.matmul.allow_tf32 = True
        real_product, seen = torch.Tensor.__matmul__, set()
        def spy(a, b):
            if not seen:
                try:
                    import worker
                except ModuleNotFoundError as error:
                    print(error, flush=True)
            seen.add(torch.backends.cuda.matmul.allow_tf32)
            if a.dtype is torch.bfloat16 and len(seen) == 2:
                print("tf32 both ways", flush=True)
            return real_product(a, b)
        torch.Tensor.__matmul__ = spy
        """
    output = verified(ready_torch.doctored(tmp_path, code), limits=PATIENT).output
    assert "No module named 'worker'" in output
    assert "tf32 both ways" in output  # references are computed with the user's own setting, the checked products without it


def test_a_uuid_never_falls_back_to_the_cpu(verified: Run, python: str) -> None:
    result = verified(python, devices=("GPU-5090aaaa-0000-4000-8000-000000000000",))
    assert (result.verdict, result.devices) == (Verdict.ERROR, ())


def test_an_environment_without_torch_says_so(verified: Run) -> None:
    result = verified(sys.executable)
    assert result.verdict is Verdict.SKIPPED
    assert result.error is not None
    assert "No module named 'torch'" in ENGLISH(result.error)


def test_quick_has_ten_seconds_after_the_import() -> None:
    assert LIMITS[Level.QUICK].checks == 10.0


def test_it_compiles_on_the_oldest_python() -> None:
    if not OLD_PYTHONS:
        pytest.skip("NOT RUN: needs Python 3.8 or 3.9; install one with pyenv")
    places = [str(place) for place in SCRIPTS]
    code = f"import ast\nfor place in {places!r}: ast.parse(open(place, encoding='utf-8').read(), place)"
    done = subprocess.run([OLD_PYTHONS[0], "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_runs_on_the_oldest_python(verified: Run) -> None:
    if not OLD_PYTHONS:
        pytest.skip("NOT RUN: needs Python 3.8 or 3.9; install one with pyenv")
    result = verified(str(OLD_PYTHONS[0]))
    assert result.verdict is Verdict.SKIPPED
    assert dict(result.environment)["python"].startswith("3.")


def test_it_imports_nothing_of_gpuassist() -> None:
    for place in SCRIPTS:
        assert "import gpuassist" not in place.read_text("utf-8")
        assert "from gpuassist" not in place.read_text("utf-8")
