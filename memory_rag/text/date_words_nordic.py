"""How Swedish, Norwegian and Danish speak of dates. Norwegian holds the words of Bokmål and Nynorsk."""

from __future__ import annotations

from memory_rag.text.date_words import (
    MONEY_AND_MEASURE,
    DateWords,
    Which,
    at,
    numbered,
    phrases,
    season_names,
    seasonal,
    units,
    which,
    words,
)
from memory_rag.text.date_words_holidays import DANISH_HOLIDAYS, NORWEGIAN_HOLIDAYS, SWEDISH_HOLIDAYS

_SWEDISH_DAYS = ("mån", "tis", "ons", "tors", "fre", "lör", "sön")
_NORWEGIAN_DAYS = ("man", "tirs", "ons", "tors", "fre", "lør", "søn")
_NYNORSK_DAYS = ("mån", "tys", "ons", "tors", "fre", "laur", "sun")


def _weekdays(stems: tuple[str, ...]) -> dict[str, int]:
    return {f"{stem}{end}": number for number, stem in enumerate(stems) for end in ("dag", "dagen")}


def _weekday_phrases(stems: tuple[str, ...]) -> dict[str, tuple[int, Which]]:
    past: dict[str, tuple[int, Which]] = {f"i {stem}dags": (number, "last") for number, stem in enumerate(stems)}
    return past | {f"på {stem}dag": (number, "next") for number, stem in enumerate(stems)}


SWEDISH = DateWords(
    small_months=True,
    months=numbered("januari februari mars april maj juni juli augusti september oktober november december"),
    short_months=numbered("jan feb mar apr maj jun jul aug sep/sept okt nov dec"),
    other_meanings=words("mars april maj juni juli jul"),
    month_before=words("i under sedan sen före innan efter förra nästa tidigt sent början slutet mitten"),
    day_lead=("den", "d."),
    day_marks=(":e", ":a", "e", "a", "."),
    ordinals=numbered(
        "första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde elfte tolfte trettonde "
        "fjortonde femtonde sextonde sjuttonde artonde nittonde tjugonde tjugoförsta tjugoandra tjugotredje "
        "tjugofjärde tjugofemte tjugosjätte tjugosjunde tjugoåttonde tjugonionde trettionde trettioförsta"
    ),
    of=("i", "månad"),
    weekdays=_weekdays(_SWEDISH_DAYS),
    weekday_phrases=_weekday_phrases(_SWEDISH_DAYS),
    seasons=season_names(spring="vår våren", summer="sommar sommaren", autumn="höst hösten", winter="vinter vintern"),
    sure_seasons=words("våren sommaren hösten vintern"),
    season_phrases=seasonal("last", spring="i våras", summer="i somras", autumn="i höstas", winter="i vintras")
    | seasonal("nearest", spring="i vår", summer="i sommar", autumn="i höst", winter="i vinter"),
    open_phrases={"i vår": words("ska skall kommer har hade är var blir vill tänker reser åker och eller men")},
    units=units(
        day="dag",
        week="vecka veckan",
        weekend="helg helgen",
        month="månad månaden",
        quarter="kvartal kvartalet",
        year="år året",
    ),
    plurals=units(day="dagar", week="veckor", weekend="helger", month="månader"),
    which=which(last="förra, föregående", this="den här, denna, det här, detta", next="nästa, kommande"),
    phrases=at(
        "day",
        {
            -2: "i förrgår, förrgår",
            -1: "i går, igår, i går kväll, igår kväll",
            0: "i dag, idag, i kväll, ikväll, i morse, i natt, inatt, i förmiddag, i eftermiddag",
            1: "i morgon, imorgon, i morron, imorron, imorrn",
            2: "i övermorgon, övermorgon",
        },
    )
    | at("week", {0: "i veckan"})
    | at("weekend", {"nearest": "i helgen", "last": "i helgas"})
    | at("year", {-1: "i fjol, ifjol", 0: "i år"}),
    week_lead=("vecka", "v."),
    numbers=numbered("en/ett två tre fyra fem sex sju åtta nio tio elva tolv") | {"ett par": 2},
    few=words("några"),
    not_number_before=words("halv halvt"),
    ago=(("för", ""), ("sedan", "sen")),
    later=(("om",), ("",)),
    quarters=("kvartal", "kvartalet"),
    quarter_lead=phrases("i, under, sedan, från, för, till, efter, före"),
    sure_quarters=words("kvartalet"),
    holidays=SWEDISH_HOLIDAYS,
    led_holidays=words("halloween"),
    holiday_lead=words("på vid"),
    year_lead=phrases(
        "år, året, i, sedan, sen, under, från, till, före, innan, efter, mellan, runt, kring, omkring, "
        "slutet av, början av, mitten av, resten av"
    ),
    year_joins=("och", "eller", "till"),
    counted=words(
        f"{MONEY_AND_MEASURE} personer människor kronor steg ord meter gång gånger st stycken timmar minuter "
        "sidor rader poäng procent deltagare användare kalorier kilometer mil kvadratmeter liter gram"
    ),
)

