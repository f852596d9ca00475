"""Found first by every Python that `gpuassist run` starts: begins, takes itself away, and lets the user's own sitecustomize run.

It is read by whatever Python comes along, so it keeps to the syntax that 2.7 shares with 3.
"""

import os
import sys


def _begin():  # type: ignore[no-untyped-def]
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        if sys.version_info >= (3, 8):
            import gpuassist_memory  # type: ignore[import-not-found]
            import gpuassist_wish  # type: ignore[import-not-found]  # noqa: F401

            if os.environ.get("GPUASSIST_SNAPSHOTS"):
                import gpuassist_snapshot  # type: ignore[import-not-found]  # noqa: F401
            gpuassist_memory.begin()
    except Exception:  # noqa: BLE001 -- the border to the user's program, which must not notice whatever went wrong here
        pass
    finally:
        sys.path[:] = [place for place in sys.path if os.path.abspath(place) != here]


_begin()  # type: ignore[no-untyped-call]
# From here on everything is as if this file had not been: site.py sees the next one's success, its error, or that there is none.
sys.modules.pop("sitecustomize", None)
__import__("sitecustomize")
