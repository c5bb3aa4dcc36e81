"""What ``report.json`` holds, key by key."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

PoolName = Literal["conversation", "memory"]


class Mean(TypedDict):
    """A mean over ``n`` queries with its 95 % interval; ``by`` says what was resampled.

    ``low`` and ``high`` are null where fewer than five queries leave too little to resample. ``by_query`` is the
    interval over queries where the first is the one over conversations.
    """

    mean: float
    low: float | None
    high: float | None
    n: int
    by: Literal["conversation", "query"]
    by_query: NotRequired[list[float]]


Means = dict[str, Mean]
"""Measure to mean, such as ``recall@10``."""


class Weights(TypedDict):
    """Where a retriever's weights come from, and the SHA-256 of the data that they were set or fitted on."""

    source: Literal["shipped", "cv", "file"]
    fitted_on: list[str]


class Latency(TypedDict):
    """Milliseconds a query."""

    p50: float
    p95: float


class Retriever(TypedDict):
    """How one retriever did. ``in_sample``: its weights have seen the data. ``bound``: random or oracle, no contender.

    ``without_hits`` counts the queries that it answered with nothing; they are in every mean as 0. ``by_role`` counts
    as relevant only the evidence of that role, over the queries that have such.
    """

    weights: Weights | None
    in_sample: bool
    bound: bool
    without_hits: int
    measures: Means
    by_category: dict[str, Means]
    by_role: dict[str, Means]
    by_conversation: dict[str, Means]
    latency_ms: Latency | None


class Outcome(TypedDict):
    """On how many queries a alone, b alone, both and neither succeed; ``union`` is the share that either reaches."""

    won: int
    lost: int
    both: int
    neither: int
    union: float


class Comparison(TypedDict):
    """The mean difference a - b on the same queries, its interval and its p, alone and within its family (Holm)."""

    a: str
    b: str
    measure: str
    difference: float
    low: float | None
    high: float | None
    n: int
    by: Literal["conversation", "query"]
    test: Literal["randomization", "mcnemar"]
    p: float
    p_holm: float
    outcome: NotRequired[Outcome]


class PoolSize(TypedDict):
    """A mean at one size of the pool; ``n_turns`` is how many turns the questions' pools have on average."""

    n_conversations: int
    n_turns: int
    mean: float
    low: float | None
    high: float | None
    n: int


class Dataset(TypedDict):
    """The data: ``n_queries`` have evidence and are scored, ``n_unanswerable`` have none and are not.

    ``sha256`` is of the files read, ``questions_sha256`` of the questions that were asked. ``made`` says by which rule
    the questions of a category were made, where one made them, and ``caution`` what to keep in mind with such
    questions.
    """

    name: str
    sha256: str
    unit: Literal["turn", "session"]
    n_queries: int
    n_unanswerable: int
    n_turns: int
    n_documents: int
    n_conversations: int
    dropped: list[dict[str, Any]]
    questions_sha256: NotRequired[str]
    made: NotRequired[dict[str, str]]
    caution: NotRequired[str]


class Settings(TypedDict):
    """How it was scored; reports that differ here are not compared. ``measure`` is the one that the answer is about."""

    measure: str
    depth: int
    seed: int
    token_counter: str | None


class Common(TypedDict):
    """What holds for every pool. ``queries``, ``categories`` and ``conversations`` are one entry a query, in order."""

    format: Literal[1]
    benchmark: str
    dataset: Dataset
    settings: Settings
    definitions: dict[str, str]
    queries: list[str]
    categories: list[str]
    conversations: list[str]
    provenance: dict[str, Any]


class Pool(TypedDict):
    """The retrievers on one pool. ``per_query`` and ``first_rank`` have one value a query, in the order of ``queries``.

    ``first_rank`` is the rank of the first relevant hit, from 1, null where there is none within the depth.
    ``pool_sizes`` has the mean of the answer's measure as the pool grows, by retriever.
    """

    benchmark: str
    pool: PoolName
    dataset: Dataset
    retrievers: dict[str, Retriever]
    comparisons: list[Comparison]
    family: int
    per_query: dict[str, dict[str, list[float]]]
    first_rank: dict[str, list[int | None]]
    not_measured: list[str]
    pool_sizes: NotRequired[dict[str, list[PoolSize]]]


class Report(Common, Pool):
    """A report on one pool."""


class PoolsReport(Common):
    """A report on both pools, one object each under its name."""

    pools: dict[str, Pool]


AnyReport = Report | PoolsReport
