"""Decoders: models that write one token after another, with or without experts."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.formats.model_config.families import ALIKE, DECODERS, TIMES_HIDDEN, DecoderFamily
from gpuassist.formats.model_config.fields import Fields, ModelConfigError, Pieces
from gpuassist.model.estimate import Matrix, ModelShape, ShapeOrigin
from gpuassist.model.text import Text, text

_MOST_LAYERS = 10_000


def decoder(fields: Fields, kind: str, name: str, notes: tuple[Text, ...]) -> ModelShape:
    """The shape of a decoder of this `model_type`; one that is not known is counted as a Llama, which is said."""
    family = ALIKE.get(kind, kind)
    if family not in DECODERS:
        unknown = text("models of the type `{type}` are not known here: counted as a Llama with these numbers", type=kind or "?")
        return _as_a_llama(fields, kind, name, (*notes, unknown))
    return _Decoder(fields, family, kind).shape(name, notes)


def _as_a_llama(fields: Fields, kind: str, name: str, notes: tuple[Text, ...]) -> ModelShape:
    try:
        counted = _Decoder(fields, "llama", kind)
        if fields.counts_some("expert") and not counted.counts_experts:
            raise ModelConfigError(text("it has experts that its config does not count as others do"))
        if fields.counts_some("per_layer_input"):
            raise ModelConfigError(text("it has an embedding for each layer"))
        return replace(counted.shape(name, notes), assumed=True)
    except ModelConfigError as error:
        if not kind:
            raise
        said = text(
            "models of the type `{type}` are not known here, and as a Llama {why}: name code that makes it",
            type=kind,
            why=error.reason,
        )
        raise ModelConfigError(said) from error


class _Decoder:
    def __init__(self, fields: Fields, family: str, kind: str) -> None:
        self.fields, self.family, self.kind = fields, family, kind
        self.built: DecoderFamily = DECODERS[family]
        self.layers = fields.whole("num_hidden_layers", "n_layer", "num_layers")
        self.hidden = fields.whole("hidden_size", "n_embd", "n_embed", "d_model")
        self.heads = fields.whole("num_attention_heads", "n_head", "num_heads")
        self.vocabulary = fields.whole("vocab_size")
        self.longest = fields.whole("max_position_embeddings", "n_positions", "seq_length", default=self.built.longest)
        if self.layers > _MOST_LAYERS:
            raise ModelConfigError(text("its `{field}` is no number that a model can have", field="num_hidden_layers"))
        if self.hidden % self.heads and not fields.has("head_dim") and not self.built.head_size:
            raise ModelConfigError(
                text("its `{field}` is no multiple of `{other}`", field="hidden_size", other="num_attention_heads")
            )
        self.head_size = fields.whole("head_dim", default=self.built.head_size or max(1, self.hidden // self.heads))
        self.kv_heads = self._kv_heads()
        self.experts = fields.whole("num_local_experts", "num_experts", "n_routed_experts", default=0, least=0)
        self.pieces = Pieces()

    @property
    def counts_experts(self) -> bool:
        return self.experts > 1 and self._expert_width() > 0

    def shape(self, name: str, notes: tuple[Text, ...]) -> ModelShape:
        sparse = self._sparse_layers()
        inner_dense, inner_sparse = self._inner_dense(), self._inner_sparse()
        value = self.fields.whole("v_head_dim", default=self.head_size) if self._latent() else self.head_size
        self._layers(sparse, inner_dense)
        inside = self.pieces.parameters
        self._outside()
        active = (inner_sparse * sparse + inner_dense * (self.layers - sparse)) // max(1, self.layers)
        window, behind = self._window()
        return ModelShape(
            name=name or self.kind,
            family=self.family,
            origin=ShapeOrigin.CONFIG,
            parameters=self.pieces.parameters,
            layers=self.layers,
            hidden=self.hidden,
            inner=active,
            heads=self.heads,
            kv_heads=self.kv_heads,
            head_size=self._query_size(),
            value_size=value,
            vocabulary=self.vocabulary,
            longest=self.longest,
            latent=self._latent(),
            window=window,
            window_layers=behind,
            kv_layers=self.layers,
            experts=self.experts,
            largest_layer=-(-inside // self.layers),
            matrices=tuple(Matrix(*one) for one in self.pieces.matrices),
            notes=notes,
        )

    def _kv_heads(self) -> int:
        if self.family == "falcon":
            many = self.fields.flag("new_decoder_architecture") or not self.fields.flag("multi_query", default=True)
            return self.fields.whole("num_kv_heads", "n_head_kv", default=self.heads) if many else 1
        if self.family == "gpt_bigcode":
            return 1 if self.fields.flag("multi_query", default=True) else self.heads
        return self.fields.whole("num_key_value_heads", default=self.built.kv_heads or self.heads)

    def _latent(self) -> int:
        if not self.family.startswith("deepseek"):
            return 0
        return self.fields.whole("kv_lora_rank", default=512) + self.fields.whole("qk_rope_head_dim", default=64)

    def _query_size(self) -> int:
        if not self._latent():
            return self.head_size
        return self.fields.whole("qk_nope_head_dim", default=128) + self.fields.whole("qk_rope_head_dim", default=64)

    def _window(self) -> tuple[int, int]:
        """How far back the layers look that do not see everything, and how many do."""
        size = self.fields.whole("sliding_window", default=0, least=0)
        if not size or (self.family in {"qwen2", "qwen3"} and not self.fields.flag("use_sliding_window")):
            return 0, 0
        kinds = self.fields.words("layer_types")
        if kinds:
            return size, min(self.layers, kinds.count("sliding_attention"))
        pattern = self.fields.whole(
            "sliding_window_pattern", default={"gemma2": 2, "gemma3_text": 6, "gpt_oss": 2}.get(self.family, 0), least=0
        )
        return size, self.layers - self.layers // pattern if pattern else self.layers

    def _bias(self, given: bool | str) -> bool:  # noqa: FBT001 -- or the name of the field that says so
        if isinstance(given, bool):
            return given
        return self.fields.flag(given.rstrip("+"), default=given.endswith("+"))

    def _sparse_layers(self) -> int:
        if not self.experts:
            return 0
        dense = self.fields.whole("first_k_dense_replace", default=0, least=0)
        step = self.fields.whole("decoder_sparse_step", "interleave_moe_layer_step", default=1)
        alone = len({one for one in self.fields.wholes("mlp_only_layers") if one < self.layers})
        return max(0, (self.layers - dense) // step - alone)

    def _inner_dense(self) -> int:
        times = TIMES_HIDDEN.get(self.family)
        default = None if times is None else times * self.hidden
        names: tuple[str, ...] = ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
        if self.family == "llama4_text":
            names = ("intermediate_size_mlp", *names)
        return self.fields.whole(*names, default=default)

    def _expert_width(self) -> int:
        return self.fields.whole("moe_intermediate_size", "intermediate_size", default=0, least=0)

    def _inner_sparse(self) -> int:
        if not self.experts:
            return 0
        chosen = self.fields.whole("num_experts_per_tok", "experts_per_token", default=2)
        return min(chosen, self.experts) * self._expert_width() + self._shared_width()

    def _shared_width(self) -> int:
        if self.family == "qwen2_moe":
            return self.fields.whole("shared_expert_intermediate_size", default=5632)
        if self.family == "llama4_text":
            return self._expert_width()
        if self.family.startswith("deepseek"):
            return (
                self.fields.whole("n_shared_experts", default=1 if self.family == "deepseek_v3" else 2, least=0)
                * self._expert_width()
            )
        return 0

    # Layers

    def _layers(self, sparse: int, inner: int) -> None:
        if self._latent():
            self._latent_attention()
        else:
            self._attention()
        self._feed_forward("", inner, self.layers - sparse)
        if sparse:
            self._experts(sparse)
        self.pieces.vector(self.hidden * (2 if self.built.norm_bias else 1), self._norms() * self.layers)

    def _norms(self) -> int:
        if self.family == "falcon":
            if not self.fields.flag("parallel_attn", default=True):
                return 2
            new = 2 if self.fields.flag("new_decoder_architecture") else 1
            return self.fields.whole("num_ln_in_parallel_attn", default=new)
        if self.family == "stablelm" and self.fields.flag("use_parallel_residual"):
            return 1
        return self.built.norms

    def _attention(self) -> None:
        pieces, count = self.pieces, self.layers
        query, key = self.heads * self.head_size, self.kv_heads * self.head_size
        bias, out = self._bias(self.built.qkv_bias), self._bias(self.built.out_bias)
        pieces.matrix("q_proj", self.hidden, query, count, bias=bias)
        pieces.matrix("k_proj", self.hidden, key, count, bias=bias)
        pieces.matrix("v_proj", self.hidden, key, count, bias=bias)
        pieces.matrix("o_proj", query, self.hidden, count, bias=out)
        if self.built.qk_norm:
            pieces.vector(2 * self.head_size if self.built.qk_norm == "head" else query + key, count)
        elif self.fields.flag("use_qk_norm") and self.family != "llama4_text":  # whose norms of keys have no weights
            pieces.vector(query + key, count)
        elif self.fields.flag("qk_layernorm"):
            pieces.vector(query + key if self.family == "stablelm" else 4 * self.head_size, count)
        if self.family == "gpt_oss":
            pieces.vector(self.heads, count)  # sinks

    def _latent_attention(self) -> None:
        pieces, count, rank = self.pieces, self.layers, self.fields.whole("q_lora_rank", default=0, least=0)
        bias = self.fields.flag("attention_bias")
        kept, rotated = self.fields.whole("kv_lora_rank", default=512), self.fields.whole("qk_rope_head_dim", default=64)
        plain, value = self.fields.whole("qk_nope_head_dim", default=128), self.fields.whole("v_head_dim", default=128)
        query = self.heads * (plain + rotated)
        if rank:
            pieces.matrix("q_a_proj", self.hidden, rank, count, bias=bias)
            pieces.vector(rank, count)
        pieces.matrix("q_b_proj" if rank else "q_proj", rank or self.hidden, query, count)
        pieces.matrix("kv_a_proj_with_mqa", self.hidden, kept + rotated, count, bias=bias)
        pieces.vector(kept, count)
        pieces.matrix("kv_b_proj", kept, self.heads * (plain + value), count)
        pieces.matrix("o_proj", self.heads * value, self.hidden, count, bias=bias)

    def _feed_forward(self, name: str, inner: int, count: int) -> None:
        bias = self._bias(self.built.inner_bias)
        if self.built.gated:
            self.pieces.matrix(f"{name}gate_proj", self.hidden, inner, count, bias=bias)
        self.pieces.matrix(f"{name}up_proj", self.hidden, inner, count, bias=bias)
        self.pieces.matrix(f"{name}down_proj", inner, self.hidden, count, bias=bias)

    def _experts(self, sparse: int) -> None:
        self.pieces.matrix("router", self.hidden, self.experts, sparse, bias=self.family == "gpt_oss")
        self._feed_forward("experts.", self._expert_width(), sparse * self.experts)
        if self._shared_width():
            self._feed_forward("shared_expert.", self._shared_width(), sparse)
        if self.family == "qwen2_moe":
            self.pieces.matrix("shared_expert_gate", self.hidden, 1, sparse)

    # What stands before and behind the layers

    def _outside(self) -> None:
        fields, pieces, family = self.fields, self.pieces, self.family
        width = fields.whole("word_embed_proj_dim", default=self.hidden) if family == "opt" else self.hidden
        pieces.matrix("embed_tokens", self.vocabulary, width, inside=False)
        if width != self.hidden:
            pieces.matrix("project_in", width, self.hidden, inside=False)
            pieces.matrix("project_out", self.hidden, width, inside=False)
        if self.built.positions is not None:
            pieces.matrix("positions", self.longest + self.built.positions, self.hidden, inside=False)
        norm = self.hidden * (2 if self.built.norm_bias else 1)
        if family == "bloom":
            pieces.vector(norm)  # of the embedding
        if family != "opt" or (fields.flag("do_layer_norm_before", default=True) and not fields.flag("_remove_final_layer_norm")):
            pieces.vector(norm)
        if not fields.flag("tie_word_embeddings", default=self.built.tied):
            pieces.matrix("lm_head", self.hidden, self.vocabulary, bias=self.built.head_bias, inside=False)
