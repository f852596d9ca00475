"""Whether a text describes a GPU set-up in which nothing is wrong."""

from __future__ import annotations

import re

from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.verdicts import finding
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Evidence, Finding
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text, verbatim

# Whether a text describes a GPU set-up in which nothing is wrong: where it says enough, and speaks of no failure.
# Words of failures, none of which stands in the output of a tool that describes a machine where all is well.
_FAILURE = lazy_regex(
    r"\b(?:[a-z]*error|exception|traceback|fatal|fail(?:ed|s|ure)|cannot|can't|couldn't|unable to|not found|no such|unsupported"
    r"|segmentation fault|core dumped|killed|abort(?:ed|ing)?|assert(?:ion)?|mismatch|denied|invalid|undefined|hangs?|crash\w*"
    r"|is cuda available: (?:no|false)|out of memory|no devices)\b|ERR!"
    r"|失败|错误|报错|出错|异常|不能|无法|找不到|错误|エラー|失敗|오류|실패",
    re.IGNORECASE,
)
# What describing tools print of machines where nothing is wrong.
_HARMLESS = lazy_regex(
    r"could not collect|volatile uncorr|not affected|mitigation|vulnerability|no running processes|allow_unsupported"
    r"|links are inactive|\b0 errors?\b|module verification failed: signature|objClInitPcieChipset"
    r"|(?:error|retired|ecc)[\w ]*: *(?:0|no|none|n/a|disabled|enabled)\b|^ *(?:[-#>]|\[?[\w@:~ -]*[$#]) ",
    re.IGNORECASE,
)
_MOST_LINES = 20_000


def sound(setting: SignatureInput) -> Finding | None:
    """That the text shows no fault; None where it does not say enough for that, or speaks of a failure."""
    case = setting.case
    # The parts of a set-up that the text names.
    found = [
        Evidence(text("GPU"), verbatim(card.name), card.gpu.name.source)
        for card in case.cards[:4]
        if isinstance(card.gpu.name, Known)
    ]
    drivers = [case.driver, *(one.version for one in value_or(case.machine.driver.on_disk, ()))]
    running = [one for one in drivers if isinstance(one, Known) and (one is case.driver or "kernel log" in one.source)]
    found.extend(Evidence(text("driver"), verbatim(str(one.value)), one.source) for one in running[:1])
    toolkits = (one.version if isinstance(one.version, Known) else one.nvcc_version for one in case.toolkits[:2])
    found.extend(Evidence(text("CUDA toolkit"), verbatim(str(one.value)), one.source) for one in toolkits if isinstance(one, Known))
    torches = ((one.version, one.torch.version) for one in case.cuda_torches[:2])
    found.extend(Evidence(text("torch"), verbatim(name), fact.source) for name, fact in torches if isinstance(fact, Known))
    evidence = tuple(found)
    if not evidence or speaks_of_failure(setting.paste.words):
        return None
    from gpuassist.diagnose.package_lists import looked_at  # only a text without a fault needs it

    return finding("healthy", *evidence, **looked_at(case))


def speaks_of_failure(words: str) -> bool:
    """Whether a line of the text tells of something that went wrong, of whatever program."""
    lines = words.split("\n", _MOST_LINES)[:_MOST_LINES]
    return any(_FAILURE.search(line[:2000]) and not _HARMLESS.search(line[:2000]) for line in lines)
