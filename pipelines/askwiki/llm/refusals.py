"""What the words of a refusal mean: which field of the request it is about, and whether it will ever pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from typing import Any

READ_CHARACTERS = 20_000  # of a refusal; some servers send the whole request back

# Option of a request -> the names of its fields, and what servers call them. Of a name of several words every two
# that stand together count. In the order of giving up, for a refusal that names nothing.
OPTIONS: dict[str, tuple[str, ...]] = {
    "regex": ("structured_outputs", "guided_regex", "guided_decoding", "regex"),
    "grammar": ("grammar",),
    "thinking": ("chat_template_kwargs", "enable_thinking", "thinking", "template", "kwargs"),
    "usage": ("stream_options", "include_usage", "usage"),
    "json_schema": ("response_format", "json_schema", "structured_output", "guided_json", "grammar", "schema"),
    "json_object": ("response_format", "json_object", "json_mode", "structured_output", "grammar", "json"),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "max_completion_tokens": ("max_completion_tokens", "max_tokens"),
    "stream": ("stream", "streaming"),
}
_LEAST_NEEDED = ("regex", "grammar", "thinking", "usage", "json_schema", "json_object")
# No field: a chat template that has no place for the role.
_NO_SYSTEM = re.compile(
    r"\bsystem['\"`]? (?:role|message)"  # System role not supported
    r"|\brole[^.\n]{0,20}\bsystem\b"  # Unknown role: system
    r"|\bonly user and assistant roles"  # Only user and assistant roles are supported!
    r"|\broles must alternate",  # Conversation roles must alternate user/assistant/user/assistant/...
    re.IGNORECASE,
)
_UNKNOWN_FIELD = re.compile(
    r"\bextra (?:fields|inputs)"  # Extra inputs are not permitted
    r"|\b(?:unknown|unexpected|unsupported|unrecognized|invalid) (?:field|parameter|argument|name|request|keyword)"
    r"|\bunrecognized",  # Unrecognized request argument supplied
    re.IGNORECASE,
)
_OVERFLOW = re.compile(
    r"exceed_context_size|exceeds? the available context"  # llama.cpp: "request exceeds the available context size"
    r"|context_length_exceeded|maximum context length"  # OpenAI: "This model's maximum context length is 8192 tokens"
    r"|longer than the maximum model length"  # vLLM: "The decoder prompt is longer than the maximum model length"
    r"|exceeds? the model'?s? maximum"  # "The input exceeds the model's maximum"
    r"|context (size|window|length)"  # "larger than the context window"
    r"|prompt is too long"  # "prompt is too long: 9000 tokens > 8192"
    r"|inputs?`?\b[^.\n]{0,60}must be <= \d+"  # TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096"
    r"|input is too (long|large)",  # "input is too large to process"
    re.IGNORECASE,
)
_STATED = re.compile(  # how much the model takes, in a refusal of a prompt that is longer
    r"(?:context|model)[ _](?:size|length|window)[^\d\n]{0,30}(\d{4,8})\b"  # "maximum context length is 8192 tokens"
    r"|\bn_ctx\b[^\d\n]{0,4}(\d{4,8})\b"  # llama.cpp: "n_ctx": 4096
    r"|must be <= (\d{4,8})\b"  # TGI: "`inputs` tokens + `max_new_tokens` must be <= 4096"
    r"|\b(\d{4,8}) maximum\b"  # Mistral: "with 32768 maximum context length"
    r"|tokens > (\d{4,8})\b",  # "prompt is too long: 9000 tokens > 8192"
    re.IGNORECASE,
)
_KEY = re.compile(
    r"\bapi[ _-]?key\b[^.\n]{0,40}\b(?:not valid|invalid|incorrect|missing|expired|required)"  # API key not valid
    r"|\b(?:invalid|incorrect|wrong|missing|expired)[ _]api[ _-]?key",  # Incorrect API key provided
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|balance|funds|credits?)"  # insufficient_quota
    r"|\bcurrent quota\b"  # You exceeded your current quota, please check your plan
    r"|\bquota\b[^.\n]{0,30}\b(?:exhausted|used up|reached)"  # quota is exhausted
    r"|\bbilling\b|\bpayment required"  # billing_hard_limit_reached
    r"|\b(?:out of|not enough) credits?",  # out of credits
    re.IGNORECASE,
)
_MODEL = re.compile(
    # model 'x' not found
    r"\bmodel\b[^.\n]{0,100}\b(?:not found|not exist|unknown|not available|not installed|no access)"
    r"|\b(?:unknown|invalid|no such|unsupported) model\b"  # no such model
    r"|model_not_found|DeploymentNotFound",  # DeploymentNotFound
    re.IGNORECASE,
)
_WITHHELD = re.compile(
    r"content[ _]filter"  # "code": "content_filter"
    r"|content management policy"  # Azure: "triggering Azure OpenAI's content management policy"
    r"|ResponsibleAIPolicyViolation",
    re.IGNORECASE,
)


_WORD = re.compile(r"[^\W_]+")


def says_overflow(text: str) -> bool:
    """Whether a refusal says that the prompt does not fit into the model's context."""
    return bool(_OVERFLOW.search(text[:READ_CHARACTERS]))


