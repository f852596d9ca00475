"""Makes resources/fonts/Inter-<style>.ttf: the letters of Inter that words in Latin, Greek and Cyrillic need, marks and arrows.

Run from the project's root: `npm pack inter-ui@4.1.1`, `tar xzf inter-ui-4.1.1.tgz`, `pip install fonttools brotli` (needed here
alone), `python -m tools.subset_fonts package`. Its OFL.txt is that package's LICENSE.txt; the licence reserves no font name.

Contextual alternates are left out: they make an arrow of `->`, and what the window shows are command lines too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

STYLES = ("Regular", "Medium", "SemiBold", "Bold")
LETTERS = "20-7E,A0-24F,259,2B0-2DD,300-30C,370-3FF,400-4FF,1E00-1EFF,2000-209F,20A0-20BF,2100-214F,2190-23FF,25A0-25FF,2700-27BF"
FEATURES = "kern,mark,mkmk,ccmp,locl,tnum,case,zero"


def main() -> None:
    """Writes one file a style."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="what `npm pack inter-ui` unpacks to")
    package = parser.parse_args().package
    for style in STYLES:
        made = Path("resources", "fonts", f"Inter-{style}.ttf")
        command = [
            *(sys.executable, "-m", "fontTools.subset", str(package / "web" / f"Inter-{style}.woff2"), f"--output-file={made}"),
            *(f"--unicodes={LETTERS}", f"--layout-features={FEATURES}", "--no-hinting", "--name-IDs=*"),
        ]
        subprocess.run(command, check=True)
        print(f"{made}: {made.stat().st_size} bytes")


if __name__ == "__main__":
    main()
