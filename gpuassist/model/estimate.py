"""Will it fit: what of a model its memory depends on, how it is to be run, and what that is reckoned to take, part by part."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text


class ShapeOrigin(str, Enum):
    """What a model's figures were taken from, the surest first."""

    TRACED = "traced"
    WEIGHTS = "weights"
    CONFIG = "config"
    NUMBERS = "numbers"
    SIZE = "size"


class Matrix(Struct, frozen=True):
    """A weight with two sides that a model has `count` times; `in_layers` of those that stand in its layers, which are what
    quantisation and LoRA are about.
    """

    name: str
    inputs: int
    outputs: int
    count: int
    in_layers: bool = True

    @property
    def parameters(self) -> int:
        return self.inputs * self.outputs * self.count


class TracedFigures(Struct, frozen=True):
    """What one traced step told, in bytes: kept for the backward pass for one batch, of which `fixed_bytes` do not grow
    with the batch, and what was there for a moment beyond that, of which `passing_fixed_bytes` do not; `batch` is that of the step.
    """

    batch: int
    kept_bytes: int
    fixed_bytes: int
    passing_bytes: int
    parameter_bytes: int
    trainable_bytes: int
    buffer_bytes: int
    torch: str
    device: str
    passing_fixed_bytes: int = 0


class Quantization(str, Enum):
    """What the weights of the layers are stored in; the rest of a model keeps 16 bits."""

    NONE = "none"
    FP8 = "fp8"
    INT8 = "int8"
    NF4 = "nf4"
    NF4_DOUBLE = "nf4-double"
    GPTQ = "gptq"
    AWQ = "awq"


class ModelShape(Struct, frozen=True):
    """A model; 0 where it has none of something.

    `family` is the `model_type` of its config. `inner` is the width of the feed-forward part that one token goes through,
    of all its experts together; `heads`, `kv_heads`, `head_size` and `value_size` are those of attention; `latent` is what
    MLA keeps of a token; of the layers, `writing_layers` write beside others that read, `window_layers` look back no
    further than `window` tokens, and `kv_layers` keep keys and values at all. `largest_layer` counts the parameters of the
    largest layer, `tokens` those of a sample whose number is fixed (0: as the sequence is long). `stored_bytes` is what the
    weights take as they lie on disk, 0 where that is not known. `assumed` is a family that is not known, and counted as the
    one that `family` says; `quantization` is what a config says that the weights are stored in. `beside` are those of the
    parameters that stand in parts for pictures and sound, counted by layers and widths alone, and `partly` is whether some
    are not counted at all.
    """

    name: str
    family: str
    origin: ShapeOrigin
    parameters: int
    layers: int = 0
    writing_layers: int = 0
    hidden: int = 0
    inner: int = 0
    heads: int = 0
    kv_heads: int = 0
    head_size: int = 0
    value_size: int = 0
    vocabulary: int = 0
    longest: int = 0
    latent: int = 0
    window: int = 0
    window_layers: int = 0
    kv_layers: int = 0
    experts: int = 0
    largest_layer: int = 0
    tokens: int = 0
    writes: bool = True
    stored_bytes: int = 0
    assumed: bool = False
    quantization: Quantization = Quantization.NONE
    beside: int = 0
    partly: bool = False
    matrices: tuple[Matrix, ...] = ()
    traced: TracedFigures | None = None
    notes: tuple[Text, ...] = ()


class Task(str, Enum):
    """What it is to do."""

    TRAIN = "train"
    INFER = "infer"


class Precision(str, Enum):
    """How a model is trained: all in fp32, by autocast over fp32 weights, in 16 bits with an fp32 copy (DeepSpeed, Megatron,
    FSDP), or all in 16 bits. Of a model that answers, all but fp32 are 16 bits.
    """

    FP32 = "fp32"
    AUTOCAST = "autocast"
    MASTER = "master"
    BF16 = "bf16"


class Optimizer(str, Enum):
    """What makes steps of gradients, and keeps figures of its own for each parameter."""

    ADAMW = "adamw"
    ADAMW_FOREACH = "adamw-foreach"
    ADAMW_8BIT = "adamw-8bit"
    ADAFACTOR = "adafactor"
    LION = "lion"
    MOMENTUM = "momentum"
    SGD = "sgd"


class Offload(str, Enum):
    """What lies in the computer's memory: nothing, the optimizer with its gradients, or the parameters as well."""

    NONE = "none"
    OPTIMIZER = "optimizer"
    ALL = "all"


class Sharding(str, Enum):
    """What several GPUs share: nothing (DDP), the optimizer, gradients too, or parameters too (FSDP is that); of a model that
    answers, tensors are split.
    """

    NONE = "none"
    ZERO1 = "zero1"
    ZERO2 = "zero2"
    ZERO3 = "zero3"


class AttentionKernel(str, Enum):
    """Whether the scores of all pairs of tokens are kept (eager) or computed anew."""

    FUSED = "fused"
    EAGER = "eager"


