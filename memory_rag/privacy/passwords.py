"""Passwords, where words or signs say that one follows: in prose, settings, URLs and command lines.

Only a value with the shape of one counts: "my password is the thing I always forget" tells nothing. A password that is
an ordinary word is therefore not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.privacy.bounds import LETTERS, places_of
from memory_rag.privacy.composing import Composed, may_be_decomposed
from memory_rag.privacy.passwords_over_borders import in_cells, in_next_line
from memory_rag.privacy.secret_shape import is_placeholder, is_sample, is_secret_shaped, is_strongly_shaped
from memory_rag.privacy.value_edges import CLOSING, OPENING, trimmed, value_of
from memory_rag.turns import Span, text_bytes

_NAME: Final = re.compile(
    r"(?:pass(?:words?|wd|phrases?|codes?|ord(?:et|ene|a)?|wort(?:es)?)?|pwd|lösen(?:ord(?:et|en)?|kod(?:en)?|fras(?:en)?)?|"
    r"losenord(?:et)?|kennwort(?:es)?|contraseñas?|mot de passe|senhas?|wachtwoord(?:en)?|adgangskoden?|"
    r"salasana(?:ni)?|hasło|парол[а-я]{0,3}|şifre(?:m|niz|si)?|parola(?:m|nız|sı)?|كلمة المرور|كلمة السر|"
    r"รหัสผ่าน|mật khẩu|密码|密碼|口令|パスワード|비밀번호)",
    re.IGNORECASE,
)
_NAME_STARTS: Final = (
    *(
        "pass",
        "pwd",
        "lösen",
        "losen",
        "kennwort",
        "contrase",
        "mot de passe",
        "senha",
        "wachtw",
        "adgangsk",
        "salasana",
    ),
    *("hasło", "парол", "şifre", "parola", "كلمة المرور", "كلمة السر", "รหัสผ่าน", "mật khẩu"),
    *("密码", "密碼", "口令", "パスワード", "비밀번호"),
)
_VALUE: Final = rf"[!-~{LETTERS}\u0400-\u04ff\u20ac\u00a3\u00a7]"

# password = value, "password": "value", DB_PASSWORD=value; \"password\": \"value\", as JSON stands in JSON
_ASSIGNED: Final = re.compile(
    rf"(?:\\{{0,3}}[\"'`\]]){{0,2}}[ \t]{{0,4}}(?:=>|:=|[:=：＝])[ \t]{{0,8}}(?:\\{{0,3}}(?=[\"']))?"
    rf"(?P<quote>[\"'`“”„«]?)(?P<value>{_VALUE}{{4,128}})"
)
# curl -u name:value, sshpass -p value, mysql -pvalue
_USER_OPTION: Final = re.compile(
    rf"(?: -u| --user| --proxy-user)[= ]?[\"']?[\w.@+-]{{1,64}}:(?P<value>{_VALUE}{{4,128}})"
)
_P_OPTION: Final = re.compile(
    rf"(?:sshpass|mysql\w*) (?:[^\s;|]{{1,40}} ){{0,6}}?-p ?[\"']?(?P<value>{_VALUE}{{4,128}})"
)
_OPTIONS: Final = (
    *((sign, _USER_OPTION) for sign in (" -u", " --user", " --proxy-user")),
    *((sign, _P_OPTION) for sign in ("sshpass", "mysql")),
)
_URL: Final = re.compile(r"://[^\s/:@\"'<>]{0,64}:(?P<value>[^\s/@\"'<>]{3,128})@(?=[\w\[$])")
_LOGIN: Final = re.compile(
    r"(?:log(?:ged|ging)? ?in|logga(?:r|de)? in|logge?t? inn|inn?logg\w{0,12}|koden|code|credentials)\b",
    re.IGNORECASE,
)
_LOGIN_STARTS: Final = ("log", "inlogg", "innlogg", "koden", "code", "credentials")
_TOKEN: Final = re.compile(rf"{_VALUE}+")
_COPULA: Final = re.compile(
    r"is|was|be|are|to|as|är|var|blir|blev|till|er|ble|til|blei|ist|war|lautet|auf|es|era|est|è|é|.{0,20}:|=|->|→|–|-"
)
_JOINED: Final = re.compile(
    r"(?:is|was|are|är|var|er|ble|blei|ist|war|lautet|es|era|est|è|é)?[:=]+(?=.)", re.IGNORECASE
)
_NOT_ONE: Final = re.compile(
    r"(?i:manager|managers|policy|policies|reset|resets|field|hash|hashes|generator|hanterare|policyn|felt|feltet)\Z"
)
_LINE_END: Final = re.compile(r"[\n\r。]|[.!?](?:\s|\Z)")
_UNSURE: Final = ("pass", "pwd")
_REACH: Final = 72
_INDENT: Final = 24
_OF_A_PLACE: Final = frozenset(["for", "für", "of", "på", "on", "i", "in", "at", "zu", "para", "de"])
_WORD_SIGN: Final = re.compile(f"[0-9_{LETTERS}@/$(]")
_COMPARED: Final = frozenset(("=", "==", "===", "!=", "!=="))
# What stands before a name in a program: nothing on its line, a sign, or a word of the language.
_IN_CODE: Final = re.compile(
    r"(?:^|[^\w\s.,;:!?]|[(\[{,;]|\b(?:and|or|not|if|elif|while|assert|return|const|let|var|val|where|char|"
    r"str|string|final|auto|set|export))[ \t]*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_STRAIGHT: Final = "\"'`"
_PAIRED: Final = frozenset(("/", "and", "och", "og", "med", "with", "und", "mit", "pw", "|", "as", "som"))


def find_passwords(text: str) -> Iterator[Span]:
    """Yield the passwords in a text; they may lie over each other."""
    if may_be_decomposed(text_bytes(text)):
        composed = Composed.of(text)
        yield from map(composed.written, _found(composed.text))
    else:
        yield from _found(text)


def _found(text: str) -> Iterator[Span]:
    if "://" in text:
        for found in _URL.finditer(text):
            if not is_placeholder(found["value"]):
                yield Span(*found.span("value"))
    for sign, option in _OPTIONS:
        for place in places_of(text, sign):
            if option_found := option.match(text, place):
                yield from _assigned(option_found)
    # Places are those of the text: where small letters take more room, capitals are not looked for.
    small = text.lower()
    small = small if len(small) == len(text) else text
    for start in _NAME_STARTS:
        for place in places_of(small, start):
            yield from _named(text, place)
    for start in _LOGIN_STARTS:
        for place in places_of(small, start):
            if (login := _LOGIN.match(text, place)) and (place == 0 or not _WORD_SIGN.match(text, place - 1)):
                yield from _logged_in(text, login.end())


def _named(text: str, place: int) -> Iterator[Span]:
    """Yield what the word for a password that stands here is followed by, on its line or over the next border."""
    name = _NAME.match(text, place)
    if name is None:
        return
    end = name.end()
    # "pass" is a verb too.
    reaches = not _WORD_SIGN.match(text, end) and (name[0].lower() != "pass" or text.startswith(":", end))
    over = list(in_cells(text, place, end)) if reaches else []
    over = over or list(_on_its_line(text, place, name))
    if not over and reaches:
        is_word = place == 0 or not _WORD_SIGN.match(text, place - 1)
        begins_line = place <= _INDENT or "\n" in text[place - _INDENT : place]
        over = [
            span
            for span in in_next_line(text, end, is_word=is_word, begins_line=begins_line)
            if not (text[span.start - 1] in _STRAIGHT and _is_sample_in_code(text, place, span.of(text)))
        ]
    yield from over


def _on_its_line(text: str, place: int, name: re.Match[str]) -> Iterator[Span]:
    end = name.end()
    if found := _ASSIGNED.match(text, end):
        is_literal = found["quote"] in _STRAIGHT and "=" in text[end : found.start("quote")]
        if not (is_literal and found["quote"] and _is_sample_in_code(text, place, found["value"])):
            yield from _assigned(found)
    elif _ends_a_word(text, name) and (place == 0 or not _WORD_SIGN.match(text, place - 1)):
        for span in _told(text, name):
            between = text[end : span.start].strip(" \t")
            is_literal = between[-1:] in _STRAIGHT and between[:-1].rstrip() in _COMPARED
            if not (is_literal and _is_sample_in_code(text, place, span.of(text))):
                yield span


def _ends_a_word(text: str, name: re.Match[str]) -> bool:
    """Tell whether the word for a password ends here; what is called like a function ends with none of ASCII's."""
    follows = _WORD_SIGN.match(text, name.end())
    return follows is None or (follows[0] == "(" and name[0][-1] > "\u024f")


