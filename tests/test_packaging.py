"""What packages are made of: what is light of it. `make package-test` installs and starts them."""

from __future__ import annotations

import argparse
import ast
import os
import pickle
import re
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.formats.made_traces import steps, trace
from tests.snapshots import training

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
PACKAGING = ROOT / "packaging"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """They import each other by name, as scripts of one directory do."""
    monkeypatch.syspath_prepend(str(PACKAGING))


@pytest.fixture
def made(scripts: None) -> dict[str, bytes]:
    import make_share

    return dict(make_share.share())


def test_pictures_are_drawn_of_the_icon_as_it_is(scripts: None) -> None:
    """`python packaging/make_icons.py` draws them anew."""
    import make_icons

    for size in make_icons.SIZES:
        picture = (PACKAGING / "icons" / f"{size}.png").read_bytes()
        assert int.from_bytes(picture[16:20], "big") == int.from_bytes(picture[20:24], "big") == size
        assert make_icons.drawn_from().encode() in picture, size


def test_desktop_finds_program_icon_and_description_by_the_same_names(made: dict[str, bytes], tmp_path: Path) -> None:
    entry = tmp_path / "gpuassist.desktop"
    entry.write_bytes(made["applications/gpuassist.desktop"])
    validator = shutil.which("desktop-file-validate")
    assert validator is None or subprocess.run([validator, entry], capture_output=True, check=False).stdout == b""
    lines = entry.read_text("utf-8").splitlines()
    assert {"Exec=gpuassist", "Icon=gpuassist"} <= set(lines)
    (metainfo,) = (name for name in made if name.startswith("metainfo/"))
    told = ElementTree.fromstring(made[metainfo])
    assert metainfo == f"metainfo/{told.findtext('id')}.metainfo.xml"
    assert told.findtext("launchable") == entry.name
    assert {name.rpartition("/")[2] for name in made if name.startswith("icons/")} == {
        "gpuassist.png",
        "gpuassist.svg",
        "gpuassist-symbolic.svg",
    }
    for name in (one for one in made if one.endswith(".svg")):
        ElementTree.fromstring(made[name])


def test_manual_page_has_every_option_and_nothing_that_formatters_would_obey(scripts: None, made: dict[str, bytes]) -> None:
    import make_share
    import man_page

    page = made["man/man1/gpuassist.1"].decode("ascii")
    commands = make_share.subcommands(make_share.whole_parser())
    shown = [
        option
        for one in commands.values()
        for action in one._actions
        if action.help != argparse.SUPPRESS
        for option in action.option_strings
    ]
    assert [name for name in (*shown, *commands) if man_page._bold(name)[3:-3] not in page] == []
    for action in make_share.whole_parser()._actions:  # those of every command once, and not again below each
        assert page.count(f"\n{', '.join(map(man_page._bold, action.option_strings))}") == 1 or not action.option_strings
    requests = {"TH", "SH", "SS", "TP", "PP", "B", "BR"}
    assert {line[1:].split()[0] for line in page.splitlines() if line.startswith(".")} <= requests
    assert [line for line in page.splitlines() if not line or len(line) > 200] == []