def stated_context(text: str) -> int:
    """The tokens that such a refusal says the model takes; 0 = it does not say."""
    found = _STATED.search(text[:READ_CHARACTERS])
    return int(next(filter(None, found.groups()))) if found else 0


def says_withheld(text: str) -> bool:
    """Whether the server will not let this prompt or its answer pass for what it says."""
    return bool(_WITHHELD.search(text[:READ_CHARACTERS]))


def lasting(status: int, text: str) -> str:
    """ "key" | "quota" | "model" when every further call would be refused for the same reason, else ""."""
    text = text[:READ_CHARACTERS]
    if status in (401, 403) or _KEY.search(text):
        return "key"
    if status == 402 or _QUOTA.search(text):
        return "quota"
    return "model" if status in (404, 410) or _MODEL.search(text) else ""


def refused_option(text: str, sent: Set[str]) -> str | None:
    """The option that a refusal with this text is about, out of those that were sent.

    The longest name wins: "stream_options" is about usage, "stream" about the stream. What the server itself names as
    the place of the fault is looked at before its prose.
    """
    text = text[:READ_CHARACTERS]
    for said in (*_places(text), text):
        if "system" in sent and _NO_SYSTEM.search(said):
            return "system"
        words = _as_words(said)
        named = [
            (len(name), option) for option in OPTIONS if option in sent for name in _parts(option) if name in words
        ]
        if named:
            longest = max(length for length, _ in named)
            return next(option for length, option in named if length == longest)
    if not _UNKNOWN_FIELD.search(text):
        return None
    return next((option for option in _LEAST_NEEDED if option in sent), None)


def _as_words(text: str) -> str:
    """``_chat_template_kwargs_are_…_``: the same name in all its spellings."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)  # chatTemplateKwargs
    return "_" + "_".join(_WORD.findall(parted.lower())) + "_"


def _parts(option: str) -> Iterator[str]:
    """Every run of at least two words of each name, and the names of one word, between their borders."""
    for name in OPTIONS[option]:
        words = name.split("_")
        for first in range(len(words)):
            for last in range(first + min(2, len(words)), len(words) + 1):
                joined = "_".join(words[first:last])
                yield f"_{joined}_"
                yield f"_{joined}s_"


def _places(text: str) -> Iterator[str]:
    """Where the fault is by the server's own word: OpenAI's ``param``, FastAPI's ``loc``."""
    try:
        told: Any = json.loads(text)
    except ValueError:
        return
    if not isinstance(told, dict):
        return
    error, detail = told.get("error"), told.get("detail")
    for said in (told, error):
        if isinstance(said, dict) and isinstance(said.get("param"), str):
            yield said["param"]
    for entry in detail if isinstance(detail, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("loc"), list):
            yield " ".join(map(str, entry["loc"]))
