"""How the decoders of each family are built, and what a config of theirs leaves out: transformers 5.23, `modeling_*.py` and
`configuration_*.py`, read 2026-11-24; held by counts of the same models made on the meta device.
"""

from __future__ import annotations

from msgspec import Struct


class DecoderFamily(Struct, frozen=True):
    """Biases: of queries, keys and values, of what leaves attention, of the feed-forward part, of norms, of the head; each true,
    or the field of the config that says so. `gated`: the feed-forward part has three matrices. `norms` a layer; `qk_norm` is
    `head` or `full` where queries and keys have norms of their own. `positions`: learned ones, with so many more than the config
    says. `tied`: the head is the embedding, where the config does not say. The numbers are the defaults of the config's class.
    """

    qkv_bias: bool | str = False
    out_bias: bool | str = False
    inner_bias: bool | str = False
    head_bias: bool = False
    gated: bool = True
    norms: int = 2
    norm_bias: bool = False
    qk_norm: str = ""
    positions: int | None = None
    tied: bool = False
    head_size: int = 0
    kv_heads: int = 0
    longest: int = 2048
    dense_experts: bool = False


_LLAMA = DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", inner_bias="mlp_bias")
_PLAIN = DecoderFamily(qkv_bias=True, out_bias=True, inner_bias=True, gated=False, norm_bias=True)

