"""How English and German speak of dates."""

from __future__ import annotations

from memory_rag.text.date_words import (
    MONEY_AND_MEASURE,
    DateWords,
    at,
    numbered,
    phrases,
    season_names,
    units,
    which,
    words,
)
from memory_rag.text.date_words_holidays import ENGLISH_HOLIDAYS, GERMAN_HOLIDAYS

ENGLISH = DateWords(
    day_first=False,
    month_day=True,
    months=numbered("january february march april may june july august september october november december"),
    short_months=numbered("jan feb mar apr may jun jul aug sep/sept oct nov dec"),
    other_meanings=words("march april may june august"),
    month_before=words("in since until till by early late mid last starting beginning"),
    titled_month_before=words(
        "this next past previous following during before after around from through throughout between of for "
        "every each the"
    ),
    titled_months=words("march may"),
    not_after_month=words(
        "i we you he she it they not be have has had do does say says said ask asks asked help need want go "
        "went come came and or there this that the god who what is was"
    ),
    day_before=words("on in since until till by before after from"),
    day_lead=("the",),
    day_marks=("st", "nd", "rd", "th"),
    ordinals=numbered(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
        "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first "
        "twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth "
        "twenty-ninth thirtieth thirty-first"
    ),
    of=("of",),
    weekdays=numbered("monday tuesday wednesday thursday friday saturday sunday", 0),
    seasons=season_names(spring="spring springtime", summer="summer summertime", autumn="autumn fall", winter="winter"),
    season_lead=phrases(
        "in, in the, during, during the, over the, since, since the, until, until the, till, throughout the, "
        "for the, early, late, mid, by, by the"
    ),
    units=units(day="day", week="week", weekend="weekend", month="month", quarter="quarter", year="year"),
    plurals=units(day="days", week="weeks", weekend="weekends", month="months", quarter="quarters", year="years"),
    which=which(last="last, this past, past, previous", this="this", next="next, coming, this coming"),
    phrases=at(
        "day",
        {
            -2: "day before yesterday, the day before yesterday",
            -1: "yesterday, last night",
            0: "today, tonight, this morning, this afternoon, this evening",
            1: "tomorrow",
            2: "day after tomorrow, the day after tomorrow",
        },
    ),
    week_lead=("week", "calendar week", "iso week"),
    week_needs_year=True,
    numbers=numbered("a/an/one two three four five six seven eight nine ten eleven twelve")
    | {"a couple of": 2, "a couple": 2},
    few=frozenset(("a few", "few", "several")),
    not_number_before=words("half"),
    ago=(("",), ("ago",)),
    later=(("",), ("from now", "from today")),
    quarters=("quarter",),
    quarter_lead=phrases(
        "in, in the, during, during the, since, since the, until, until the, by, for, from, after, of"
    ),
    holidays=ENGLISH_HOLIDAYS,
    led_holidays=words("christmas xmas halloween hallowe'en thanksgiving"),
    holiday_lead=words("at on"),
    year_lead=phrases(
        "in, since, during, from, until, till, by, before, after, around, through, throughout, between, "
        "year, years, early, late, mid, end of, beginning of, start of, rest of, middle of, half of, "
        "class of, quarter of"
    ),
    year_joins=("and", "or", "to", "until"),
    counted=words(
        f"{MONEY_AND_MEASURE} people persons users pounds steps words miles meters metres feet hours minutes "
        "seconds calories pieces items times tokens lines files rows pages points copies square percent mg ml"
    ),
)

_GERMAN_ENDINGS = ("", "n", "r", "s", "m")

GERMAN = DateWords(
    months=numbered("januar/jänner februar/feber märz april mai juni juli august september oktober november dezember"),
    short_months=numbered("jan feb mär/mrz apr mai jun jul aug sep/sept okt nov dez"),
    other_meanings=words("august"),
    month_before=words("im seit ab bis vor nach zwischen anfang mitte ende letzten diesen nächsten vorigen"),
    day_lead=("am", "den", "der", "dem", "vom", "zum"),
    day_marks=(".",),
    ordinals={
        f"{stem}te{ending}": number
        for stem, number in numbered(
            "ers zwei drit vier fünf sechs sieben/sieb ach neun zehn elf zwölf dreizehn vierzehn fünfzehn "
            "sechzehn siebzehn achtzehn neunzehn zwanzigs einundzwanzigs zweiundzwanzigs dreiundzwanzigs "
            "vierundzwanzigs fünfundzwanzigs sechsundzwanzigs siebenundzwanzigs achtundzwanzigs "
            "neunundzwanzigs dreissigs einunddreissigs"
        ).items()
        for ending in ("", "n", "r")
    },
    of=(),
    weekdays=numbered("montag dienstag mittwoch donnerstag freitag samstag/sonnabend sonntag", 0),
    seasons=season_names(spring="frühling frühjahr", summer="sommer", autumn="herbst", winter="winter"),
    season_lead=phrases("im, den, seit, bis, seit dem, bis zum, anfang, mitte, ende, vom"),
    units=units(
        day="tag",
        week="woche",
        weekend="wochenende",
        month="monat monats",
        quarter="quartal quartals",
        year="jahr jahres",
    ),
    plurals=units(
        day="tage tagen",
        week="wochen",
        weekend="wochenenden",
        month="monate monaten",
        quarter="quartale quartalen",
        year="jahre jahren",
    ),
    which=which(
        last=", ".join(f"{stem}{end}" for stem in ("letzte", "vorige", "vergangene") for end in _GERMAN_ENDINGS),
        this=", ".join(f"diese{end}" for end in _GERMAN_ENDINGS),
        next=", ".join(f"{stem}{end}" for stem in ("nächste", "kommende") for end in _GERMAN_ENDINGS),
    ),
    phrases=at("day", {-2: "vorgestern", -1: "gestern", 0: "heute", 1: "morgen", 2: "übermorgen"}),
    small_phrases=words("morgen"),
    week_lead=("kw", "kalenderwoche"),
    numbers=numbered("einem/einer/ein/eine zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
    few=frozenset(("ein paar", "einigen", "wenigen", "mehreren")),
    not_number_before=words("halben halbes"),
    ago=(("vor",), ("",)),
    later=(("in",), ("",)),
    quarters=("quartal", "quartals"),
    quarter_lead=phrases("im, in, seit, bis, ab, für, vor, nach"),
    holidays=GERMAN_HOLIDAYS,
    led_holidays=words("halloween"),
    holiday_lead=words("an zu"),
    year_lead=phrases(
        "jahr, jahre, jahres, in, seit, ab, bis, vor, nach, zwischen, um, anfang, mitte, ende, während, von"
    ),
    year_joins=("und", "oder", "bis"),
    counted=words(
        f"{MONEY_AND_MEASURE} personen menschen leute schritte schritten wörter wörtern meter metern mal "
        "stück stunden minuten seiten zeilen punkte prozent teilnehmer nutzer kalorien kilometer kilometern "
        "quadratmeter liter gramm"
    ),
)
