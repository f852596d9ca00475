"""`gpuassist doctor` as a person and as a program reads it."""

from __future__ import annotations

import argparse
import gettext
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist import app
from gpuassist.cli import doctor
from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.model.fact import Unknown
from gpuassist.model.finding import Severity
from gpuassist.model.machine import Machine, encode_machine
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.marks import Exit
from gpuassist.system.resources import Resources
from tests.fakes import put, world_under
from tests.values import GTX_1080_TI, RTX_5090, Env, knowledge, machine

OLD_NVCC = machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7")
HEALTHY = machine()
LIBRARY_PATH = {"LD_LIBRARY_PATH": "/usr/local/cuda-12.4/lib64:"}
HALF_KNOWN = replace(HEALTHY, shell=replace(HEALTHY.shell, new_terminal=Unknown(text("no shell could be started"))))


class _Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def _context(root: Path, one: Machine | None = None, *, colour: bool = False, words: Words = ENGLISH, columns: str = "") -> Context:
    if one is not None:
        put(root, "/machine.json", json.dumps(encode_machine(one, ENGLISH)))
    world = world_under(root, variables={"PATH": "/usr/bin", "COLUMNS": columns})
    terminal = TerminalStreams(io.StringIO(), _Screen() if colour else io.StringIO(), colour, False)
    return Context(Session(world, knowledge(), words), terminal, "/machine.json" if one is not None else "")


def _run(context: Context, *, as_json: bool = False, lang: str = "") -> tuple[Exit, str]:
    status = doctor.run(argparse.Namespace(json=as_json, lang=lang, fleet=None), context)
    assert isinstance(context.terminal.out, io.StringIO)
    return status, context.terminal.out.getvalue()


def _shown(root: Path, one: Machine, **options: Any) -> str:
    return _run(_context(root, one, **options))[1]


def _document(root: Path, one: Machine) -> Any:
    return json.loads(_run(_context(root, one), as_json=True)[1])


def test_answer_stands_in_the_first_lines(tmp_path: Path) -> None:
    first, second, *_ = _shown(tmp_path, OLD_NVCC).splitlines()
    assert first == "One thing stands between you and your RTX 4090"
    assert second.startswith("1 problem · ")
    assert second.endswith(" checks")


def test_title_of_a_recording_comes_first(tmp_path: Path) -> None:
    shown = _shown(tmp_path, replace(OLD_NVCC, note="The machine under the desk"))
    assert shown.splitlines()[0] == "Recorded machine: The machine under the desk"


def test_finding_has_glyph_word_and_title(tmp_path: Path) -> None:
    assert "\n✗ problem: CUDA 11.7 cannot build for RTX 4090\n" in _shown(tmp_path, OLD_NVCC)


def test_warning_and_note_have_glyphs_of_their_own(tmp_path: Path) -> None:
    shown = _shown(tmp_path, machine(nvcc="", variables=LIBRARY_PATH))
    assert "\n! warning: LD_LIBRARY_PATH has an empty element" in shown
    assert "\ni good to know: A CUDA toolkit is installed, but" in shown
    assert shown.index("! warning") < shown.index("i good to know")


def test_evidence_has_its_source(tmp_path: Path) -> None:
    assert "  - also installed: 12.4.131  [/usr/local/cuda-12.4]\n" in _shown(tmp_path, OLD_NVCC)


def test_remedies_are_numbered_with_commands_indented(tmp_path: Path) -> None:
    shown = _shown(tmp_path, OLD_NVCC)
    assert "\n  1. Let new terminals use CUDA 12.4; gpuassist shows the change" in shown
    assert "\n       gpuassist use cuda 12.4\n" in shown
    assert "\n     To see that it worked: `nvcc --version` in a new terminal shows 12.4\n" in shown
    assert "\n  2. Or, for a single build" in shown


def test_root_commands_are_marked(tmp_path: Path) -> None:
    marked = "(needs administrator rights: copy it, gpuassist shows such commands and never runs them)"
    assert marked in _shown(tmp_path, machine(libcuda="550.90.07", on_disk="550.90.07"))
    assert marked not in _shown(tmp_path, OLD_NVCC)


def test_links_stand_below(tmp_path: Path) -> None:
    assert "\n  https://developer.nvidia.com/cuda-gpus\n" in _shown(tmp_path, OLD_NVCC)


def test_what_is_fine_stands_in_one_sentence(tmp_path: Path) -> None:
    shown = _shown(tmp_path, HEALTHY)
    assert shown.count("✓ Checked and fine: GPU found, driver, ") == 1
    assert shown.splitlines()[0] == "Your RTX 4090 is ready"


