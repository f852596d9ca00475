"""What tests may not see of the machine that they run on: its settings of pip, uv, conda, colours, the desktop and the fonts."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

import pytest

from gpuassist.system.files import Files

_MACHINES_OWN = re.compile(
    r"(_?CONDA|CONDARC|MAMBA|PIP|UV|XDG|FONTCONFIG|VIRTUAL_ENV|GTK|KDE|GNOME)(_|$)"
    r"|(BASH_ENV|ENV|ZDOTDIR|CUDA_HOME|CUDA_PATH|LD_LIBRARY_PATH|LC_\w+|LANGUAGE|DESKTOP_SESSION|QT_QPA_PLATFORMTHEME|QT_STYLE_OVERRIDE|NO_COLOR|FORCE_COLOR|CLICOLOR_FORCE)$"
)
_SYSTEM_WIDE = ("/etc/pip.conf", "/etc/xdg/", "/etc/uv/", "/etc/conda/", "/var/lib/conda/")
_NOWHERE = "/dev/null/nowhere"  # not even root can make it
_DEJAVU = "DejaVuSans.ttf"
_CHINESE = "wqy-microhei.ttc"

# Without the distribution's own rules "monospace" would be any font: these name the family that the window falls back to.
_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  {fonts}
  <cachedir>{cache}</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""


def isolate(variables: MutableMapping[str, str]) -> None:
    """Takes the machine's own settings out of the environment, and keeps pip and uv from reading those of its files."""
    for name in [one for one in variables if _MACHINES_OWN.match(one)]:
        del variables[name]
    variables.update({"PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "XDG_CONFIG_DIRS": _NOWHERE, "LANG": "C.UTF-8"})
    variables["OMP_NUM_THREADS"] = "1"  # torches that run side by side wait for each other's threads otherwise


def use_known_fonts(config: pytest.Config) -> None:
    """The window's own families and one for Chinese, where the machine has them, whatever else is installed and preferred there."""
    installed = sorted(Path("/usr/share/fonts").rglob("*.tt?"))
    fonts = [one.parent for one in installed if one.name in {_DEJAVU, _CHINESE}]
    if not any(one.name == _DEJAVU for one in installed):
        return
    folder = tempfile.TemporaryDirectory(prefix="gpuassist-fonts-")
    config.add_cleanup(folder.cleanup)
    settings = Path(folder.name, "fonts.conf")
    settings.write_text(_FONTS.format(fonts="".join(f"<dir>{one}</dir>" for one in fonts), cache=folder.name), "utf-8")
    os.environ["FONTCONFIG_FILE"] = str(settings)


class FilesWithoutSettings(Files):
    """The live files without the settings that somebody made for all users of pip, uv and conda."""

    def place(self, path: str) -> str:
        return _NOWHERE if path.startswith(_SYSTEM_WIDE) else super().place(path)


def keep_pip_from_settings(site: Path) -> None:
    """pip reads /etc/pip.conf whatever XDG_CONFIG_DIRS says; in the environment of these packages it finds none."""
    hidden = "import os.path\n_exists = os.path.exists\nos.path.exists = lambda path: path != '/etc/pip.conf' and _exists(path)\n"
    (site / "_no_etc_pip_conf.py").write_text(hidden, "utf-8")
    (site / "no-etc-pip-conf.pth").write_text("import _no_etc_pip_conf\n", "utf-8")


def shared_settings(root: Path) -> str:
    """A directory for XDG_CONFIG_DIRS: the empty file of uv's in it stands for /etc/uv/uv.toml, of pip's there is none."""
    place = root / "xdg" / "uv" / "uv.toml"
    place.parent.mkdir(parents=True)
    place.touch()
    return str(root / "xdg")
