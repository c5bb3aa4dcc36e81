"""The labelled secrets, with keys put together at test time: no file holds a string that looks like a key."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.eval_sets.fifty_talks import lines_of

SECRETS: Final = Path(__file__).parents[2] / "eval" / "secrets.jsonl"
PLACEHOLDER: Final = re.compile(r"\{(api_key|private_key|public_key|certificate|prefix|hex|uuid):([a-z0-9_]+)\}")
_ALNUM: Final = string.ascii_letters + string.digits
_WORD: Final = _ALNUM + "_-"
_HEX: Final = "0123456789abcdef"
_RULE: Final = "-" * 5


@dataclass(frozen=True)
class Found:
    """A span of a text that a finder should find, in code points, half-open."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Example:
    """A labelled text with its keys put in; no span means that nothing in it is personal or secret."""

    example_id: str
    language: str
    split: str
    text: str
    spans: tuple[Found, ...]
    trap: str


def read_examples() -> list[Example]:
    """Return every labelled example, in file order, with the placeholders filled; the same each time."""
    return [put_together(row) for row in lines_of(SECRETS)]


def put_together(row: dict[str, Any]) -> Example:
    """Fill a row's placeholders, each from a seed of its own, and move the spans with the text."""
    parts: list[str] = []
    moves: list[tuple[int, int]] = []
    done = 0
    for match in PLACEHOLDER.finditer(row["text"]):
        seed = random.Random(f"{row['id']} {match.start()} {match[0]}")
        made = _MAKERS[match[1]](match[2], seed)
        parts += [row["text"][done : match.start()], made]
        done = match.end()
        moves.append((done, len(made) - len(match[0])))
    parts.append(row["text"][done:])

    def moved(place: int) -> int:
        return place + sum(shift for after, shift in moves if place >= after)

    return Example(
        example_id=row["id"],
        language=row["language"],
        split=row["split"],
        text="".join(parts),
        spans=tuple(Found(moved(span["start"]), moved(span["end"]), span["kind"]) for span in row["spans"]),
        trap=row.get("trap", ""),
    )


def _some(seed: random.Random, alphabet: str, n_signs: int) -> str:
    """Return random signs that end in a letter or digit and hold a lower-case letter, an upper-case one and a digit."""
    while True:
        made = "".join(seed.choices(alphabet, k=n_signs))
        if made[-1].isalnum() and all(
            any(sign in made for sign in group) or not set(group) & set(alphabet)
            for group in (string.ascii_lowercase, string.ascii_uppercase, string.digits)
        ):
            return made


def _coded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value, separators=(",", ":")).encode()).decode().rstrip("=")


def _jwt(seed: random.Random) -> str:
    payload = {"sub": _some(seed, string.digits, 8), "iat": 1_700_000_000 + seed.randrange(10**7)}
    return f"{_coded({'alg': 'HS256', 'typ': 'JWT'})}.{_coded(payload)}.{_some(seed, _WORD, 43)}"


def _slack(seed: random.Random) -> str:
    numbers = f"{seed.randrange(10**11, 10**12)}-{seed.randrange(10**12, 10**13)}"
    return f"{PREFIXES['slack']}{numbers}-{_some(seed, _ALNUM, 24)}"


def _slack_webhook(seed: random.Random) -> str:
    upper = string.ascii_uppercase + string.digits
    channel = f"T{_some(seed, upper, 9)}/B{_some(seed, upper, 10)}/{_some(seed, _ALNUM, 24)}"
    return f"https://hooks.slack.com/services/{channel}"