def test_what_could_not_be_told_has_its_reason(tmp_path: Path) -> None:
    shown = _shown(tmp_path, HALF_KNOWN)
    assert "\n? Could not be determined:\n" in shown
    assert "what a new terminal finds: no shell could be started  [nvcc-not-on-path]" in shown


@pytest.mark.parametrize("columns", ["40", "60", "100"])
def test_sentences_are_wrapped_at_the_width(tmp_path: Path, columns: str) -> None:
    shown = _shown(tmp_path, OLD_NVCC, columns=columns)
    long = [line for line in shown.splitlines() if len(line) > int(columns)]
    copied = [line for line in long if line.startswith(("      ", "  gpuassist ")) or "[" in line]
    assert all(" " not in line.strip() or line in copied for line in long), long


@pytest.mark.parametrize("columns", ["300", "", "0", "wide"])
def test_width_has_an_upper_limit(tmp_path: Path, columns: str) -> None:
    paragraphs = [line for line in _shown(tmp_path, OLD_NVCC, columns=columns).splitlines() if line.startswith("  RTX")]
    assert paragraphs
    assert all(len(line) <= 100 for line in paragraphs)


def test_commands_are_never_broken(tmp_path: Path) -> None:
    shown = _shown(tmp_path, machine(environments=(Env("t", "2.6.0+cpu"),)), columns="40")
    assert any(len(line) > 100 and "-m pip install torch==" in line for line in shown.splitlines())


def test_pipe_gets_no_colours_and_no_progress(tmp_path: Path) -> None:
    context = _context(tmp_path, OLD_NVCC)
    assert "\x1b" not in _run(context)[1]
    assert isinstance(context.terminal.err, io.StringIO)
    assert context.terminal.err.getvalue() == ""


def test_terminal_gets_colours(tmp_path: Path) -> None:
    shown = _shown(tmp_path, OLD_NVCC, colour=True)
    assert "\x1b[1m\x1b[31m✗ problem: CUDA 11.7 cannot build for RTX 4090\x1b[0m" in shown
    assert "\x1b[1mgpuassist use cuda 12.4\x1b[0m" in shown


def test_terminal_is_told_what_was_looked_at(tmp_path: Path) -> None:
    context = _context(tmp_path, colour=True)
    _run(context)
    assert isinstance(context.terminal.err, io.StringIO)
    told = context.terminal.err.getvalue()
    assert "looked at: host" in told
    assert told.endswith("\r\x1b[K")


@pytest.mark.parametrize(
    ("one", "status"),
    [
        (HEALTHY, Exit.HEALTHY),
        (machine(nvcc=""), Exit.HEALTHY),
        (machine(variables=LIBRARY_PATH), Exit.WARNINGS),
        (OLD_NVCC, Exit.PROBLEMS),
        (machine(gpus=(GTX_1080_TI, RTX_5090), environments=()), Exit.PROBLEMS),
        (HALF_KNOWN, Exit.UNDETERMINED),
        (replace(HALF_KNOWN, driver=machine(libcuda="550.90.07").driver), Exit.PROBLEMS),
        (Machine(), Exit.UNDETERMINED),
    ],
)
def test_exit_status_is_that_of_the_worst(tmp_path: Path, one: Machine, status: Exit) -> None:
    assert _run(_context(tmp_path, one))[0] is status
    assert _run(_context(tmp_path, one), as_json=True)[0] is status


