"""The holidays whose days don't hang on Easter, by the names that five languages have for them."""

from __future__ import annotations

from memory_rag.text.date_words import Feast, phrases

_MIDSUMMER_EVE = Feast(6, 19, 25, weekday=4)
_MIDSUMMER = Feast(6, 20, 26, weekday=5)
_THANKSGIVING = Feast(11, 22, 28, weekday=3)


def _day(month: int, day: int, names: str) -> dict[str, Feast]:
    return dict.fromkeys(phrases(names), Feast(month, day, day))


def _feast(feast: Feast, names: str) -> dict[str, Feast]:
    return dict.fromkeys(phrases(names), feast)


ENGLISH_HOLIDAYS = (
    _day(1, 1, "new year's day, new years day")
    | _day(2, 14, "valentine's day, valentines day, saint valentine's day, st valentine's day")
    | _day(3, 17, "saint patrick's day, st patrick's day, st. patrick's day")
    | _day(4, 1, "april fools' day, april fool's day, april fools day")
    | _day(10, 31, "halloween, hallowe'en")
    | _day(12, 24, "christmas eve")
    | _day(12, 25, "christmas, christmas day, xmas")
    | _day(12, 26, "boxing day")
    | _day(12, 31, "new year's eve, new years eve")
    | _feast(_THANKSGIVING, "thanksgiving, thanksgiving day")
)
SWEDISH_HOLIDAYS = (
    _day(1, 1, "nyårsdagen")
    | _day(1, 5, "trettondagsafton")
    | _day(1, 6, "trettondagen, trettondedag jul")
    | _day(1, 13, "tjugondag knut, tjugondagen")
    | _day(2, 14, "alla hjärtans dag")
    | _day(4, 30, "valborg, valborgsmässoafton, valborgsmässoaftonen")
    | _day(6, 6, "sveriges nationaldag, nationaldagen")
    | _feast(_MIDSUMMER_EVE, "midsommarafton, midsommaraftonen")
    | _feast(_MIDSUMMER, "midsommardagen, midsommar")
    | _day(10, 31, "halloween")
    | _day(12, 13, "luciadagen")
    | _day(12, 24, "julafton, julaftonen")
    | _feast(Feast(12, 24, 26), "julen, i julas, julhelgen")
    | _day(12, 25, "juldagen, juldag")
    | _day(12, 26, "annandag jul, annandagen")
    | _day(12, 31, "nyårsafton, nyårsaftonen")
)
NORWEGIAN_HOLIDAYS = (
    _day(1, 1, "nyttårsdag, nyttårsdagen, første nyttårsdag")
    | _day(2, 14, "valentinsdagen")
    | _day(5, 17, "grunnlovsdagen")
    | _day(6, 23, "sankthansaften, sankthans, jonsok, jonsokaften")
    | _day(10, 31, "halloween")
    | _day(12, 23, "lille julaften")
    | _day(12, 24, "julaften, julaftenen, julaftan")
    | _feast(Feast(12, 24, 26), "julen, jula")
    | _day(12, 25, "første juledag, 1. juledag")
    | _day(12, 26, "andre juledag, 2. juledag")
    | _feast(Feast(12, 27, 30), "romjulen, romjula")
    | _day(12, 31, "nyttårsaften, nyttårsaftenen, nyttårsaftan")
)
DANISH_HOLIDAYS = (
    _day(1, 1, "nytårsdag")
    | _day(2, 14, "valentinsdag")
    | _day(6, 5, "grundlovsdag")
    | _day(6, 23, "sankthansaften, sankthans, sankt hans")
    | _day(10, 31, "halloween")
    | _day(12, 23, "lillejuleaften")
    | _day(12, 24, "juleaften, juleaftensdag")
    | _feast(Feast(12, 24, 26), "julen")
    | _day(12, 25, "første juledag, 1. juledag")
    | _day(12, 26, "anden juledag, 2. juledag")
    | _day(12, 31, "nytårsaften, nytårsaftensdag")
)
GERMAN_HOLIDAYS = (
    _day(1, 1, "neujahr, neujahrstag")
    | _day(2, 14, "valentinstag")
    | _day(10, 3, "tag der deutschen einheit")
    | _day(10, 31, "halloween")
    | _day(12, 6, "nikolaustag")
    | _day(12, 24, "heiligabend, heiliger abend, heiligen abend")
    | _feast(Feast(12, 24, 26), "weihnachten")
    | _day(12, 25, "erster weihnachtstag, ersten weihnachtstag, ersten weihnachtsfeiertag")
    | _day(12, 26, "zweiter weihnachtstag, zweiten weihnachtstag, zweiten weihnachtsfeiertag")
    | _day(12, 31, "silvester, silvesterabend")
)
