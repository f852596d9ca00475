"""What the kernel writes of NVIDIA's modules: whose code it stopped in counts, and not what is merely loaded."""

from __future__ import annotations

from gpuassist.diagnose.signatures.kernel_oops import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

LOADED = "Modules linked in: nvidia_uvm(OE) nvidia_drm(OE) nvidia_modeset(OE) nvidia(OE) ext4\n"
CRASHED = "cuda-init-failed-driver-state"


@for_each(
    ("report", "module", "function"),
    [
        (
            f"BUG: kernel NULL pointer dereference, address: 00000000000000a8\n#PF: supervisor read access\n{LOADED}"
            "RIP: 0010:uvm_hmm_unregister_gpu+0x51/0x3a0 [nvidia_uvm]\n",
            "nvidia_uvm",
            "uvm_hmm_unregister_gpu",
        ),
        (
            "[ 29.7] BUG: unable to handle kernel NULL pointer dereference at 0000000000000340\n"
            "[ 29.8] IP: [<ffffffffc075549f>] _nv011745rm+0x1f/0x170 [nvidia]\n",
            "nvidia",
            "_nv011745rm",
        ),
        (
            "general protection fault, probably for non-canonical address 0x7fff: 0000 [#1] SMP\n"
            "RIP: 0010:nvidia_vma_access+0x1b/0x350 [nvidia]\n",
            "nvidia",
            "nvidia_vma_access",
        ),
        (
            "Unable to handle kernel paging request at virtual address ffff8000\nInternal error: Oops: 96000004 [#1] SMP\n"
            "pc : nv_drm_gem_free+0x34/0x80 [nvidia_drm]\n",
            "nvidia_drm",
            "nv_drm_gem_free",
        ),
        (
            "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [nvidia-modeset]\nRIP: 0010:os_io_read_dword+0x8/0x10 [nvidia]\n",
            "nvidia",
            "os_io_read_dword",
        ),
    ],
)
def test_crash_names_module_and_function(report: str, module: str, function: str) -> None:
    assert problem(SIGNATURES, report) == CRASHED
    assert parameters(SIGNATURES, report) == {"crashed": "yes", "module": module, "function": function}


@for_each(
    "report",
    [
        f"BUG: unable to handle page fault for address: ffffb5f1c0a01000\nRIP: 0010:ext4_readdir+0x1a/0x60 [ext4]\n{LOADED}",
        f"WARNING: CPU: 3 PID: 812 at drm_mode.c:1 x+0x1/0x2 [drm]\n{LOADED}RIP: 0010:nv_drm_x+0x1/0x2 [nvidia_drm]\n",
        "INFO: task jbd2/sda1-8:312 blocked for more than 122 seconds.\n Call Trace:\n io_schedule+0x46/0x70\n",
        "nvidia: loading out-of-tree module taints kernel.\nnvidia: module license 'NVIDIA' taints kernel.\n"
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
        "nvidia_uvm: module uses symbols nvUvmInterfaceDisableAccessCntr from proprietary module nvidia, inheriting taint.\n"
        "[drm] [nvidia-drm] [GPU ID 0x00000100] Loading driver\n",
        "NVRM: nvAssertFailedNoLog: Assertion failed: 0 @ g_mem_mgr.h:1\n",
        "pcieport 0000:00:1c.0: AER: Corrected error received: 0000:01:00.0\n"
        "nvidia 0000:01:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer\n",
        "vboxdrv: Unknown symbol smp_call_function_many (err -2)",
        "ath10k_pci 0000:02:00.0: Unable to change power state from D3cold to D0, device inaccessible",
    ],
)
def test_report_of_somebody_else_and_plain_lines_are_nothing(report: str) -> None:
    assert problems(SIGNATURES, report) == set()


def test_task_that_waits_in_the_driver_is_a_hang_of_the_driver() -> None:
    report = (
        "INFO: task python3:1234 blocked for more than 122 seconds.\n Call Trace:\n  schedule+0x4f/0xc0\n"
        "  os_acquire_rwlock_write+0x35/0x40 [nvidia]\n"
    )
    assert parameters(SIGNATURES, report) == {"hung": "yes", "module": "nvidia", "function": "os_acquire_rwlock_write"}
    assert read(SIGNATURES, report)[0].weight is Weight.STATE


@for_each(
    ("line", "expected"),
    [
        ("traps: Missing ENDBR: _nv011150rm+0x0/0x10 [nvidia]", "driver-not-loaded"),
        ("nvidia_uvm: Unknown symbol nvUvmInterfaceRegisterGpu (err -2)", "driver-not-loaded"),
        ("[    9.1] nvidia_drm: Unknown symbol drm_gem_object_put_unlocked (err -2)", "driver-not-loaded"),
        ("nvidia 0000:01:00.0: probe with driver nvidia failed with error -1", "rm-init-adapter-failed"),
        ("NVRM: pci_enable_device failed, aborting", "rm-init-adapter-failed"),
        ("NVRM: Fatal Error while attempting to resize PCIe BARs.", "rm-init-adapter-failed"),
        (
            "[drm:nv_drm_load [nvidia_drm]] *ERROR* [nvidia-drm] [GPU ID 0x00000100] Failed to allocate NvKmsKapiDevice",
            "rm-init-adapter-failed",
        ),
        ("NVRM: GPU 0000:01:00.0: GPU does not have the necessary power cables connected.", "rm-init-adapter-failed"),
        ("NVRM: No NVIDIA GPU found.", "no-nvidia-gpu"),
        ("NVRM: No NVIDIA PCI devices found.", "no-nvidia-gpu"),
        ("NVRM: request_mem_region failed for 16M @ 0xf6000000. This can", "nouveau-active"),
        ("NVRM: GPU 0000:65:00.0 is already bound to vfio-pci.", "gpu-reserved-for-vm"),
        ("NVRM: nvAssertOkFailedNoLog: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F)", "xid-79-gpu-fell-off-bus"),
        ("NVRM: nvCheckOkFailedNoLog: Check failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062)", "gpu-reset-required"),
        ("nvidia 0000:05:00.0: Unable to change power state from D3cold to D0, device inaccessible", "xid-79-gpu-fell-off-bus"),
        ("nvidia 0000:01:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer", "xid-79-gpu-fell-off-bus"),
        ("nvidia-modeset: ERROR: GPU:0: Error while waiting for GPU progress: 0x0000c57d:0 2:0:4048:4040", CRASHED),
        ("nvidia 0000:01:00.0: PM: failed to resume async: error -5", CRASHED),
        (
            "nvidia 0000:01:00.0: PM: pci_pm_suspend(): nv_pmops_suspend+0x0/0x20 [nvidia] returns -5",
            "video-memory-lost-over-sleep",
        ),
    ],
)
def test_line_leads_to_its_problem(line: str, expected: str) -> None:
    assert problem(SIGNATURES, f"{line}\n") == expected
