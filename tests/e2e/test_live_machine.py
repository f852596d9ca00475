"""This very machine, whatever it is: the shape of what is printed, and that one view agrees with the other."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.changes.homes import make_toolkit
from tests.e2e.command import Done, bashrc, gpuassist, gpuassist_here, program
from tests.e2e.contract import check_diagnosis, check_facts, check_sample, status_of

SECTIONS = {"schema", "taken_at", "host", "gpus", "driver", "toolkits", "compilers", "environments", "shell", "holders", "note"}
SECTIONS |= {"system", "path_libraries", "package_settings", "next_start", "holds", "system_packages"}


def test_diagnosis_is_that_of_the_contract(home: Path) -> None:
    done = gpuassist(home, "doctor", "--json")
    check_diagnosis(done.document())
    assert (done.status, done.err) == (status_of(done.document()), b"")


def test_facts_are_those_of_the_contract(home: Path) -> None:
    done = gpuassist(home, "detect", "--json")
    check_facts(done.document())
    assert (done.status, done.err, set(done.document())) == (0, b"", SECTIONS)


def test_recording_of_this_machine_is_judged_like_it(home: Path, tmp_path: Path) -> None:
    saved = tmp_path / "machine.json"
    saved.write_bytes(gpuassist_here(home, "detect", "--json").out)
    live = gpuassist_here(home, "doctor", "--json").document()
    recorded = gpuassist_here(home, "doctor", "--json", "--machine", str(saved)).document()
    assert _ids(recorded) == _ids(live)


def _ids(document: Any) -> list[list[str]]:
    return [[one["id"] for one in document[part]] for part in ("findings", "undetermined")]


def test_recording_says_again_what_it_holds(home: Path, tmp_path: Path) -> None:
    first, saved = gpuassist_here(home, "detect", "--json"), tmp_path / "machine.json"
    saved.write_bytes(first.out)
    assert gpuassist_here(home, "detect", "--json", "--machine", str(saved)).out == first.out


@pytest.mark.parametrize("verb", ["doctor", "detect"])
def test_looking_writes_nothing(home: Path, verb: str) -> None:
    bashrc(home, "# mine")
    gpuassist(home, verb)
    assert [path.name for path in home.rglob("*")] == [".bashrc"]


@pytest.mark.parametrize("count", ["1", "3"])
def test_sample_is_a_line_of_the_contract(home: Path, count: str) -> None:
    done = gpuassist(home, "monitor", "--headless", "--count", count, "--hz", "50")
    lines = done.text.splitlines()
    for line in lines:
        check_sample(json.loads(line))
    gpus = json.loads(lines[0])["gpus"]
    assert (done.status, len(lines)) == ((0, int(count)) if gpus else (3, 1))
    assert gpus or done.said


WRONG = (
    *(("monitor", "--headless", "--count", "0"), ("monitor", "--headless", "--count", "x"), ("monitor", "--headless", "--hz", "0")),
    *(("monitor", "--headless", "--hz", "nan"), ("monitor", "--count", "0"), ("verify", "--device", "toaster")),
    *(("verify", "--python", "/nonexistent/python"), ("verify", "--level", "deep"), ("undo", "--frobnicate"), ("use", "cuda")),
    *(("use", "cuda", "12.4", "13.0"), ("--lang", "tlh", "doctor"), ("doctor", "--json", "--json=x"), ("detect", "this")),
)


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_64_and_said(home: Path, arguments: tuple[str, ...]) -> None:
    done = gpuassist_here(home, *arguments)
    assert (done.status, done.out) == (64, b"")
    assert "gpuassist" in done.said


@pytest.mark.parametrize("verb", ["", "detect", "doctor", "use", "undo", "verify", "monitor"])
def test_every_command_explains_itself(home: Path, verb: str) -> None:
    done = gpuassist(home, *verb.split(), "--help")
    assert (done.status, done.err) == (0, b"")
    assert done.text.startswith(f"usage: gpuassist {verb}".rstrip())


def test_no_display_prints_the_doctor_and_says_so(home: Path) -> None:
    alone, doctor = gpuassist(home), gpuassist(home, "doctor", "--json")
    assert alone.status == doctor.status
    assert "no display" in alone.said
    assert all(finding["title"] in " ".join(alone.text.split()) for finding in doctor.document()["findings"])


def test_verbose_logs_to_standard_error_alone(home: Path) -> None:
    done = gpuassist(home, "--verbose", "doctor", "--json")
    check_diagnosis(done.document())


@pytest.mark.parametrize("arguments", [("undo", "--list", "--json"), ("undo", "--json")], ids=" ".join)
def test_nothing_to_undo_is_a_document(home: Path, arguments: tuple[str, ...]) -> None:
    done = gpuassist_here(home, *arguments)
    assert (done.status, done.document()["schema"]) == (0, 1)


def _toolkit(home: Path) -> Path:
    """A toolkit that the home's start-up file puts first; gives its nvcc, to be spoilt."""
    root = make_toolkit(home / "cuda-12.4", "12.4.131")
    bashrc(home, f"export PATH={root}/bin:$PATH")
    return root / "bin/nvcc"


