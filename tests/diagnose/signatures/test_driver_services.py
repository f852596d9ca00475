"""The services that come with the driver, MIG and a reset: what failed, and whether that matters."""

from __future__ import annotations

from gpuassist.diagnose.signatures.driver_services import SIGNATURES, UNITS
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each


@for_each(("unit", "form"), [(unit, form) for unit in UNITS for form in range(5)])
def test_every_unit_is_known_in_every_form_of_its_failure(unit: str, form: int) -> None:
    forms = (
        f"Sep 14 07:30:20 host systemd[1]: {unit}.service: Failed with result 'exit-code'.",
        f"systemd[1]: {unit}.service: Main process exited, code=exited, status=1/FAILURE",
        f"● {unit}.service   loaded failed failed NVIDIA service",
        f"Job for {unit}.service failed because the control process exited with error code.",
        f"× {unit}.service - NVIDIA service\n     Loaded: loaded (x; enabled)\n     Active: failed (Result: exit-code)",
    )
    assert problems(SIGNATURES, forms[form]) == {UNITS[unit].problem}


@for_each(
    "words",
    [
        "systemd[1]: nvidia-persistenced.service: Main process exited, code=exited, status=0/SUCCESS",
        "systemd[1]: nvidia-persistenced.service: Deactivated successfully.",
        "● nvidia-powerd.service - nvidia-powerd service\n   Loaded: loaded\n   Active: active (running)",
        "nvidia-persistenced.service            loaded active running NVIDIA Persistence Daemon",
        "|                               |                      |              Enabled |",
        "MIG mode is enabled on all GPUs",
        "docker: port is in use by another client",
        "systemd[1]: my-nvidia-powerd.service: Failed with result 'exit-code'.",
    ],
)
def test_sound_service_and_near_misses_are_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_daemon_that_only_asks_the_driver_proves_nothing() -> None:
    words = "nvidia-persistenced.service: Failed with result 'exit-code'."
    assert [clue.weight for clue in read(SIGNATURES, words)] == [Weight.CONSEQUENCE]


@for_each(
    ("words", "expected", "told"),
    [
        (
            "Unable to enable MIG Mode for GPU 00000000:3B:00.0: In use by another client",
            "mig-mode",
            {"busy": "yes"},
        ),
        (
            "Unable to destroy compute instance ID  0 from GPU  0 GPU instance ID  3: In use by another client",
            "mig-mode",
            {"busy": "yes"},
        ),
        (
            "Warning: MIG mode is in pending enable state for GPU 00000000:07:00.0:In use by another client",
            "mig-mode",
            {"busy": "yes"},
        ),
        (
            "Unable to create a GPU instance on GPU  0 using profile 9: Insufficient Resources",
            "mig-mode",
            {"full": "yes"},
        ),
        ("Failed to create GPU instances: Invalid Argument", "mig-mode", {"unsupported": "yes"}),
        ("Unable to enable MIG Mode for GPU 00000000:01:00.0: Not Supported", "mig-mode", {"unsupported": "yes"}),
        ("Failed to display compute instances: Insufficient Permissions", "device-permissions", {}),
        ("No MIG-enabled devices found.", "mig-mode", {"off": "yes"}),
        ("No MIG-supported devices found.", "mig-mode", {"unsupported": "yes"}),
        (
            "The following GPUs could not be reset:\n  GPU 00000000:01:00.0: In use by another client\n",
            "gpu-reset-required",
            {"busy": "yes"},
        ),
        (
            "mig-parted apply -c all\nThe following GPUs could not be reset:\n  GPU 00000000:01:00.0: In use by another client",
            "mig-mode",
            {"busy": "yes"},
        ),
        (
            "nvidia-powerd[605]: ERROR! Client (presumably SBIOS) has requested to disable Dynamic Boost DC controller",
            "nvidia-service-not-needed",
            {"unit": "nvidia-powerd", "boost": "yes"},
        ),
        (
            "nvidia-sleep.sh[22]: /usr/bin/nvidia-sleep.sh: line 29: echo: write error: Input/output error",
            "video-memory-lost-over-sleep",
            {"refused": "yes"},
        ),
    ],
)
def test_message_tells_what_is_in_the_way(words: str, expected: str, told: dict[str, str]) -> None:
    assert problem(SIGNATURES, words) == expected
    assert parameters(SIGNATURES, words) == told


QUERY = "query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"


@for_each(
    ("beside", "expected"),
    [
        ("Detected Pre-NVL5 system", "fabric-manager-not-needed"),
        ("2 x NVIDIA GeForce RTX 4090", "fabric-manager-not-needed"),
        ("HGX H20, Detected Pre-NVL5 system", "fabric-manager-not-running"),
        ("NVIDIA B200", "fabric-manager-not-running"),
    ],
)
def test_fabric_manager_is_needed_where_there_are_switches(beside: str, expected: str) -> None:
    words = f"{beside}\n{QUERY}\nnvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n"
    assert problem(SIGNATURES, words) == expected


def test_switches_of_the_fifth_nvlink_want_their_own_manager() -> None:
    assert parameters(SIGNATURES, f"NVIDIA B200\n{QUERY}") == {"subnet": "yes"}


def test_divided_card_counts_where_a_program_misses_a_gpu() -> None:
    row = "| N/A   30C    P0    44W / 400W |\n|                               |                      |              Enabled |\n"
    assert problem(SIGNATURES, f"{row}>>> torch.cuda.is_available()\nFalse\n") == "mig-mode"
