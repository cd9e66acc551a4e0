"""Model files: against stated hashes before anything of them is loaded, and whether all are there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from askwiki.errors import ModelError, SettingsError

BLOCK = 1 << 20  # bytes read at once


def checked(model: str, stated: str, setting: str) -> str:
    """The folder to load the model from: every stated file has been found there with its hash.

    ``stated`` = ``FILE=SHA256, …``, files relative to the model's folder. Nothing stated: ``model`` as it is.
    """
    wanted = _wanted(stated, setting)
    if not wanted:
        return model
    folder = Path(model) if Path(model).is_dir() else _downloaded(model)
    for name, digest in wanted.items():
        file = folder / name
        if not file.is_file():
            raise ModelError(f"{setting} states a hash for {name}, and the model {model} has no such file.")
        found = file_hash(file)
        if found != digest:
            raise ModelError(
                f"{name} of the model {model} is not what {setting} states: its SHA-256 is {found}. "
                "Get the file again from where you trust it, or state the new hash."
            )
    return str(folder)


def complete(model: str, files: Sequence[str]) -> None:
    """ModelError where a loaded model lacks one of the files: its library makes them up of random numbers."""
    folder = Path(model)
    missing = [name for name in files if not (folder / name).is_file()] if folder.is_dir() else _not_kept(model, files)
    if missing:
        raise ModelError(
            f"The model {model} is not whole: {', '.join(missing)} is missing. Get all of its files again; in a "
            "network without the model hub carry over the whole volume."
        )


def _not_kept(model: str, files: Sequence[str]) -> list[str]:
    """Those of a downloaded model's files that the cache of the hub does not hold."""
    from huggingface_hub import try_to_load_from_cache

    return [name for name in files if not isinstance(try_to_load_from_cache(model, name), str)]


def file_hash(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _wanted(stated: str, setting: str) -> dict[str, str]:
    pairs = [part.strip().partition("=") for part in stated.split(",") if part.strip()]
    wanted = {name.strip(): digest.strip().lower() for name, _, digest in pairs}
    for name, digest in wanted.items():
        inside = not Path(name).is_absolute() and ".." not in Path(name).parts
        if not (name and inside and len(digest) == 64 and set(digest) <= set("0123456789abcdef")):
            raise SettingsError(f"{setting} must be like 'model.safetensors=HASH, config.json=HASH' (64 hex digits).")
    return wanted


def _downloaded(model: str) -> Path:
    """The folder of a model that is known by its name, downloaded if it is not there yet."""
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model))
