"""The glossary: an entry by whatever it is called, and the terms that a text uses, in the user's language."""

from __future__ import annotations

import gettext
from pathlib import Path

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.words import ENGLISH, Words
from gpuassist.session.terms import Glossary, glossary
from gpuassist.system.resources import Resources
from tests.fakes import world_under
from tests.rows import for_each
from tests.values import knowledge

SESSION = Session(world_under(Path("/nowhere")), knowledge(), ENGLISH)
ENGLISH_TERMS = glossary(SESSION)
CHINESE = {"compute capability": "计算能力", "kernel module": "内核模块", "MOK": "MOK（机器所有者密钥）", "memory used": "已用显存"}


class _Chinese(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return CHINESE.get(message, message)


def chinese() -> Glossary:
    return glossary(replace(SESSION, words=Words("zh_CN", _Chinese())))


ASKED = {
    "compute-capability": ("compute capability", "Compute_Capability", "CC", "cc ", "compute-capability"),
    "gpu-target": ("sm_89", "SM_120a", "compute_90", "gencode"),
    "cu-suffix": ("cu128", "+cu126", "cu130"),
    "detach": (".data", "tensor.data", "detach()", "x.data"),
    "rmm": ("CUDAMM", "cuda mm", "RMM"),
    "cublas": ("libcublas", "cuBLASLt"),
    "start-up-file": (".bashrc", "startup file"),
    "linux-kernel": ("kernel",),
    "utilisation": ("GPU-Util", "utilization"),
    "memory-snapshot": ("snapshot", "快照"),
    "memory-segment": ("segments",),
    "activations": ("activation", "激活值"),
    "gradient-checkpointing": ("activation checkpointing", "梯度检查点"),
    "sharding": ("FSDP", "zero-3", "DDP"),
    "lora": ("QLoRA",),
    "kv-cache": ("kv-cache", "GQA"),
    "launch-overhead": ("kernel launch", "启动开销"),
    "prometheus": ("scrape",),
    "sm-activity": ("SM activity",),
    "secure-boot": ("安全启动",),
}


@for_each("key, name", [(key, name) for key, names in ASKED.items() for name in names])
def test_an_entry_is_found_by_any_spelling(key: str, name: str) -> None:
    term = ENGLISH_TERMS.asked(name)
    assert term is not None
    assert term.key == key


def test_what_is_not_known_leads_to_the_nearest() -> None:
    assert ENGLISH_TERMS.asked("reservd memory") is None
    assert ENGLISH_TERMS.nearest("reservd memory")[0].key == "reserved-memory"
    for nothing in ("", " ", "zzzzzz", "\x1b[31m", "…" * 5000):
        assert (ENGLISH_TERMS.asked(nothing), ENGLISH_TERMS.nearest(nothing)) == (None, ())


USED = {
    "The kernel modules for sm_89 are built by DKMS.": ("kernel-module", "gpu-target", "dkms"),
    "torch 2.9.1+cu128, PATH and ~/.bashrc": ("cu-suffix", "path", "start-up-file"),
    "`expandable_segments:True` against fragmentation": ("expandable-segments", "fragmentation"),
    "cuSPARSELt is not cuSPARSE": ("cusparselt", "cusparse"),
    "A GPU is reserved for virtual machines; a path, a mig, smell_89, sm_x, PATHS_": (),
    "Memory": ("vram",),
    "everything (ZeRO-3, FSDP)": ("sharding",),
    "Checkpoint activations": ("gradient-checkpointing", "activations"),
    "kernels": ("gpu-kernel",),
    "SM activity": ("sm-activity",),
    "GPU use": ("utilisation",),
    "内核里的 DKMS和nvcc的 PATH。": ("dkms", "nvcc", "path"),
    "": (),
}


@for_each("text, keys", list(USED.items()))
def test_terms_of_a_text_come_in_its_order(text: str, keys: tuple[str, ...]) -> None:
    assert tuple(one.key for one in ENGLISH_TERMS.in_text(text)) == keys


def test_a_label_means_one_term_or_none() -> None:
    for label, key in (
        ("PCIe", "pcie"),
        ("kernel", "linux-kernel"),
        ("Kernel driver:", "kernel-module"),
        ("Toolkit 12.8", "toolkit"),
    ):
        term = ENGLISH_TERMS.of_label(label)
        assert term is not None
        assert term.key == key
    assert ENGLISH_TERMS.of_label("nvcc and PATH") is None
    assert ENGLISH_TERMS.of_label("Python") is None


def test_another_language_finds_its_own_words() -> None:
    known = chinese()
    assert [one.key for one in known.in_text("显卡的计算能力与内核模块（MOK）")] == ["compute-capability", "kernel-module", "mok"]
    label = known.of_label("已用显存")
    assert label is not None
    assert label.key == "vram"
    for asked in ("计算能力", "机器所有者密钥", "compute capability"):
        assert known.asked(asked) is not None
    assert [one.key for one in known.nearest("所有者密钥")] == ["mok"]


def test_a_damaged_copy_has_no_terms(tmp_path: Path) -> None:
    for content in (None, b"[", b"{}"):
        if content is not None:
            (tmp_path / "terms.json").write_bytes(content)
        known = glossary(replace(SESSION, world=replace(SESSION.world, resources=Resources(tmp_path))))
        assert (known.terms, known.in_text("PATH and DKMS"), known.asked("mok")) == ((), (), None)
