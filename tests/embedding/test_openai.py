"""An embedding model behind HTTP: batches, order, retries, and an error that says what to do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from memory_rag.embedding.embedder import Vectors, checked_vectors
from memory_rag.embedding.openai import OpenAIEmbedder, estimated_tokens
from memory_rag.embedding.retry import RetryPolicy
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span

KEY = "sk-example-7731"
Open = Callable[..., OpenAIEmbedder]


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def open_at(embeddings_server: Any, slept: list[float]) -> Iterator[Open]:
    """Open an embedder at the server of these tests; its waits are written down instead of waited."""
    opened: list[OpenAIEmbedder] = []

    def open_at(model: str = "small", **arguments: Any) -> OpenAIEmbedder:
        retry = RetryPolicy(attempts=3, seed=1, sleep=slept.append)
        given = {"base_url": embeddings_server.url, "api_key": KEY, "retry": retry, **arguments}
        opened.append(OpenAIEmbedder(model, **given))
        return opened[-1]

    yield open_at
    for embedder in opened:
        embedder.close()


def unit(server: Any, texts: Sequence[str]) -> Vectors:
    """What the server gives for these texts, at length 1."""
    return checked_vectors([server.vector(text) for text in texts], n=len(texts), dim=8)


def test_texts_come_back_as_unit_vectors_in_their_order(open_at: Open, embeddings_server: Any) -> None:
    vectors = open_at().embed_turns(["one", "two", "one"])

    assert np.allclose(vectors, unit(embeddings_server, ["one", "two", "one"]), atol=1e-6)
    assert embeddings_server.requests == [{"model": "small", "input": ["one", "two"], "encoding_format": "float"}]
    assert embeddings_server.keys == [f"Bearer {KEY}"]


def test_an_answer_is_sorted_by_its_indexes(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_give([0, 2], [3, 0], indexes=[1, 0])

    assert open_at().embed_turns(["one", "two"]).tolist() == [[1, 0], [0, 1]]


def test_many_texts_go_in_batches(open_at: Open, embeddings_server: Any) -> None:
    texts = [f"text {number}" for number in range(7)]

    vectors = open_at(batch_texts=3).embed_turns(texts)

    assert [len(request["input"]) for request in embeddings_server.requests] == [3, 3, 1]
    assert np.allclose(vectors, unit(embeddings_server, texts), atol=1e-6)


def test_long_texts_make_smaller_batches(open_at: Open, embeddings_server: Any) -> None:
    open_at(max_tokens=60_000).embed_turns(["a" * 150_000, "b" * 150_000, "c" * 150_000])

    assert [len(request["input"]) for request in embeddings_server.requests] == [2, 1]


def test_dimensions_are_asked_for(open_at: Open, embeddings_server: Any) -> None:
    embedder = open_at(dimensions=4)

    assert embedder.dim == 4
    assert embedder.embed_queries(["one"]).shape == (1, 4)
    assert embeddings_server.requests[0]["dimensions"] == 4


def test_the_dim_of_an_unknown_model_is_found_out_once(open_at: Open, embeddings_server: Any) -> None:
    embedder = open_at()

    assert (embedder.dim, embedder.dim) == (8, 8)
    assert embedder.embed_turns([]).shape == (0, 8)
    assert len(embeddings_server.requests) == 1


def test_no_question_is_sent_for_a_correction_that_is_off(open_at: Open, embeddings_server: Any) -> None:
    assert open_at(dimensions=8).query_shift.tolist() == [0.0] * 8
    assert embeddings_server.requests == []


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_a_passing_fault_is_tried_again(open_at: Open, embeddings_server: Any, slept: list[float], status: int) -> None:
    embeddings_server.will_fail(status)
    embeddings_server.will_fail(status)

    assert open_at().embed_turns(["one"]).shape == (1, 8)
    assert len(embeddings_server.requests) == 3
    assert 0.25 <= slept[0] <= 0.5 <= slept[1] <= 1


def test_the_wait_that_the_server_asks_for_is_kept(open_at: Open, embeddings_server: Any, slept: list[float]) -> None:
    embeddings_server.will_fail(429, headers={"Retry-After": "7"})

    open_at().embed_turns(["one"])

    assert slept == [7]


def test_a_server_that_stays_broken_is_given_up(open_at: Open, embeddings_server: Any) -> None:
    for _ in range(3):
        embeddings_server.will_fail(500, "out of memory")

    with pytest.raises(
        EmbedderError,
        match=rf"^{embeddings_server.url} answered 500: .*out of memory.*; tried 3 times within",
    ):
        open_at().embed_turns(["one"])


@pytest.mark.parametrize(
    ("status", "code", "cure"),
    [
        (400, None, "no"),
        (401, None, "check OPENAI_API_KEY"),
        (403, None, "check what OPENAI_API_KEY may do"),
        (404, None, "check the model's name, 'small', and the address"),
        (429, "insufficient_quota", "check the account's plan and billing"),
    ],
)
def test_a_lasting_fault_is_told_at_once_with_a_cure(
    open_at: Open, embeddings_server: Any, slept: list[float], status: int, code: str | None, cure: str
) -> None:
    embeddings_server.will_fail(status, code=code)

    with pytest.raises(EmbedderError, match=rf"answered {status}: .*{cure}"):
        open_at().embed_turns(["one"])
    assert (len(embeddings_server.requests), slept) == (1, [])


def test_a_key_is_never_told(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_fail(401, f"wrong key {KEY}")

    with pytest.raises(EmbedderError, match=r"wrong key \*\*\*") as refused:
        open_at().embed_turns(["one"])
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "body",
    [
        '{"data": [',
        '{"data": null}',
        "{}",
        "[]",
        '"x"',
        '{"data": [{"index": 0}]}',
        '{"data": [{"embedding": [1]}]}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        '{"data": [{"index": 0, "embedding": []}]}',
        '{"data": [{"index": 0, "embedding": null}]}',
        '{"data": [{"index": 0, "embedding": [[1]]}]}',
    ],
)
def test_an_answer_that_is_none_is_told_with_the_server(open_at: Open, embeddings_server: Any, body: str) -> None:
    embeddings_server.will_answer(body)

    with pytest.raises(EmbedderError, match=rf"^{embeddings_server.url} gave "):
        open_at().embed_turns(["one"])


def test_a_page_of_html_is_no_answer(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_answer("<html>Welcome</html>", headers={"Content-Type": "text/html"})

    with pytest.raises(EmbedderError, match=r"check the address: it usually ends in /v1$"):
        open_at().embed_turns(["one"])


@pytest.mark.parametrize("indexes", [[0], [0, 1, 2], [0, 0], [1, 2]])
def test_every_text_must_have_its_vector(open_at: Open, embeddings_server: Any, indexes: list[int]) -> None:
    embeddings_server.will_give(*[[1, 0]] * len(indexes), indexes=indexes)

    with pytest.raises(EmbedderError, match=r"vectors with the indexes .* for 2 texts; each text needs one"):
        open_at().embed_turns(["one", "two"])


def test_vectors_of_different_dim_are_refused(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_give([1, 0], [1, 0, 0])

    with pytest.raises(EmbedderError, match="vectors of different or no dim for small"):
        open_at().embed_turns(["one", "two"])


def test_vectors_of_another_dim_than_asked_for_are_refused(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_give([1, 0, 0])

    with pytest.raises(EmbedderError, match=r"gave vectors of dim 3 for small, but 2 was expected \(dimensions=2\)"):
        open_at(dimensions=2).embed_turns(["one"])


def test_a_vector_of_zeros_is_refused(open_at: Open, embeddings_server: Any) -> None:
    embeddings_server.will_give([1, 0], [0, 0])

    with pytest.raises(EmbedderError, match="the vector of text 2 of 2 is all zeros"):
        open_at().embed_turns(["one", "two"])


def test_a_server_that_is_not_there_is_named(open_at: Open, slept: list[float]) -> None:
    # Port 9 is "discard": nothing listens there.
    with pytest.raises(EmbedderError, match=r"^http://127\.0\.0\.1:9/v1 can't be reached: .*refused.*; tried 3 times"):
        open_at(base_url="http://127.0.0.1:9/v1").embed_turns(["one"])
    assert len(slept) == 2


def test_a_server_that_does_not_answer_in_time_is_named(open_at: Open, embeddings_server: Any) -> None:
    gone_on = threading.Event()
    embeddings_server.will_hang(gone_on)

    try:
        with pytest.raises(EmbedderError, match=r"gave no answer within 0\.2 s; tried once"):
            open_at(timeout_s=0.2, retry=RetryPolicy(attempts=1)).embed_turns(["one"])
    finally:
        gone_on.set()


def test_without_a_key_the_variable_is_named_and_a_server_of_ones_own_needs_none(
    open_at: Open, embeddings_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(EmbedderError, match=r"^openai:small needs a key; set OPENAI_API_KEY, or name a server"):
        OpenAIEmbedder("small")

    monkeypatch.setenv("OPENAI_BASE_URL", embeddings_server.url)
    assert open_at(api_key=None, base_url=None).embed_turns(["one"]).shape == (1, 8)


def test_an_empty_text_is_sent_as_something(open_at: Open, embeddings_server: Any) -> None:
    assert open_at().embed_turns(["", " \n", "a\ud800\0"]).shape == (3, 8)
    assert embeddings_server.requests[0]["input"] == [".", "a\ufffd\ufffd"]


def test_tokens_are_estimated_from_bytes_and_a_text_over_the_limit_is_not_sent(
    open_at: Open, embeddings_server: Any
) -> None:
    assert [estimated_tokens(text) for text in ("", "a", "abc", "abcd", "å", "東京", "😀", "\ud83d\ude00")] == [
        0,
        1,
        1,
        2,
        1,
        2,
        2,
        2,
    ]
    with pytest.raises(EmbedderError, match="has 101 tokens, but small reads at most 100"):
        open_at(max_tokens=100).embed_turns(["a" * 301])
    assert embeddings_server.requests == []


@pytest.mark.parametrize("unit", ["word ", "å", "東", "😀", "\ud83d\ude00"])
def test_passages_are_cut_by_estimated_tokens(open_at: Open, unit: str) -> None:
    text = unit * 1000
    embedder = open_at()

    spans = embedder.passages(text)

    assert spans[0].start == 0
    assert spans[-1].end == len(text.rstrip())
    assert all(150 <= estimated_tokens(span.of(text)) <= 193 for span in spans[:-1])
    assert embedder.passages("short") == (Span(0, 5),)


def test_the_fingerprint_names_what_the_vectors_depend_on_and_not_the_server(open_at: Open) -> None:
    assert open_at("m/x").fingerprint == "openai:m/x:full:p192-24:speaker"
    assert open_at(dimensions=64, reads_speaker=False).fingerprint == "openai:small:64:p192-24"