PREFIXES: Final = {
    "openai": "sk-",
    "anthropic": "sk-ant-",
    "aws": "AKIA",
    "github": "ghp_",
    "github_fine": "github_pat_",
    "gitlab": "glpat-",
    "google": "AIza",
    "slack": "xoxb-",
    "stripe": "sk_live_",
    "huggingface": "hf_",
    "npm": "npm_",
    "pypi": "pypi-",
    "sendgrid": "SG.",
    "digitalocean": "dop_v1_",
    "groq": "gsk_",
}
_MARK: Final = "T3Blbk" + "FJ"
_KEYS: Final[dict[str, Callable[[random.Random], str]]] = {
    "openai": lambda seed: f"{PREFIXES['openai']}proj-{_some(seed, _WORD, 74)}{_MARK}{_some(seed, _WORD, 74)}",
    "openai_legacy": lambda seed: f"{PREFIXES['openai']}{_some(seed, _ALNUM, 20)}{_MARK}{_some(seed, _ALNUM, 20)}",
    "anthropic": lambda seed: f"{PREFIXES['anthropic']}api03-{_some(seed, _WORD, 93)}AA",
    "aws": lambda seed: PREFIXES["aws"] + _some(seed, string.ascii_uppercase + "234567", 16),
    "aws_secret": lambda seed: _some(seed, _ALNUM + "/+", 40),
    "github": lambda seed: PREFIXES["github"] + _some(seed, _ALNUM, 36),
    "github_fine": lambda seed: f"{PREFIXES['github_fine']}{_some(seed, _ALNUM, 22)}_{_some(seed, _ALNUM, 59)}",
    "gitlab": lambda seed: PREFIXES["gitlab"] + _some(seed, _WORD, 20),
    "google": lambda seed: PREFIXES["google"] + _some(seed, _WORD, 35),
    "slack": _slack,
    "slack_webhook": _slack_webhook,
    "stripe": lambda seed: PREFIXES["stripe"] + _some(seed, _ALNUM, 24),
    "huggingface": lambda seed: PREFIXES["huggingface"] + _some(seed, string.ascii_letters, 34),
    "npm": lambda seed: PREFIXES["npm"] + _some(seed, _ALNUM, 36),
    "pypi": lambda seed: f"{PREFIXES['pypi']}AgEIcHlwaS5vcmc{_some(seed, _WORD, 150)}",
    "sendgrid": lambda seed: f"{PREFIXES['sendgrid']}{_some(seed, _WORD, 22)}.{_some(seed, _WORD, 43)}",
    "telegram": lambda seed: f"{seed.randrange(10**9, 10**10)}:AA{_some(seed, _WORD, 33)}",
    "jwt": _jwt,
    "bearer": lambda seed: _some(seed, _ALNUM, 40),
    "digitalocean": lambda seed: PREFIXES["digitalocean"] + _some(seed, _HEX, 64),
    "groq": lambda seed: PREFIXES["groq"] + _some(seed, _ALNUM, 52),
}
_PEM_NAMES: Final = {
    "rsa": "RSA PRIVATE KEY",
    "ec": "EC PRIVATE KEY",
    "openssh": "OPENSSH PRIVATE KEY",
    "pkcs8": "PRIVATE KEY",
    "public": "CERTIFICATE",
}


def _pem(name: str, seed: random.Random) -> str:
    lines = [_some(seed, _ALNUM + "+/", 64) for _ in range(6)]
    title = _PEM_NAMES[name]
    return "\n".join([f"{_RULE}BEGIN {title}{_RULE}", *lines, f"{_RULE}END {title}{_RULE}"])


def _public_key(name: str, seed: random.Random) -> str:
    kind, head, n_signs = {
        "ed25519": ("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAI", 43),
        "rsa": ("ssh-rsa", "AAAAB3NzaC1yc2EAAAADAQABAAABgQ", 340),
    }[name]
    return f"{kind} {head}{_some(seed, _ALNUM + '+/', n_signs)} stina@laptop"


def _uuid(_: str, seed: random.Random) -> str:
    return "-".join("".join(seed.choices(_HEX, k=n_signs)) for n_signs in (8, 4, 4, 4, 12))


_MAKERS: Final[dict[str, Callable[[str, random.Random], str]]] = {
    "api_key": lambda name, seed: _KEYS[name](seed),
    "private_key": _pem,
    "certificate": _pem,
    "public_key": _public_key,
    "prefix": lambda name, _: PREFIXES[name],
    "hex": lambda n_signs, seed: "".join(seed.choices(_HEX, k=int(n_signs))),
    "uuid": _uuid,
}
