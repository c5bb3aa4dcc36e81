"""What looks as if somebody had thought it up to keep others out, and what only looks so."""

from __future__ import annotations

import re
from typing import Final

_INNER_SIGN: Final = re.compile(r"[^\W_][#$%&*+^~@]+[^\W_]")
_COUNTED: Final = re.compile(r"[0-9]{1,4}(?:[.,][0-9]+)?[-‑–]?[^\W\d_]{1,14}(?:-[^\W\d_]+)?|[^\W\d_]{1,3}-?[0-9]{1,2}")
_TECHNICAL: Final = re.compile(
    r"sha-?\d{1,3}|md5|base-?\d\d|utf-?\d\d?|bcrypt\d?|argon2\w*|oauth-?\d?(?:\.\d)?|pbkdf2\S*|scrypt|ipv[46]|"
    r"win(?:dows)?-?\d+|v?\d+(?:\.\d+)+\S*|office-?365|o365|1password|web[123]|rfc-?\d+|iso-?\d+|owasp\S*|nist\S*|"
    r"python-?\d\S*|h2o|mp[34]|i18n|k8s|s3|ec2|covid-?19|\d+x\d+|aes-?\d+\S*|rsa-?\d+|tls\S*|http\S*|https?\d?",
    re.IGNORECASE,
)
_PLACEHOLDER: Final = re.compile(
    r"[*•●xX.·_?#-]+|<.*|\[.*|\{.*|\$.*|%[\w(].*%?|.*\*{3,}.*|.*[•●]{2,}.*|.*\.\.\.|…+|"
    r"(?:your|my|the|ditt|din|deres)[_-]\S+|\S*(?:password|passwd|passord|lösenord)[-_]?(?:here)?|pass(?:wd)?|pwd|pw|"
    r"secret|changeme|change_me|example|null|none|nil|true|false|undefined|string|str|todo|redacted|hidden|required|"
    r"xxx+\S*|placeholder|\S*_here|value|test|REPLACE\S*|\S*\b(?:env|environ|config|settings|secrets|req|request|os|"
    r"process|self|this|args|getpass|input|vault|params)[.\[(]\S*",
    re.IGNORECASE,
)
_SAMPLE: Final = re.compile(
    r"\S*(?:password|passwd|passord|l(?:ö|o)senord|passwort)\S*|(?:test|demo|dummy|sample|example|fake)[-_]?\d{1,4}",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"[A-Za-z_][\w.]*\(.*|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\)?;?|\w+\[.*|[(\[{].*|.*(?:=>|\|\||&&|==).*"
)
_ADDRESS: Final = re.compile(
    r".*://.*|[/~.]{1,2}/.*|/[\w./-]+|[^@\s]+@(?:[\w-]+\.)+[A-Za-z]{2,}|(?:[\w-]+\.)+[a-z]{2,4}(?:/.*)?"
)
_DATE: Final = re.compile(r"\d{1,4}[-./:]\d{1,2}(?:[-./:]\d{1,4})?(?:T.*)?")
_MARKUP: Final = re.compile(r".*<[^>]*>.*|&\w+;.*|[\w-]+=[\"'].*|\\.*", re.DOTALL)


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for a password that isn't there: ``********``, ``<password>``, ``$PASS``."""
    return _PLACEHOLDER.fullmatch(value) is not None


def is_sample(value: str) -> bool:
    """Tell whether a value is one that programmers write where any password would do: ``valid_password1``, ``test123``.

    People have such passwords as well; it depends on where it stands.
    """
    return _SAMPLE.fullmatch(value) is not None


def is_secret_shaped(value: str) -> bool:
    """Tell whether a value that is said to be a password has the shape of one.

    Letters with a digit, or with a sign that no ordinary word has; not a number with its unit, a placeholder, code, an
    address, a date or the name of a technique.
    """
    if not 5 <= len(value) <= 128:
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    is_shaped = has_letter and (has_digit or _INNER_SIGN.search(value) is not None)
    return is_shaped and not _is_something_else(value)


def is_strongly_shaped(value: str) -> bool:
    """Tell whether a value has the shape of a password also where nothing says that it is one.

    Eight signs or more, with two of: both cases, a digit, a sign that no ordinary word has.
    """
    if len(value) < 8 or not is_secret_shaped(value):
        return False
    has_cases = any(map(str.islower, value)) and any(map(str.isupper, value))
    has_digit, has_sign = any(map(str.isdigit, value)), _INNER_SIGN.search(value) is not None
    return has_cases + has_digit + has_sign >= 2


def _is_something_else(value: str) -> bool:
    others = (_COUNTED, _TECHNICAL, _PLACEHOLDER, _CODE, _ADDRESS, _DATE, _MARKUP)
    return any(other.fullmatch(value) for other in others)
