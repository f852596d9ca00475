"""The script that measures toolkits reads what they say of themselves, shows each difference, and can only look."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path("tools/refresh_toolkits.py").resolve()
KNOWLEDGE = Path("resources/knowledge").resolve()
HELP = "'compute_75','sm_75','sm_120','sm_90','sm_90a','sm_120f','lto_90'. Note: sm_30 and sm_75 are deprecated."
WARNING = "nvcc warning : Support for offline compilation for older architectures will be removed in a future release"
NVCC = f"""#!/bin/sh
case $1 in
  --version) echo 'Cuda compilation tools, release 13.5, V13.5.99';;
  --help) echo "{HELP}";;
  -arch=sm_30) exit 1;;
  -arch=sm_75) echo "{WARNING}" >&2;;
  *) echo '#$ _SPACE_=' >&2;;
esac
"""
GUARDS = """
#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 20))
#error -- unsupported Grace clang version!
#endif
#if __GNUC__ > 17
#endif
#if defined(__HORIZON__)
#if (__clang_major__ >= 20) || (__clang_major__ < 3)
#endif
#endif
#if defined(__clang__) && !defined(__HORIZON__)

#if (__clang_major__ >= 24) || (__clang_major__ < 3)
#error -- unsupported clang version! clang version must be less than 23 and greater than 3.2 .
"""
OLD_MATH = "extern double rsqrt(double x);\nextern double cospi(double x);\n"
MATH_13 = "extern double rsqrt(double x);\nextern double cospi(double x) __NV_SPECIFIER;\n"
NEW_MATH = "extern double rsqrt(double x) _NV_SPECIFIER;\nextern double cospi(double x) __NV_SPECIFIER;\n"


def toolkit(directory: Path, *, tool: str = "nvcc", math: str = NEW_MATH) -> Path:
    """A toolkit whose compiler is a shell script."""
    root = directory / "cuda"
    (root / "bin").mkdir(parents=True)
    (root / "bin" / tool).write_text(NVCC, "utf-8")
    (root / "bin" / tool).chmod(0o755)
    headers = root / "include/crt"
    headers.mkdir(parents=True)
    (headers / "host_config.h").write_text(GUARDS, "utf-8")
    (headers / "math_functions.h").write_text(math, "utf-8")
    return root


def refresh(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], cwd=directory, capture_output=True, text=True, check=False)


def row(directory: Path, release: str = "13.5") -> dict[str, Any]:
    rows: list[dict[str, Any]] = json.loads((directory / "resources/knowledge/toolkits.json").read_text("utf-8"))
    return next(one for one in rows if one.get("release") == release)


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    (tmp_path / "resources/knowledge").mkdir(parents=True)
    shutil.copy(KNOWLEDGE / "toolkits.json", tmp_path / "resources/knowledge")
    return tmp_path


def measured(workplace: Path, **shape: str) -> dict[str, Any]:
    root = toolkit(workplace, **shape)
    assert refresh(workplace, "--checked", "2026-12-01", str(root)).returncode == 0
    return row(workplace)


def test_architectures_are_those_that_nvcc_accepts(workplace: Path) -> None:
    found = measured(workplace)
    assert found["targets"] == ["7.5", "9.0", "12.0"]
    assert found["codes"] == ["sm_75", "sm_90", "sm_90a", "sm_120", "sm_120f"]


def test_limits_are_those_of_its_guards(workplace: Path) -> None:
    found = measured(workplace)
    assert (found["gcc_limit"], found["clang_limit"]) == (17, 23)


def test_nvcc_is_asked_what_it_warns_of(workplace: Path) -> None:
    assert measured(workplace)["deprecated"] == ["7.5"]


def test_ptxas_alone_leaves_warnings_as_they_were(workplace: Path) -> None:
    before = row(workplace)["deprecated"]
    assert measured(workplace, tool="ptxas")["deprecated"] == before


@pytest.mark.parametrize(("math", "clash"), [(OLD_MATH, "2.41"), (MATH_13, "2.42"), (NEW_MATH, None)])
def test_bare_declarations_clash_with_the_c_library(workplace: Path, math: str, clash: str | None) -> None:
    assert measured(workplace, math=math).get("glibc_clash") == clash


def test_ptxas_is_taken_at_its_word(workplace: Path) -> None:
    assert measured(workplace, tool="ptxas")["targets"] == ["3.0", "7.5", "9.0", "12.0"]


@pytest.mark.parametrize(
    ("tool", "asked"), [("nvcc", "nvcc 13.5.99, asked for each architecture"), ("ptxas", "ptxas 13.5.99, --help")]
)
def test_row_says_what_was_asked_and_when(workplace: Path, tool: str, asked: str) -> None:
    found = measured(workplace, tool=tool)
    assert found["measured"] == f"{asked}; its crt/host_config.h and crt/math_functions.h"
    assert found["checked"] == "2026-12-01"


def test_row_names_no_header_that_was_not_there(workplace: Path) -> None:
    root = toolkit(workplace)
    shutil.rmtree(root / "include")
    before = row(workplace)
    refresh(workplace, "--checked", "2026-12-01", str(root))
    assert row(workplace)["measured"] == "nvcc 13.5.99, asked for each architecture"
    assert row(workplace)["gcc_limit"] == before["gcc_limit"]


def test_difference_is_shown_item_by_item(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", str(toolkit(workplace)))
    assert outcome.stdout.startswith("13.5:\n  targets: -8.0 -8.6")
    assert "  gcc_limit: 16 -> 17\n" in outcome.stdout
    assert "  deprecated: +7.5\n" in outcome.stdout


def test_check_fails_on_a_difference_and_writes_nothing(workplace: Path) -> None:
    before = row(workplace)
    assert refresh(workplace, "--check", str(toolkit(workplace))).returncode == 1
    assert row(workplace) == before


def test_check_passes_where_nothing_differs(workplace: Path) -> None:
    root = toolkit(workplace)
    refresh(workplace, "--checked", "2026-12-01", str(root))
    outcome = refresh(workplace, "--check", str(root))
    assert (outcome.returncode, outcome.stdout) == (0, "13.5: no difference\n")


def test_new_release_gets_a_row_in_its_place(workplace: Path) -> None:
    root = toolkit(workplace)
    tool = root / "bin/nvcc"
    tool.write_text(NVCC.replace("13.5", "12.10"), "utf-8")
    refresh(workplace, "--checked", "2026-12-01", str(root))
    rows = json.loads((workplace / "resources/knowledge/toolkits.json").read_text("utf-8"))[1:]
    releases = [one["release"] for one in rows]
    assert releases[releases.index("12.9") + 1] == "12.10"


def test_table_stays_one_record_a_line(workplace: Path) -> None:
    measured(workplace)
    lines = (workplace / "resources/knowledge/toolkits.json").read_text("utf-8").splitlines()
    assert [lines[0], lines[-1]] == ["[", "]"]
    assert all(json.loads(line.rstrip(",")) for line in lines[1:-1])


def test_directory_without_a_toolkit_is_refused(workplace: Path) -> None:
    outcome = refresh(workplace, "--check", str(workplace / "resources"))
    assert outcome.returncode == 1
    assert "neither nvcc nor ptxas" in outcome.stderr


def test_tool_without_a_release_is_refused(workplace: Path) -> None:
    root = toolkit(workplace)
    (root / "bin/nvcc").write_text("#!/bin/sh\necho nothing\n", "utf-8")
    outcome = refresh(workplace, "--check", str(root))
    assert "does not say its release" in outcome.stderr


def test_writing_needs_the_day(workplace: Path) -> None:
    outcome = refresh(workplace, str(toolkit(workplace)))
    assert outcome.returncode == 2
    assert "--checked is needed" in outcome.stderr


@pytest.mark.needs("nvcc")
def test_installed_toolkit_agrees_with_the_table(workplace: Path) -> None:
    nvcc = shutil.which("nvcc")
    assert nvcc is not None
    outcome = refresh(workplace, "--check", str(Path(nvcc).resolve().parent.parent))
    assert outcome.returncode == 0, outcome.stdout
