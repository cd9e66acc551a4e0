"""What FRIDA and BGE-M3 cost to index with: their true sizes with random weights, which are as slow as trained ones.

    python -m tests.bench.large_models embedded|frida|bge-m3|both [PAGES]

Processor seconds are told beside those of the clock: a busy machine does not spoil them, and two idle cores give two of
them a second. Two runs, of one page and of more, tell the loading from the work. The models are made once, in
``.askwiki/large``.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.support import tiny_models

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path(os.environ.get("LARGE_MODELS", ROOT / ".askwiki" / "large"))
WIKI = ROOT / "tests" / "wiki" / "xml"
LETTERS = 4  # of a piece of a word, as both models' own tokenizers have it for Russian

# As published with the models.
FRIDA = {"d_model": 1536, "d_kv": 64, "d_ff": 4096, "num_layers": 24, "num_heads": 24, "vocab_size": 93_651}
BGE_M3 = {
    "vocab_size": 250_002,
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "max_position_embeddings": 8194,
}
KINDS = {
    "embedded": {},
    "frida": {"EMBEDDING__KIND": "sentence-transformers", "EMBEDDING__MODEL": "frida"},
    "bge-m3": {"SPARSE__KIND": "bge-m3", "SPARSE__MODEL": "bge-m3"},
}
KINDS["both"] = {**KINDS["frida"], **KINDS["bge-m3"]}


def main(words: list[str]) -> None:
    kind, pages = words[0], int(words[1]) if len(words) > 1 else 0
    settings = {f"ASKWIKI_{name}": _made(value) if "MODEL" in name else value for name, value in KINDS[kind].items()}
    if kind in ("frida", "both"):
        settings |= {"ASKWIKI_EMBEDDING__QUERY_PREFIX": "search_query: "}
        settings |= {"ASKWIKI_EMBEDDING__DOCUMENT_PREFIX": "search_document: "}
    run = PLACE / f"run-{kind}-{os.getpid()}"
    environ = {**os.environ, **settings, "ASKWIKI_STORE_PATH": str(run / "store")}
    environ |= {
        "ASKWIKI_SYNC__CACHE": str(run / "cache"),
        "ASKWIKI_CONFIG": str(ROOT / "config"),
        "HF_HUB_OFFLINE": "1",
    }
    few, short = _sync(environ, 1)
    more, long = _sync(environ, pages)  # goes on: the first page is there already
    chunks = more["chunks"] - few["chunks"]
    # Loading is in both: what they differ by is the work of so many chunks more.
    processor, clock = ((late - early) / (chunks - few["chunks"]) for late, early in zip(long, short, strict=True))
    row = {
        "kind": kind,
        "chunks": chunks,
        "start, processor s": round(short[0] - processor * few["chunks"], 1),
        "a chunk, processor s": round(processor, 2),
        "a chunk, clock s": round(clock, 2),
        "memory, GB": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6, 2),
    }
    sys.stdout.write(json.dumps(row) + "\n")


def _sync(environ: dict[str, str], pages: int) -> tuple[dict[str, Any], tuple[float, float]]:
    """The ledger of a run, and its processor seconds and clock seconds, the loading of the models left in."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    words = [sys.executable, "-m", "indexer", "sync", "--source", f"xml:{WIKI}", "--limit", str(pages), "--json"]
    done = subprocess.run(words, env=environ, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(done.stderr[-2000:])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), (spent, time.monotonic() - begun)


def _made(name: str) -> str:
    """The folder of a model or the word for a kind; a model is made when it is not there yet."""
    folder = PLACE / name
    if name in ("frida", "bge-m3") and not (folder / "made").exists():
        (_frida if name == "frida" else _bge_m3)(folder)
        (folder / "made").touch()
    return str(folder) if name in ("frida", "bge-m3") else name


def _tokenizer(folder: Path) -> None:
    """Words in pieces of as many letters as the real ones have; which piece it is costs nothing."""
    from tokenizers import Regex, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = tiny_models.tokenizer(folder, longest=8192)
    made.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(rf"\w{{1,{LETTERS}}}|[^\w\s]"), "isolated")
    PreTrainedTokenizerFast.save_pretrained(made, folder)


def _frida(folder: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules
    from transformers import T5Config, T5EncoderModel

    base = folder / "base"
    _tokenizer(base)
    config = T5Config(**FRIDA, feed_forward_proj="gated-gelu", pad_token_id=1, eos_token_id=2)
    T5EncoderModel(config).save_pretrained(base)
    parts = [modules.Transformer(str(base), max_seq_length=512), modules.Pooling(1536, pooling_mode="cls")]
    SentenceTransformer(modules=[*parts, modules.Normalize()], device="cpu").save(str(folder))


def _bge_m3(folder: Path) -> None:
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    _tokenizer(folder)
    config = XLMRobertaConfig(**BGE_M3, pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1)
    XLMRobertaModel(config).save_pretrained(folder)
    torch.save(torch.nn.Linear(1024, 1).state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(1024, 1024).state_dict(), folder / "colbert_linear.pt")


if __name__ == "__main__":
    main(sys.argv[1:])