class EstimateSetting(Struct, frozen=True):
    """How it is to be run. `batch` is that of one GPU, `sequence` the tokens of a sample, or the context of one that
    answers, of which `sequences` are answered at once; `lora` is the rank of the adapters, 0 for none; `kv_bits` are those
    of a cached number.
    """

    task: Task = Task.TRAIN
    precision: Precision = Precision.AUTOCAST
    optimizer: Optimizer = Optimizer.ADAMW
    batch: int = 1
    sequence: int = 2048
    checkpointing: bool = False
    attention: AttentionKernel = AttentionKernel.FUSED
    accumulates: bool = False
    lora: int = 0
    quantization: Quantization = Quantization.NONE
    offload: Offload = Offload.NONE
    sharding: Sharding = Sharding.NONE
    gpus: int = 1
    sequences: int = 1
    kv_bits: int = 16


class EstimatePart(str, Enum):
    """Who takes memory, in the order in which parts are shown."""

    PARAMETERS = "parameters"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    ACTIVATIONS = "activations"
    PASSING = "temporary"
    KV_CACHE = "kv-cache"
    CONTEXT = "context"
    MARGIN = "margin"


class PartEstimate(Struct, frozen=True):
    """A part at the moment of the peak; it may be `low_bytes` to `high_bytes`, `checked` says against what that was held."""

    kind: EstimatePart
    size_bytes: int
    low_bytes: int
    high_bytes: int
    checked: Text


class Estimate(Struct, frozen=True):
    """What one GPU needs. `turns` is what takes turns with a part that is shown, in bytes: gradients are made while
    activations go, and only the more of both counts; `host_bytes` is what lies in the computer's memory, of each GPU.
    """

    parts: tuple[PartEstimate, ...]
    turns: tuple[EstimatePart, int] | None = None
    host_bytes: int = 0
    notes: tuple[Text, ...] = ()

    @property
    def total_bytes(self) -> int:
        return sum(part.size_bytes for part in self.parts)

    @property
    def low_bytes(self) -> int:
        return sum(part.low_bytes for part in self.parts)

    @property
    def high_bytes(self) -> int:
        return sum(part.high_bytes for part in self.parts)

    def of(self, kind: EstimatePart) -> int:
        """The bytes of a part; 0 where it has none."""
        return sum(part.size_bytes for part in self.parts if part.kind is kind)


class CardRoom(Struct, frozen=True):
    """A GPU to be judged: what it has, and what others hold of it now; `index` is none of one that is not there. `obstacle` is why
    nothing can run on it now.
    """

    name: str
    total_bytes: int
    held_bytes: int = 0
    index: int | None = None
    obstacle: Text | None = None

    @property
    def room_bytes(self) -> int:
        return max(0, self.total_bytes - self.held_bytes)


def usable_cards(cards: Iterable[CardRoom]) -> tuple[CardRoom, ...]:
    """Those on which something can run now."""
    return tuple(one for one in cards if one.obstacle is None)


def judged_by(cards: Iterable[CardRoom]) -> CardRoom | None:
    """The one that an answer is about: of a machine's that with most room; of the sizes that a name stands for the smallest, for
    nobody knows which one is meant.
    """
    usable = usable_cards(cards)
    choose = max if any(one.index is not None for one in usable) else min
    return choose(usable, key=lambda one: one.room_bytes, default=None)


class CardAnswer(Struct, frozen=True):
    """Whether it fits there: None where the error of the estimate is larger than the difference; False where nothing can run."""

    card: CardRoom
    fits: bool | None


class LeverKind(str, Enum):
    """What can be changed so that less is needed."""

    CHECKPOINTING = "checkpointing"
    FUSED_ATTENTION = "fused-attention"
    AUTOCAST = "autocast"
    BF16 = "bf16"
    FUSED_OPTIMIZER = "fused-optimizer"
    OPTIMIZER_8BIT = "optimizer-8bit"
    LORA = "lora"
    QLORA = "qlora"
    OFFLOAD_OPTIMIZER = "offload-optimizer"
    OFFLOAD_ALL = "offload-all"
    SHARD = "shard"
    HALF_BATCH = "half-batch"
    HALF_SEQUENCE = "half-sequence"
    SIXTEEN_BITS = "16-bits"
    INT8 = "int8"
    FOUR_BITS = "4-bits"
    KV_FP8 = "kv-fp8"
    HALF_SEQUENCES = "half-sequences"


class Lever(Struct, frozen=True):
    """A change of the setting, what it saves of one GPU's memory, and what it then takes; `fits` as of the best GPU."""

    kind: LeverKind
    setting: EstimateSetting
    saves_bytes: int
    total_bytes: int
    fits: bool | None


class FitAnswer(Struct, frozen=True):
    """All that is said of one question. `fits` is None where it cannot be told: no GPU is known, or it is too near.

    `largest_batch` and `largest_sequence` are those that surely fit on the GPU of `judged_by` with all else as it is, 0 where not
    even one does, None where no GPU is known; of a model that answers, the first is how many sequences at once. `smallest`
    are cards on which it surely fits, of the smallest size.
    """

    shape: ModelShape
    setting: EstimateSetting
    estimate: Estimate
    cards: tuple[CardAnswer, ...]
    fits: bool | None
    levers: tuple[Lever, ...]
    largest_batch: int | None
    largest_sequence: int | None
    smallest: tuple[CardRoom, ...]
    notes: tuple[Text, ...] = ()