def _check_judged(home: Path, detected: Done) -> None:
    """What was seen is judged like the machine itself, as above, and nothing is asked a second time."""
    saved = home / "machine.json"
    saved.write_bytes(detected.out)
    check_diagnosis(gpuassist_here(home, "doctor", "--json", "--machine", str(saved)).document())


def _detected(done: Done, root: Path) -> Any:
    assert done.status == 0
    return next(one for one in done.document()["toolkits"]["value"] if one["root"] == str(root))


JUNK = {
    "nothing": (":",),
    "words": ("echo not a compiler",),
    "bytes": ("printf '\\377\\376\\0\\1'",),
    "a half version": ("echo 'Cuda compilation tools, release '",),
    "an absurd version": ("echo 'Cuda compilation tools, release 999999999999.9, V999999999999.9.1'",),
    "a failure": ("echo 'Cuda compilation tools, release 12.4, V12.4.131'; exit 3",),
    "a crash": ("kill -SEGV $$",),
    "much": ("head -c 20000000 /dev/zero | tr '\\0' x",),
}


@pytest.mark.parametrize("name", JUNK)
def test_nvcc_that_prints_junk_is_a_reason(home: Path, name: str) -> None:
    nvcc = _toolkit(home)
    program(nvcc, *JUNK[name])
    done = gpuassist_here(home, "detect", "--json")
    check_facts(done.document())
    assert _detected(done, home / "cuda-12.4")["nvcc"]["value"] == str(nvcc)
    _check_judged(home, done)


def test_nvcc_without_permission_is_not_found(home: Path) -> None:
    nvcc = _toolkit(home)
    nvcc.chmod(0o644)
    done = gpuassist_here(home, "detect", "--json")
    commands = done.document()["shell"]["new_terminal"]["value"]["commands"]
    assert str(nvcc) not in [command["path"] for command in commands]
    _check_judged(home, done)


def test_nvcc_without_an_interpreter_is_a_reason(home: Path) -> None:
    nvcc = _toolkit(home)
    nvcc.write_text("#!/nonexistent/sh\n")
    found = _detected(gpuassist_here(home, "detect", "--json"), home / "cuda-12.4")
    assert found["nvcc_version"]["value"] is None
    assert found["nvcc_version"]["reason"]


def _environments(home: Path) -> list[Any]:
    done = gpuassist_here(home, "detect", "--json")
    check_facts(done.document())
    _check_judged(home, done)
    found: list[Any] = done.document()["environments"]["value"]
    return [one for one in found if one["prefix"].startswith(str(home))]


@pytest.fixture
def environment(home: Path) -> Path:
    """A virtual environment in the home with a torch of which only its files tell."""
    prefix = home / "train"
    venv.create(prefix, symlinks=True)
    (site,) = prefix.glob("lib/python*/site-packages")
    (site / "torch").mkdir()
    (site / "torch/version.py").write_text("__version__ = '2.5.1+cu124'\ncuda = '12.4'\nhip = None\n")
    (site / "torch/__init__.py").write_text("raise SystemExit('nobody may import this')\n")
    bashrc(home, f"export VIRTUAL_ENV={prefix}", f"export PATH={prefix}/bin:$PATH")
    return prefix


def test_torch_is_read_without_being_imported(home: Path, environment: Path) -> None:
    (found,) = _environments(home)
    (torch,) = found["torch"]["value"]
    assert (torch["version"]["value"], torch["accelerator"]["value"]) == ("2.5.1+cu124", "cuda")


@pytest.mark.parametrize("target", ["/nonexistent/python3", "python", "/dev/null", "/etc"])
def test_missing_interpreter_is_a_reason(home: Path, environment: Path, target: str) -> None:
    for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
        (environment / "bin" / name).unlink(missing_ok=True)
    (environment / "bin/python").symlink_to(target)
    found = _environments(home)
    assert all(one["interpreter"]["value"] is None for one in found)


@pytest.mark.parametrize(
    "content", ["", "junk", "__version__ = 7\n", "__version__ = '2.5.1\n", "\x00\x01", "cuda = open('/etc/passwd')\n"]
)
def test_damaged_torch_is_no_fault(home: Path, environment: Path, content: str) -> None:
    (version,) = environment.glob("lib/python*/site-packages/torch/version.py")
    version.write_text(content)
    assert _environments(home)


def test_verify_says_that_there_is_no_torch(home: Path) -> None:
    venv.create(home / "bare", symlinks=True)
    done = gpuassist(home, "verify", "--python", str(home / "bare"), "--json")
    document = done.document()
    assert document["accelerator_verified"] is False
    assert done.status in {2, 3}
