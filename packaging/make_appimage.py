"""Makes an AppImage of the folder that `make_bundle.py` has built: `python packaging/make_appimage.py DIRECTORY`. The folder for it
is always made; the image itself where appimagetool is there (https://github.com/AppImage/appimagetool), which is in no registry.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# No variable is set for the program: what it finds is what the user has.
_RUN = """#!/bin/sh
exec "$(dirname "$(readlink -f "$0")")/gpuassist/gpuassist" "$@"
"""


def main() -> None:
    """Lays the folder out as AppImage wants it, and makes the image."""
    target = Path(sys.argv[1])
    if not (target / "gpuassist").is_dir():
        print("NOT RUN: the AppImage; the application in one folder is not there")
        return
    layout = lay_out(target)
    tool = shutil.which("appimagetool") or shutil.which("appimagetool-x86_64.AppImage")
    if tool is None:
        print(f"NOT RUN: the AppImage; appimagetool is not there, and would make it of {layout}")
        return
    image = target / "gpuassist-x86_64.AppImage"
    subprocess.run([tool, str(layout), str(image)], check=True)
    print(f"{image}: {image.stat().st_size / 1e6:.0f} MB")


def lay_out(target: Path) -> Path:
    """The folder that appimagetool makes an image of."""
    layout = target / "gpuassist.AppDir"
    shutil.rmtree(layout, ignore_errors=True)
    layout.mkdir()
    shutil.copytree(target / "gpuassist", layout / "gpuassist", symlinks=True)
    share = layout / "usr" / "share"
    share.parent.mkdir()
    (layout / "gpuassist" / "share").rename(share)
    (layout / "AppRun").write_text(_RUN)
    (layout / "AppRun").chmod(0o755)
    shutil.copy(share / "applications" / "gpuassist.desktop", layout)
    shutil.copy(HERE / "icons" / "256.png", layout / "gpuassist.png")
    (layout / ".DirIcon").symlink_to("gpuassist.png")
    return layout


if __name__ == "__main__":
    main()
