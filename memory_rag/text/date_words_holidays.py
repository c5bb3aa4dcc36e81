"""The holidays whose days don't hang on Easter, by the names that five languages have for them."""

from __future__ import annotations

from memory_rag.text.date_words import Feast, phrases


def _feast(
    month: int, day: int, names: str, *, last: int | None = None, weekday: int | None = None
) -> dict[str, Feast]:
    """Return a holiday by its names: of one day, of the days up to ``last``, or of the one that is a weekday."""
    return dict.fromkeys(phrases(names), Feast(month, day, day if last is None else last, weekday))


ENGLISH_HOLIDAYS = (
    _feast(1, 1, "new year's day, new years day")
    | _feast(2, 14, "valentine's day, valentines day, saint valentine's day, st valentine's day")
    | _feast(3, 17, "saint patrick's day, st patrick's day, st. patrick's day")
    | _feast(4, 1, "april fools' day, april fool's day, april fools day")
    | _feast(10, 31, "halloween, hallowe'en")
    | _feast(12, 24, "christmas eve")
    | _feast(12, 25, "christmas, christmas day, xmas")
    | _feast(12, 26, "boxing day")
    | _feast(12, 31, "new year's eve, new years eve")
    | _feast(11, 22, "thanksgiving, thanksgiving day", last=28, weekday=3)
)
SWEDISH_HOLIDAYS = (
    _feast(1, 1, "nyårsdagen")
    | _feast(1, 5, "trettondagsafton")
    | _feast(1, 6, "trettondagen, trettondedag jul")
    | _feast(1, 13, "tjugondag knut, tjugondagen")
    | _feast(2, 14, "alla hjärtans dag")
    | _feast(4, 30, "valborg, valborgsmässoafton, valborgsmässoaftonen")
    | _feast(6, 6, "sveriges nationaldag, nationaldagen")
    | _feast(6, 19, "midsommarafton, midsommaraftonen", last=25, weekday=4)
    | _feast(6, 20, "midsommardagen, midsommar", last=26, weekday=5)
    | _feast(10, 31, "halloween")
    | _feast(12, 13, "luciadagen")
    | _feast(12, 24, "julafton, julaftonen")
    | _feast(12, 24, "julen, i julas, julhelgen", last=26)
    | _feast(12, 25, "juldagen, juldag")
    | _feast(12, 26, "annandag jul, annandagen")
    | _feast(12, 31, "nyårsafton, nyårsaftonen")
)
NORWEGIAN_HOLIDAYS = (
    _feast(1, 1, "nyttårsdag, nyttårsdagen, første nyttårsdag")
    | _feast(2, 14, "valentinsdagen")
    | _feast(5, 17, "grunnlovsdagen")
    | _feast(6, 23, "sankthansaften, sankthans, jonsok, jonsokaften")
    | _feast(10, 31, "halloween")
    | _feast(12, 23, "lille julaften")
    | _feast(12, 24, "julaften, julaftenen, julaftan")
    | _feast(12, 24, "julen, jula", last=26)
    | _feast(12, 25, "første juledag, 1. juledag")
    | _feast(12, 26, "andre juledag, 2. juledag")
    | _feast(12, 27, "romjulen, romjula", last=30)
    | _feast(12, 31, "nyttårsaften, nyttårsaftenen, nyttårsaftan")
)
DANISH_HOLIDAYS = (
    _feast(1, 1, "nytårsdag")
    | _feast(2, 14, "valentinsdag")
    | _feast(6, 5, "grundlovsdag")
    | _feast(6, 23, "sankthansaften, sankthans, sankt hans")
    | _feast(10, 31, "halloween")
    | _feast(12, 23, "lillejuleaften")
    | _feast(12, 24, "juleaften, juleaftensdag")
    | _feast(12, 24, "julen", last=26)
    | _feast(12, 25, "første juledag, 1. juledag")
    | _feast(12, 26, "anden juledag, 2. juledag")
    | _feast(12, 31, "nytårsaften, nytårsaftensdag")
)
GERMAN_HOLIDAYS = (
    _feast(1, 1, "neujahr, neujahrstag")
    | _feast(2, 14, "valentinstag")
    | _feast(10, 3, "tag der deutschen einheit")
    | _feast(10, 31, "halloween")
    | _feast(12, 6, "nikolaustag")
    | _feast(12, 24, "heiligabend, heiliger abend, heiligen abend")
    | _feast(12, 24, "weihnachten", last=26)
    | _feast(12, 25, "erster weihnachtstag, ersten weihnachtstag, ersten weihnachtsfeiertag")
    | _feast(12, 26, "zweiter weihnachtstag, zweiten weihnachtstag, zweiten weihnachtsfeiertag")
    | _feast(12, 31, "silvester, silvesterabend")
)
