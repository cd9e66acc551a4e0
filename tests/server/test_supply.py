"""Model files are checked against stated hashes; code that comes with a model runs only by its name."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from askwiki.configuration import replace_setting
from askwiki.encoders.verify import checked, complete
from askwiki.errors import ModelError, SettingsError
from askwiki.settings import Settings

SETTING = "embedding.sha256"
CONTENT = b"weights"
HASH = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "onnx").mkdir()
    for name in ("model.safetensors", "onnx/model.onnx"):
        (tmp_path / name).write_bytes(CONTENT)
    return str(tmp_path)


def test_without_stated_hashes_a_model_is_taken_as_it_is() -> None:
    assert checked("ai-forever/FRIDA", "", SETTING) == "ai-forever/FRIDA"


def test_files_with_their_hashes_pass(model: str) -> None:
    assert checked(model, f"model.safetensors={HASH.upper()}, onnx/model.onnx = {HASH}", SETTING) == model


@pytest.mark.parametrize("setting", ["embedding.sha256", "sparse.sha256"])
def test_another_content_is_refused_before_it_is_loaded(model: str, setting: str) -> None:
    (Path(model) / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ModelError, match=rf"model\.safetensors .* is not what {re.escape(setting)} states"):
        checked(model, f"model.safetensors={HASH}", setting)


def test_a_missing_file_is_refused(model: str) -> None:
    with pytest.raises(ModelError, match="no such file"):
        checked(model, f"pytorch_model.bin={HASH}", SETTING)


def test_a_model_without_a_file_that_its_library_would_make_up_is_refused(model: str) -> None:
    complete(model, ["model.safetensors", "onnx/model.onnx"])
    with pytest.raises(ModelError, match=r"is not whole: sparse_linear\.pt is missing"):
        complete(model, ["model.safetensors", "sparse_linear.pt"])


@pytest.mark.parametrize("stated", ["model", "model=", "model=12", f"={HASH}", f"../x={HASH}", f"/etc/passwd={HASH}"])
def test_a_malformed_statement_is_a_sentence(model: str, stated: str) -> None:
    with pytest.raises(SettingsError, match=r"embedding\.sha256 must be like"):
        checked(model, stated, SETTING)


@pytest.mark.parametrize("part", ["embedding", "sparse"])
def test_trust_is_given_to_a_model_by_name_not_by_a_switch(part: str) -> None:
    assert getattr(Settings(), part).trust_remote_code == ""
    trusting = replace_setting(Settings(), f"{part}.trust_remote_code", True, "test")
    assert getattr(trusting, part).trust_remote_code != getattr(trusting, part).model