DECODERS: dict[str, DecoderFamily] = {
    "llama": _LLAMA,
    "mistral": DecoderFamily(kv_heads=8, longest=131072),
    "ministral": DecoderFamily(kv_heads=8, longest=131072),
    "granite": _LLAMA,
    "smollm3": DecoderFamily(tied=True),
    "qwen2": DecoderFamily(qkv_bias=True, longest=32768),
    "qwen3": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", head_size=128, longest=32768),
    "gemma": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", tied=True, head_size=256, longest=8192),
    "gemma2": DecoderFamily(
        qkv_bias="attention_bias", out_bias="attention_bias", norms=4, tied=True, head_size=256, kv_heads=4, longest=8192
    ),
    "gemma3_text": DecoderFamily(
        qkv_bias="attention_bias",
        out_bias="attention_bias",
        norms=4,
        tied=True,
        head_size=256,
        kv_heads=4,
        qk_norm="head",
        longest=131072,
    ),
    "phi3": DecoderFamily(longest=4096),
    "phi": DecoderFamily(qkv_bias=True, out_bias=True, inner_bias=True, head_bias=True, gated=False, norms=1, norm_bias=True),
    "gpt2": DecoderFamily(
        qkv_bias=True, out_bias=True, inner_bias=True, gated=False, norm_bias=True, positions=0, tied=True, longest=1024
    ),
    "gpt_bigcode": DecoderFamily(
        qkv_bias=True, out_bias=True, inner_bias=True, gated=False, norm_bias=True, positions=0, tied=True, longest=1024
    ),
    "gpt_neo": DecoderFamily(out_bias=True, inner_bias=True, gated=False, norm_bias=True, positions=0, tied=True),
    "gpt_neox": DecoderFamily(qkv_bias="attention_bias+", out_bias="attention_bias+", inner_bias=True, gated=False, norm_bias=True),
    "gptj": DecoderFamily(inner_bias=True, head_bias=True, gated=False, norms=1, norm_bias=True),
    "opt": DecoderFamily(
        qkv_bias="enable_bias+",
        out_bias="enable_bias+",
        inner_bias="enable_bias+",
        gated=False,
        norm_bias=True,
        positions=2,
        tied=True,
    ),
    "bloom": DecoderFamily(qkv_bias=True, out_bias=True, inner_bias=True, gated=False, norm_bias=True, tied=True),
    "falcon": DecoderFamily(qkv_bias="bias", out_bias="bias", inner_bias="bias", gated=False, norm_bias=True, tied=True),
    "starcoder2": DecoderFamily(
        qkv_bias="use_bias+",
        out_bias="use_bias+",
        inner_bias="use_bias+",
        gated=False,
        norm_bias=True,
        tied=True,
        kv_heads=2,
        longest=4096,
    ),
    "stablelm": DecoderFamily(qkv_bias="use_qkv_bias", norm_bias=True, longest=4096),
    "olmo2": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="full"),
    "olmo3": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="full"),
    "cohere": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", norms=1, tied=True, longest=8192),
    "cohere2": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", norms=1, tied=True, longest=8192),
    "mixtral": DecoderFamily(kv_heads=8, longest=131072, dense_experts=True),
    "olmoe": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="full", longest=4096),
    "qwen2_moe": DecoderFamily(qkv_bias=True, longest=32768),
    "qwen3_moe": DecoderFamily(
        qkv_bias="attention_bias", out_bias="attention_bias", qk_norm="head", kv_heads=4, head_size=0, longest=32768
    ),
    "gpt_oss": DecoderFamily(qkv_bias=True, out_bias=True, inner_bias=True, head_size=64, kv_heads=8, longest=131072),
    "llama4_text": DecoderFamily(qkv_bias="attention_bias", out_bias="attention_bias", kv_heads=8, head_size=128, longest=131072),
    "nemotron": DecoderFamily(
        qkv_bias="attention_bias", out_bias="attention_bias", inner_bias="mlp_bias", gated=False, norm_bias=True, longest=4096
    ),
    "deepseek_v2": DecoderFamily(longest=2048),
    "deepseek_v3": DecoderFamily(longest=4096),
}
# What others call models that are built as these are.
ALIKE = {
    "gemma3": "gemma3_text",
    "code_llama": "llama",
    "qwen2_vl": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen2_5_vl": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3",
    "llama4": "llama4_text",
    "kimi_k2": "deepseek_v3",
    "mistral3": "mistral",
    "phi4": "phi3",
    "ministral3": "ministral",
    "qwen3_vl_moe_text": "qwen3_moe",
    "minicpm3": "deepseek_v2",
    "ernie4_5": "llama",
    "exaone": "llama",
    "internlm3": "llama",
}
# What a config that stands within another leaves out, as its class says by itself: width, width of the feed-forward part, layers,
# heads, vocabulary.
_WITHIN = {
    "llama": (4096, 11008, 32, 32, 32000),
    "mistral": (4096, 14336, 32, 32, 32000),
    "gemma": (3072, 24576, 28, 16, 256000),
    "gemma2": (2304, 9216, 26, 8, 256000),
    "gemma3_text": (2304, 9216, 26, 8, 262208),
    "qwen2": (4096, 22016, 32, 32, 151936),
}
_FIGURES = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
WITHIN: dict[str, dict[str, int]] = {name: dict(zip(_FIGURES, figures, strict=True)) for name, figures in _WITHIN.items()}
# Widths of the feed-forward part where a config leaves them out: so many times the hidden size.
TIMES_HIDDEN = {"gpt2": 4, "gpt_bigcode": 4, "gptj": 4, "gpt_neo": 4, "bloom": 4, "falcon": 4}
# Convolutions, layers of another width each, attention to pieces of a text, bottlenecks, experts of another kind: as a Llama they
# were farther off than the error that is said of what is not known.
NO_TRANSFORMERS = frozenset((
    "big_bird", "bigbird_pegasus", "clvp", "cohere_asr", "convnext", "convnextv2", "csm", "data2vec-audio", "deta", "detr",
    "doge", "efficientnet", "flava", "focalnet", "funnel", "hiera", "hrm_text", "hubert", "idefics", "inkling_mm_model", "led",
    "longformer", "longt5", "luke", "mask2former", "maskformer", "mobilebert", "mobilenet_v2", "mobilevit", "muse_spark",
    "muse_spark_text", "nemotron3_5_transcribe_word_timestamp", "poolformer", "pvt", "reformer", "regnet", "resnet",
    "sam3_lite_text", "segformer", "sew", "speech_to_text", "squeezebert", "swin", "swin2sr", "swinv2", "timm_backbone",
    "timm_wrapper", "unispeech", "vits", "wav2vec2", "wav2vec2-bert", "wav2vec2-conformer", "wavlm",
))  # fmt: skip
# Layers of state spaces, recurrences or linear attention, alone or between others: neither their weights nor what they keep is what
# a transformer's are.
OTHERWISE_BUILT = frozenset((
    "bamba", "falcon_h1", "granitemoehybrid", "jamba", "kimi_linear", "lfm2", "lfm2_moe", "minimax", "nemotron_h", "qwen3_next",
    "recurrent_gemma", "retnet", "rwkv", "rwkv5", "rwkv6", "rwkv7", "xlstm", "zamba", "zamba2",
))  # fmt: skip
