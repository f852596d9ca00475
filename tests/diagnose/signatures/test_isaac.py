"""Isaac Gym: its Python's library, and GPUs that came after the torch which its Pythons end with."""

from __future__ import annotations

from gpuassist.diagnose.signatures.isaac import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem
from tests.rows import for_each

LIBRARY = "ImportError: libpython3.8.so.1.0: cannot open shared object file: No such file or directory"
NVRTC = "RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)"
GYM = "Importing module 'gym_38' (/home/r/isaacgym/python/isaacgym/_bindings/linux-x86_64/gym_38.so)\n"


@for_each(
    ("words", "cause", "told"),
    [
        (GYM + LIBRARY, "libpython-not-found", {"library": "libpython3.8.so.1.0", "engine": "Isaac Gym"}),
        (f"RTX 5090\n{GYM}{LIBRARY}", "libpython-not-found", {"gpu": "RTX 5090", "last": "2.4.1", "pythons": "3.6 to 3.8"}),
        (LIBRARY, "not-a-gpu-problem", {}),
        (f"RTX 5090\n{GYM}{NVRTC}", "torch-lacks-sm", {"engine": "Isaac Gym", "instead": "isaac-lab", "last": "2.4.1"}),
        (f"RTX 4090\n{GYM}{NVRTC}", "torch-lacks-sm", {"install": "2.4.1", "gpu": "RTX 4090", "nvrtc": "yes"}),
        (NVRTC, "torch-lacks-sm", {}),
    ],
)
def test_what_cannot_run_is_told_from_what_is_missing(words: str, cause: str, told: dict[str, str]) -> None:
    assert problem(SIGNATURES, words) == cause
    assert told.items() <= parameters(SIGNATURES, words).items()