def _is_sample_in_code(text: str, place: int, value: str) -> bool:
    """Tell whether a literal that a program compares or assigns is a sample of a password, such as "password123"."""
    if not is_sample(re.split(f"[{_STRAIGHT}]", value, maxsplit=1)[0]):
        return False
    line = max(text.rfind("\n", 0, place) + 1, place - _REACH)
    before_name = text[line:place]
    return bool(before_name[-1:].strip() or _IN_CODE.search(before_name))


def _assigned(found: re.Match[str]) -> Iterator[Span]:
    start, value = found.start("value"), found["value"]
    if found.string[start - 1] in CLOSING:
        value = re.split(f"[{CLOSING[found.string[start - 1]]}]", value, maxsplit=1)[0]
        value = value.rstrip("\\") if found.string[start - 2] == "\\" else value
    else:
        value = trimmed(re.split(r"[&;]|,(?=\S+[=:])", value, maxsplit=1)[0])
    is_number = value.isascii() and value.isdigit() and len(value) >= 6
    if (is_secret_shaped(value) or is_number) and not is_placeholder(value):
        yield Span(start, start + len(value))


def _told(text: str, name: re.Match[str]) -> Iterator[Span]:
    """Yield the first value with the shape of a password among the words that follow the word for it.

    The word right after it or after "is" may have a weaker shape than one further on. After what may be a verb or a
    command, it has to be the next and more than a likely one.
    """
    is_sure = name[0].lower() not in _UNSURE
    is_finnish = name[0].lower().startswith("salasana")
    before, is_first = "", True
    for token in _TOKEN.finditer(text, name.end(), _end_of_sentence(text, name.end())):
        word, at = token[0], token.start()
        if joined := _JOINED.match(word):
            word, at, before = word[joined.end() :], at + joined.end(), ":"
        if is_first and _NOT_ONE.match(word.rstrip(".,;:!?")):
            return
        span = value_of(word, at=at)
        value, is_opened = span.of(text), text[span.start - 1] in OPENING
        is_copula = _COPULA.fullmatch(before) is not None or (is_finnish and before == "on")
        is_direct = is_sure and (is_first or is_opened or is_copula)
        if is_secret_shaped(value) if is_direct else is_strongly_shaped(value) and before not in _OF_A_PLACE:
            yield span
            return
        if not is_sure:
            return
        before, is_first = word.lower(), False


def _logged_in(text: str, after: int) -> Iterator[Span]:
    """Yield the second of a pair that one logs in with: ``guest / Xyz``, ``with guest and Xyz``."""
    limit = _end_of_sentence(text, after)
    before = ""
    for token in _TOKEN.finditer(text, after, limit):
        word = token[0]
        value = trimmed(word)
        if (before in _PAIRED or before.endswith(":")) and is_strongly_shaped(value):
            yield Span(token.start(), token.start() + len(value))
            return
        before = word.lower()


def _end_of_sentence(text: str, after: int) -> int:
    # A full stop inside a word ends nothing.
    limit = min(len(text), after + _REACH)
    end = _LINE_END.search(text, after, limit)
    if end is None:
        # A word that reaches over the limit is taken whole.
        longer = _TOKEN.match(text, limit, min(len(text), limit + 64))
        return longer.end() if longer else limit
    return end.start() + 1 if text[end.start()] in "!?" else end.start()