def test_live_machine_without_a_gpu_has_one_problem(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    status, shown = _run(_context(tmp_path))
    assert status is Exit.PROBLEMS
    assert "✗ problem: No NVIDIA GPU is visible in this computer\n" in shown


@pytest.mark.parametrize("content", ["", "[]", '{"schema": 99}'])
def test_file_that_is_no_recording_is_wrong_usage(tmp_path: Path, content: str) -> None:
    context = _context(tmp_path, HEALTHY)
    put(tmp_path, "/machine.json", content)
    with pytest.raises(UsageError) as caught:
        _run(context)
    assert "/machine.json" in ENGLISH(caught.value.reason)


def test_json_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    document = _document(tmp_path, OLD_NVCC)
    assert list(document) == ["schema", "findings", "undetermined"]
    assert document["schema"] == 1
    (finding,) = document["findings"]
    assert list(finding) == ["id", "severity", "title", "explanation", "evidence", "remedies", "links"]
    assert list(finding["evidence"][0]) == ["fact", "value", "source"]
    assert list(finding["remedies"][0]) == ["text", "commands", "needs_root", "action", "check"]


def test_json_says_what_the_list_says(tmp_path: Path) -> None:
    (finding,) = _document(tmp_path, OLD_NVCC)["findings"]
    assert (finding["id"], finding["severity"]) == ("nvcc-arch-too-new", "problem")
    assert finding["remedies"][0]["commands"] == ["gpuassist use cuda 12.4"]
    assert (finding["remedies"][0]["action"], finding["remedies"][0]["needs_root"]) == ("edit", False)
    assert finding["title"] in _shown(tmp_path, OLD_NVCC)


def test_json_of_a_healthy_machine_is_empty(tmp_path: Path) -> None:
    assert _document(tmp_path, HEALTHY) == {"schema": 1, "findings": [], "undetermined": []}


def test_json_names_what_could_not_be_told(tmp_path: Path) -> None:
    undetermined = _document(tmp_path, HALF_KNOWN)["undetermined"]
    assert {"id": "nvcc-not-on-path", "fact": "what a new terminal finds", "reason": "no shell could be started"} in undetermined


def test_json_severities_are_those_of_the_contract(tmp_path: Path) -> None:
    document = _document(tmp_path, machine(nvcc="", variables=LIBRARY_PATH, libcuda="550.90.07"))
    severities = [finding["severity"] for finding in document["findings"]]
    assert severities == sorted(severities, key=[one.value for one in Severity].index)
    assert {"problem", "warning", "info"} == set(severities)


class _Shouting(Words, frozen=True):
    """A language in which everything is loud."""

    def __call__(self, text: Text) -> str:
        return super().__call__(text).upper()


_SHOUTING = _Shouting("xx", gettext.NullTranslations())


def test_json_is_english_unless_a_language_is_asked_for(tmp_path: Path) -> None:
    quiet = json.loads(_run(_context(tmp_path, OLD_NVCC, words=_SHOUTING), as_json=True)[1])
    loud = json.loads(_run(_context(tmp_path, OLD_NVCC, words=_SHOUTING), as_json=True, lang="zh_CN")[1])
    assert quiet["findings"][0]["evidence"][0]["fact"] == "compute capability of RTX 4090"
    assert loud["findings"][0]["evidence"][0]["fact"] == "COMPUTE CAPABILITY OF RTX 4090"


EXAMPLES = {
    "01-new-rtx-5090-nouveau": (["nouveau-active"], Exit.PROBLEMS),
    "03-torch-cpu-only": (["torch-cpu-only"], Exit.PROBLEMS),
    "04-driver-too-old": (["driver-too-old-for-cuda"], Exit.PROBLEMS),
    "05-gtx-1080-ti-and-rtx-5090": (["open-module-required"], Exit.PROBLEMS),
    "06-driver-library-mismatch": (["driver-library-mismatch"], Exit.PROBLEMS),
    "08-healthy": ([], Exit.HEALTHY),
    "09-healthy-without-nvcc": ([], Exit.HEALTHY),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_shipped_machine_is_judged_as_its_name_says(tmp_path: Path, name: str) -> None:
    context = _context(tmp_path, HEALTHY)
    put(tmp_path, "/machine.json", Resources().read(f"machines/{name}.json"))
    status, out = _run(context, as_json=True)
    assert ([finding["id"] for finding in json.loads(out)["findings"]], status) == EXAMPLES[name]


def test_real_command_prints_json_alone(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status = app.main(["doctor", "--json"])
    out, err = capfd.readouterr()
    assert status in {Exit.HEALTHY, Exit.WARNINGS, Exit.PROBLEMS, Exit.UNDETERMINED}
    assert json.loads(out)["schema"] == 1
    assert err == ""


def test_real_command_refuses_a_file_that_is_none(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert app.main(["doctor", "--machine", str(tmp_path / "none.json")]) == Exit.USAGE
    out, err = capfd.readouterr()
    assert out == ""
    assert err == f"gpuassist: {tmp_path}/none.json could not be read: No such file or directory\n"


def test_nothing_heavy_is_imported_for_a_recording(tmp_path: Path) -> None:
    recording = put(tmp_path, "machine.json", json.dumps(encode_machine(OLD_NVCC, ENGLISH)))
    script = (
        "import sys\nfrom gpuassist import app\n"
        f"app.main(['doctor', '--machine', {str(recording)!r}])\n"
        "heavy = {'tree_sitter', 'numpy', 'PySide6', 'psutil', 'pynvml', 'pyqtgraph'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stderr) == (0, "")