NORWEGIAN = DateWords(
    small_months=True,
    months=numbered("januar februar mars april mai juni juli august september oktober november desember"),
    short_months=numbered("jan feb mar apr mai jun jul aug sep/sept okt nov des"),
    other_meanings=words("mars april mai juni juli jul august"),
    month_before=words(
        "i under siden sidan før innen etter forrige førre neste sist tidlig tidleg sent seint slutten starten midten"
    ),
    day_lead=("den",),
    day_marks=(".", "de", "te"),
    ordinals=numbered(
        "første/fyrste andre tredje fjerde femte sjette sjuende/syvende/sjuande åttende/åttande "
        "niende/niande tiende/tiande ellevte tolvte trettende/trettande fjortende/fjortande "
        "femtende/femtande sekstende/sekstande syttende/syttande attende/attande nittende/nittande "
        "tjuende/tjuande tjueførste tjueandre tjuetredje tjuefjerde tjuefemte tjuesjette tjuesjuende "
        "tjueåttende tjueniende trettiende/trettiande trettiførste"
    ),
    of=("i",),
    weekdays=_weekdays(_NYNORSK_DAYS) | _weekdays(_NORWEGIAN_DAYS),
    weekday_phrases=_weekday_phrases(_NYNORSK_DAYS) | _weekday_phrases(_NORWEGIAN_DAYS),
    seasons=season_names(
        spring="vår våren",
        summer="sommer sommeren sommar sommaren",
        autumn="høst høsten haust hausten",
        winter="vinter vinteren",
    ),
    sure_seasons=words("våren sommeren sommaren høsten hausten vinteren"),
    season_phrases=seasonal(
        "nearest", spring="i vår", summer="i sommer, i sommar", autumn="i høst, i haust", winter="i vinter"
    ),
    open_phrases={"i vår": words("skal kommer har hadde er var blir vil tenker reiser drar og eller men")},
    units=units(
        day="dag",
        week="uke uken uka veke veka",
        weekend="helg helgen helga",
        month="måned måneden månad månaden",
        quarter="kvartal kvartalet",
        year="år året",
    ),
    plurals=units(day="dager dagar", week="uker veker", weekend="helger", month="måneder månader"),
    which=which(last="forrige, førre, sist, siste", this="denne, dette", next="neste, kommende, førstkommende"),
    phrases=at(
        "day",
        {
            -2: "i forgårs, i forigårs, forgårs",
            -1: "i går, igår, i går kveld",
            0: "i dag, idag, i kveld, ikveld, i natt, i morges, i formiddag, i ettermiddag",
            1: "i morgen, imorgen, i morgon",
            2: "i overmorgen, overmorgen, overimorgen",
        },
    )
    | at("week", {0: "i uka"})
    | at("weekend", {"nearest": "i helgen, i helga"})
    | at("year", {-1: "i fjor, ifjor", 0: "i år"}),
    week_lead=("uke", "veke"),
    numbers=numbered("en/et/ei/ett/ein/eit to tre fire fem seks sju/syv åtte ni ti elleve tolv")
    | {"et par": 2, "eit par": 2},
    few=frozenset(("noen", "noen få", "nokre")),
    not_number_before=words("halv halvt"),
    ago=(("for", ""), ("siden", "sidan")),
    later=(("om",), ("",)),
    quarters=("kvartal", "kvartalet"),
    quarter_lead=phrases("i, under, siden, fra, for, til, etter, før"),
    sure_quarters=words("kvartalet"),
    holidays=NORWEGIAN_HOLIDAYS,
    led_holidays=words("halloween"),
    holiday_lead=words("på ved"),
    year_lead=phrases(
        "år, året, i, siden, sidan, under, fra, frå, til, før, innen, etter, mellom, rundt, omkring, "
        "slutten av, begynnelsen av, starten av, midten av, resten av"
    ),
    year_joins=("og", "eller", "til"),
    counted=words(
        f"{MONEY_AND_MEASURE} personer mennesker kroner skritt ord meter gang ganger stykker timer minutter "
        "sider linjer poeng prosent deltakere brukere kalorier kilometer mil kvadratmeter liter gram"
    ),
)