def test_manual_page_is_the_same_of_the_same_day(scripts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import make_share
    import man_page

    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    assert " 1970-01-01 " in man_page.written(make_share.whole_parser(), "1").splitlines()[0]


ASK = {
    "bash": '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); $(complete -p gpuassist | sed "s/.*-F //;s/ .*//"); '
    'printf "%s\n" "${COMPREPLY[@]}"',
    "fish": 'source $argv[1]; complete -C (string join " " -- $argv[2..])',
}
QUESTIONS = {
    "gpuassist ": {"doctor", "verify", "monitor"},
    "gpuassist verify --le": {"--level"},
    "gpuassist verify --level ": {"quick", "full"},
    "gpuassist --lang ": {"en", "zh_CN"},
}


@pytest.mark.parametrize("shell", sorted(ASK))
def test_shell_completes(shell: str, made: dict[str, bytes], tmp_path: Path) -> None:
    import make_share

    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}: install the package {shell}")
    script = tmp_path / "completion"
    script.write_bytes(made[make_share.COMPLETIONS[shell]])
    flags = {"bash": ["--norc", "-c", ASK["bash"], "bash"], "fish": ["--no-config", "-c", ASK["fish"]]}[shell]
    for line, expected in QUESTIONS.items():
        done = subprocess.run(
            [program, *flags, str(script), *line.split(" ")],
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        answers = {one.split("\t")[0] for one in done.stdout.splitlines()}
        assert expected <= answers, (line, done)


# A terminal of its own, on which Tab is typed.
ZSH = r"""zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1=; fpath=($DIRECTORY $fpath); autoload -Uz compinit; compinit -u -D; bindkey "^I" complete-word'
zpty -w z 'print RE''ADY'; zpty -r z said '*READY*'
zpty -n -w z $'gpuassist verify --lev\tqui\t; print DO''NE\n'; zpty -r z said '*DONE*'
print -r -- "$said"
"""


def test_zsh_completes(made: dict[str, bytes], tmp_path: Path) -> None:
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("needs zsh: install the package zsh")
    (tmp_path / "_gpuassist").write_bytes(made["zsh/site-functions/_gpuassist"])
    around = {"HOME": str(tmp_path), "DIRECTORY": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}
    done = subprocess.run([zsh, "-f", "-c", ZSH], env=around, capture_output=True, text=True, timeout=60)
    assert "gpuassist verify --level quick" in done.stdout.replace(" \b", "")


# The one file.


def one_file(directory: Path) -> Path:
    """One whose gpuassist only says where it lies."""
    import make_onefile

    parts = directory / "parts"
    (parts / "gpuassist" / "system").mkdir(parents=True)
    (parts / "gpuassist" / "__main__.py").write_text("def main():\n    print(__file__)\n")
    (parts / "gpuassist" / "system" / "groups.py").write_text("litter = set()\n")
    version = "{}.{}".format(*sys.version_info[:2])
    make_onefile.PYTHONS = (version,)  # type: ignore[assignment]  # of which there is one here
    make_onefile.write(parts, directory / "one.pyz", os.uname().machine)
    return directory / "one.pyz"


def started(file: Path, cache: Path) -> str:
    around = {"HOME": str(file.parent), "XDG_CACHE_HOME": str(cache), "PATH": "/usr/bin:/bin", "TMPDIR": str(file.parent)}
    return subprocess.run(
        [sys.executable, "-S", file], env=around, capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()


def test_one_file_unpacks_itself_once(scripts: None, tmp_path: Path) -> None:
    file, cache = one_file(tmp_path), tmp_path / "cache"
    first = Path(started(file, cache))
    assert first.is_relative_to(cache / "gpuassist")
    assert started(file, cache) == str(first)
    assert first.parents[1].stat().st_mode & 0o777 == 0o700
    assert len(list((cache / "gpuassist").iterdir())) == 1
    assert zipfile.ZipFile(file).testzip() is None


def test_one_file_runs_nothing_that_others_can_change(scripts: None, tmp_path: Path) -> None:
    file, cache = one_file(tmp_path), tmp_path / "cache"
    first = Path(started(file, cache))
    (cache / "gpuassist").chmod(0o777)
    assert not Path(started(file, cache)).is_relative_to(cache)
    (cache / "gpuassist").chmod(0o700)
    assert started(file, cache) == str(first)
    first.parents[1].chmod(0o777)
    assert not Path(started(file, cache)).is_relative_to(cache)


def test_one_file_says_what_it_cannot_run_on(scripts: None) -> None:
    stub = runpy.run_path(str(PACKAGING / "onefile" / "__main__.py"), init_globals={}, run_name="stub")
    complaint: Any = stub["complaint"]
    complaint.__globals__.update(PYTHONS="3.10 3.14", MACHINE="x86_64")
    assert complaint("3.14", "x86_64") == ""
    assert "3.9" in complaint("3.9", "x86_64")
    assert "python3.14" in complaint("3.15", "x86_64")
    assert "aarch64" in complaint("3.14", "aarch64")


# The bundle.


@pytest.mark.parametrize(
    "script", ["pyinstaller.spec", "bundle/start.py", "bundle/systems_first.py", "make_bundle.py", "make_appimage.py"]
)
def test_script_can_be_read(script: str) -> None:
    compile((PACKAGING / script).read_text("utf-8"), script, "exec")


def test_bundle_moves_the_users_plugins_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_PLUGIN_PATH", "/opt/users")
    monkeypatch.delenv("QML2_IMPORT_PATH", raising=False)
    monkeypatch.setenv("QT_PLUGIN_PATH_ORIG", "")  # put back at the end
    runpy.run_path(str(PACKAGING / "bundle" / "users_qt.py"))
    assert "QT_PLUGIN_PATH" not in os.environ
    assert os.environ["QT_PLUGIN_PATH_ORIG"] == "/opt/users"
    assert "QML2_IMPORT_PATH_ORIG" not in os.environ


def test_bundle_lends_only_what_the_system_lacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("libc.so.6", "liblzma.so.5", "libnobody-has-this.so.1", "libtinfo.so.6"):
        (tmp_path / "lent" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "lent" / name).touch()
    asked: list[str] = []

    def load(name: str) -> None:
        asked.append(name)
        if name.startswith("libnobody"):
            raise OSError(name)

    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr("ctypes.CDLL", load)
    hook = runpy.run_path(str(PACKAGING / "bundle" / "systems_first.py"))
    before = len(sys.meta_path)
    (finder,) = (one for one in sys.meta_path if getattr(one, "name", "") == "PySide6")
    finder.find_spec("json", None, None)
    assert asked == []
    finder.find_spec("PySide6", None, None)
    assert asked == ["libc.so.6", "liblzma.so.5", "libnobody-has-this.so.1", str(tmp_path / "lent" / "libnobody-has-this.so.1")]
    assert len(sys.meta_path) == before - 1
    for module, library in (("_lzma", "liblzma.so.5"), ("_curses", "libtinfo.so.6")):
        asked.clear()
        for one in [*sys.meta_path[: len(hook["OF_MODULES"])]]:
            one.find_spec(module, None, None)
        assert asked == [library]


@pytest.mark.parametrize("users", [{}, {"LD_LIBRARY_PATH": "/opt/users/lib", "QT_PLUGIN_PATH": "/opt/users/qt"}])
def test_what_qt_starts_in_the_bundle_gets_no_library_of_ours(monkeypatch: pytest.MonkeyPatch, users: dict[str, str]) -> None:
    from gpuassist.system.own_child import inherited

    loaders = {"_PYI_ARCHIVE_FILE": "/opt/gpuassist/gpuassist", "LD_LIBRARY_PATH": "/opt/gpuassist/_internal"}
    loaders |= {"LD_LIBRARY_PATH_ORIG": users["LD_LIBRARY_PATH"]} if users else {}
    monkeypatch.setattr(os, "environ", {**users, **loaders, "HOME": "/home/you"})
    runpy.run_path(str(PACKAGING / "bundle" / "users_qt.py"))
    assert os.environ.get("LD_LIBRARY_PATH") == users.get("LD_LIBRARY_PATH")
    assert "QT_PLUGIN_PATH" not in os.environ
    assert inherited() == {**users, "HOME": "/home/you"}


# What the program needs, and what each package brings.


def test_every_command_but_the_window_is_there_without_qt_and_numpy(tmp_path: Path) -> None:
    """As in the one file. What needs numpy after all says so, and says which Python has it."""
    (tmp_path / "peak.pickle").write_bytes(b"\x80\x04N.")
    blocked = "import sys; sys.modules.update(dict.fromkeys(['numpy', 'PySide6', 'shiboken6', 'pyqtgraph'])); "
    runs = (["--help"], ["snapshot", "--help"], ["snapshot", "peak.pickle"])
    code = f"""{blocked}
from gpuassist import app
for words in {runs!r}:
    try:
        print(words, app.main(words))
    except SystemExit as left:
        print(words, left.code)
"""
    around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=around, capture_output=True, text=True, timeout=100)
    assert re.findall(r"^\[.*\] (\d+)$", done.stdout, re.MULTILINE) == ["0", "0", "3"], done
    assert "the Python that runs this has no numpy" in done.stderr
    assert "Traceback" not in done.stderr


def _left_out_of_the_folder() -> set[str]:
    spec = ast.parse((PACKAGING / "pyinstaller.spec").read_text("utf-8"))
    calls = [one for one in ast.walk(spec) if isinstance(one, ast.Call)]
    (excluded,) = (given.value for one in calls for given in one.keywords if given.arg == "excludes")
    return {str(one.value) for one in ast.walk(excluded) if isinstance(one, ast.Constant)}


def test_what_the_folder_leaves_out_is_needed_by_nothing_that_computes(tmp_path: Path) -> None:
    """numpy imports some of its parts only when they are called for."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys; sys.modules.update(dict.fromkeys({sorted(_left_out_of_the_folder())}))"
    )
    (tmp_path / "peak.pickle").write_bytes(pickle.dumps(training(16, leaks=True).told))
    (tmp_path / "trace.json").write_bytes(trace(steps(3)))
    around = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": f"{tmp_path}:{ROOT}", "LANG": "C.UTF-8"}
    for words, told in (("snapshot peak.pickle", "peak 304.00 MiB"), ("profile trace.json", "trace of torch.profiler")):
        command = [sys.executable, "-m", "gpuassist", *words.split()]
        done = subprocess.run(command, cwd=tmp_path, env=around, capture_output=True, text=True, timeout=100)
        assert told in done.stdout, done.stderr


def test_no_package_leaves_out_what_the_program_imports(scripts: None) -> None:
    import make_bundle
    import make_onefile

    left_out = _left_out_of_the_folder()
    ours = [path for path in (ROOT / "gpuassist").rglob("*.py") if not _RUN_ELSEWHERE & {*path.parts}]
    imported = {
        name for path in ours for found in _IMPORTS.findall(path.read_text("utf-8")) for name in (found, found.split(".")[0])
    }
    assert left_out & imported == {"pyarrow"}  # of which the program says that it is not there

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.split(r"[<>=!; ]", one)[0].lower() for one in project["dependencies"]}
    assert needed - {*make_onefile.NEEDED} == {"pyside6-essentials", "numpy", "tomli"}
    assert needed - {re.split(r"[<>=]", one)[0].lower() for one in make_bundle.WHEELS} == {"tomli"}  # its Python is a newer one


_RUN_ELSEWHERE = {"child", "inside", "there"}  # by interpreters of the user's
_IMPORTS = re.compile(r"^ *(?:import|from) ([\w.]+)", re.MULTILINE)
