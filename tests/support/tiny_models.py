"""Tiny random models in the shapes of the real ones, written as the real libraries read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WORDS = [
    "query",
    "document",
    "search",
    "how",
    "to",
    "reset",
    "the",
    "сброс",
    "пароль",
    "портал",
    "машина",
    "диск",
    "ключ",
]
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
HIDDEN = 16


def tokenizer(folder: Path, *, longest: int = 64) -> Any:
    """Letters and a few words, so that every text has tokens; BOS and EOS around it."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    letters = [chr(code) for code in (*range(33, 127), *range(ord("а"), ord("я") + 1), ord("ё"))]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys([*SPECIAL, *WORDS, *letters]))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation()])
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", pad_token="<pad>",
        unk_token="<unk>", mask_token="<mask>", model_max_length=longest,
    )  # fmt: skip
    made.save_pretrained(folder)
    return made


def frida(folder: Path) -> None:
    """A T5 encoder with CLS pooling, normalisation and FRIDA's prompt names."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as modules
    from transformers import T5Config, T5EncoderModel

    torch.manual_seed(1)
    base = folder / "base"
    size = len(tokenizer(base))
    config = T5Config(vocab_size=size, d_model=HIDDEN, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
                      feed_forward_proj="gated-gelu", pad_token_id=1, eos_token_id=2)  # fmt: skip
    T5EncoderModel(config).save_pretrained(base)
    transformer = modules.Transformer(str(base), max_seq_length=64)
    pooling = modules.Pooling(HIDDEN, pooling_mode="cls")
    prompts = {"search_query": "search_query: ", "search_document": "search_document: "}
    SentenceTransformer(modules=[transformer, pooling, modules.Normalize()], prompts=prompts, device="cpu").save(
        str(folder)
    )


def _xlmr(size: int) -> Any:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=size, hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=80, pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1, num_labels=1,
    )  # fmt: skip


def bge_m3(folder: Path) -> None:
    """An XLM-R with the two linear heads of BGE-M3."""
    import torch
    from transformers import XLMRobertaModel

    torch.manual_seed(2)
    XLMRobertaModel(_xlmr(len(tokenizer(folder)))).save_pretrained(folder)
    torch.save(torch.nn.Linear(HIDDEN, 1).state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(HIDDEN, HIDDEN).state_dict(), folder / "colbert_linear.pt")


def gte(folder: Path) -> None:
    """The native ``gte`` architecture with a token classification head of one label."""
    import torch
    from transformers import AutoConfig, AutoModelForTokenClassification

    torch.manual_seed(3)
    size = len(tokenizer(folder))
    config = AutoConfig.for_model(
        "gte", vocab_size=size, hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=80, pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1, num_labels=1,
    )  # fmt: skip
    AutoModelForTokenClassification.from_config(config).save_pretrained(folder)


def cross_encoder(folder: Path) -> None:
    """A sequence classifier with one label."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    torch.manual_seed(4)
    XLMRobertaForSequenceClassification(_xlmr(len(tokenizer(folder)))).save_pretrained(folder)


def broken(folder: Path) -> None:
    """A folder that says what it is and holds nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "t5"}), encoding="utf-8")