DANISH = DateWords(
    small_months=True,
    months=numbered("januar februar marts april maj juni juli august september oktober november december"),
    short_months=numbered("jan feb mar apr maj jun jul aug sep/sept okt nov dec"),
    other_meanings=words("april maj juni juli jul august"),
    month_before=words("i under siden før inden efter forrige næste sidste tidligt sent"),
    day_lead=("den", "d."),
    day_marks=(".", "ende", "te"),
    ordinals=numbered(
        "første anden/andet tredje fjerde femte sjette syvende ottende niende tiende ellevte/elvte tolvte "
        "trettende fjortende femtende sekstende syttende attende nittende tyvende enogtyvende toogtyvende "
        "treogtyvende fireogtyvende femogtyvende seksogtyvende syvogtyvende otteogtyvende niogtyvende "
        "tredivte enogtredivte"
    ),
    of=("i",),
    weekdays=_weekdays(_NORWEGIAN_DAYS),
    weekday_phrases=_weekday_phrases(_NORWEGIAN_DAYS),
    seasons=season_names(
        spring="forår foråret", summer="sommer sommeren", autumn="efterår efteråret", winter="vinter vinteren"
    ),
    sure_seasons=words("foråret sommeren efteråret vinteren"),
    season_phrases=seasonal(
        "nearest",
        spring="i forår, i foråret",
        summer="i sommer",
        autumn="i efterår, i efteråret",
        winter="i vinter",
    ),
    units=units(
        day="dag",
        week="uge ugen",
        weekend="weekend weekenden",
        month="måned måneden",
        quarter="kvartal kvartalet",
        year="år året",
    ),
    plurals=units(day="dage", week="uger", weekend="weekender", month="måneder"),
    which=which(last="sidste, forrige", this="denne, dette", next="næste, kommende, førstkommende"),
    phrases=at(
        "day",
        {
            -2: "i forgårs, forgårs",
            -1: "i går, igår, i går aftes, i aftes",
            0: "i dag, idag, i aften, i nat, i morges, i formiddag, i eftermiddag",
            1: "i morgen, imorgen",
            2: "i overmorgen, overmorgen, overimorgen",
        },
    )
    | at("weekend", {"nearest": "i weekenden"})
    | at("year", {-1: "i fjor", 0: "i år"}),
    week_lead=("uge",),
    numbers=numbered("en/et/én/ét to tre fire fem seks syv otte ni ti elleve tolv") | {"et par": 2},
    few=frozenset(("nogle", "nogle få")),
    not_number_before=words("halv halvt"),
    ago=(("for", ""), ("siden",)),
    later=(("om",), ("",)),
    quarters=("kvartal", "kvartalet"),
    quarter_lead=phrases("i, under, siden, fra, for, til, efter, før"),
    sure_quarters=words("kvartalet"),
    holidays=DANISH_HOLIDAYS,
    led_holidays=words("halloween"),
    holiday_lead=words("på ved"),
    year_lead=phrases(
        "år, året, i, siden, under, fra, til, før, inden, efter, mellem, omkring, slutningen af, "
        "begyndelsen af, starten af, midten af, resten af"
    ),
    year_joins=("og", "eller", "til"),
    counted=words(
        f"{MONEY_AND_MEASURE} personer mennesker kroner skridt ord meter gang gange stykker timer minutter "
        "sider linjer point procent deltagere brugere kalorier kilometer kvadratmeter liter gram"
    ),
)
