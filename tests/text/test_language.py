from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import SettingsError
from memory_rag.text.language import LANGUAGES, guess_language, languages_present, parse_language

SENTENCES = {
    "ar": "أنا لا أعرف ما هو الوقت الذي يبدأ فيه الاجتماع، ولكن سأسأل عن ذلك بعد الغداء مع كل الزملاء.",
    "bg": ("Не знам кога започва срещата, но ще попитам след обяд и ще ти кажа какво са решили за пътуването."),
    "ca": (
        "No sé a quina hora comença la reunió, però ho preguntaré després de dinar i també et diré què han decidit."
    ),
    "cs": ("Nevím, kdy ta schůzka začíná, ale zeptám se po obědě a řeknu ti, co jsme se rozhodli udělat s výletem."),
    "da": (
        "Jeg ved ikke, hvornår mødet begynder, men jeg spørger efter frokost og siger til dig, hvad de har besluttet."
    ),
    "de": (
        "Ich weiß nicht, wann die Besprechung anfängt, aber ich frage nach dem Essen und sage dir, "
        "was sie beschlossen haben."
    ),
    "el": "Δεν ξέρω πότε αρχίζει η συνάντηση, αλλά θα ρωτήσω μετά το φαγητό και θα σου πω τι αποφάσισαν.",
    "en": ("I don't know when the meeting begins, but I will ask after lunch and tell you what they have decided."),
    "eo": (
        "Mi ne scias, kiam la kunveno komenciĝas, sed mi demandos post la tagmanĝo kaj diros al vi, kion ili decidis."
    ),
    "es": ("No sé a qué hora empieza la reunión, pero voy a preguntar después de comer y te digo lo que han decidido."),
    "et": (
        "Ma ei tea, millal koosolek algab, aga küsin pärast lõunat ja siis ütlen sulle, mida nad meie "
        "reisi kohta otsustasid."
    ),
    "eu": (
        "Ez dakit bilera noiz hasten den, baina bazkaldu eta gero galdetuko dut eta esango dizut zer erabaki duten."
    ),
    "fa": (
        "من نمی‌دانم که جلسه چه وقت شروع می شود، اما بعد از ناهار می پرسم و به شما می گویم که آن ها چه تصمیمی گرفته اند."
    ),
    "fi": (
        "En tiedä, milloin kokous alkaa, mutta kysyn sitä lounaan jälkeen ja kerron sinulle, mitä he ovat päättäneet."
    ),
    "fr": (
        "Je ne sais pas quand la réunion commence, mais je vais demander après le déjeuner et je te "
        "dirai ce qui est décidé."
    ),
    "ga": (
        "Níl a fhios agam cathain a bheidh an cruinniú ag tosú, ach cuirfidh mé ceist orthu tar éis "
        "an lóin agus inseoidh mé duit é."
    ),
    "he": "אני לא יודע מתי הפגישה מתחילה, אבל אני אשאל אחרי הצהריים ואגיד לך מה הם החליטו על הטיול.",
    "hi": ("मुझे नहीं पता कि बैठक कब शुरू होती है, लेकिन मैं दोपहर के खाने के बाद पूछूँगा और आप को बताऊँगा कि क्या तय हुआ है।"),
    "hu": ("Nem tudom, mikor kezdődik a megbeszélés, de ebéd után megkérdezem, és elmondom neked, hogy mit döntöttek."),
    "hy": "Ես չգիտեմ, թե երբ է սկսվում ժողովը, բայց ճաշից հետո կհարցնեմ և քեզ կասեմ, թե ինչ են որոշել։",
    "id": (
        "Saya tidak tahu kapan rapat itu akan mulai, tapi saya akan bertanya dan memberi tahu anda "
        "apa yang sudah mereka putuskan."
    ),
    "is": (
        "Ég veit ekki hvenær fundurinn byrjar, en ég spyr eftir hádegi og segi þér svo hvað þau hafa "
        "ákveðið um ferðina."
    ),
    "it": (
        "Non so a che ora comincia la riunione, ma chiedo dopo pranzo e ti dico anche che cosa hanno "
        "deciso per il viaggio."
    ),
    "ja": "会議が何時に始まるのかまだ分かりませんが、昼休みの後で聞いて、決まったことをお知らせします。",
    "ko": "회의가 몇 시에 시작하는지 아직 모르지만 점심 후에 물어보고 무엇이 결정되었는지 알려 드릴게요.",
    "lt": (
        "Aš nežinau, kada prasideda susirinkimas, bet po pietų paklausiu ir tau pasakysiu, ką jie "
        "nusprendė apie kelionę."
    ),
    "nb": ("Jeg vet ikke når møtet begynner, men jeg spør etter lunsj og sier fra til deg hva de har bestemt."),
    "ne": ("मलाई बैठक कहिले सुरु हुन्छ थाहा छैन, तर म खाना पछि सोध्छु र के निर्णय भयो हामी सबै लाई भन्ने छु।"),
    "nl": (
        "Ik weet niet hoe laat de vergadering begint, maar ik vraag het na de lunch en zeg je dan wat "
        "ze hebben besloten."
    ),
    "pl": (
        "Nie wiem, kiedy zaczyna się zebranie, ale zapytam po obiedzie i powiem ci, co już "
        "postanowili w sprawie wyjazdu."
    ),
    "pt": ("Não sei a que horas começa a reunião, mas vou perguntar depois do almoço e digo o que eles decidiram."),
    "ro": ("Nu știu când începe întâlnirea, dar o să întreb după prânz și îți spun ce au hotărât pentru călătorie."),
    "ru": "Я не знаю, когда начинается встреча, но спрошу после обеда и скажу тебе, что они решили.",
    "sr": "Не знам када почиње састанак, али ћу питати после ручка и рећи ћу ти шта су одлучили за пут.",
    "st": (
        "Ha ke tsebe hore na kopano e qala neng, empa ke tla botsa ka mora dijo mme ke tla o bolella seo ba se entseng."
    ),
    "sv": ("Jag vet inte när mötet börjar, men jag frågar efter lunchen och säger till dig vad de har bestämt."),
    "ta": ("கூட்டம் எப்போது தொடங்கும் என்று எனக்கு தெரியாது, ஆனால் நான் மதிய உணவுக்கு பிறகு கேட்டு சொல்கிறேன்."),
    "th": "ฉันไม่รู้ว่าการประชุมเริ่มเมื่อไหร่ แต่ฉันจะถามหลังอาหารกลางวันแล้วจะบอกคุณ",
    "tr": (
        "Toplantının ne zaman başladığını bilmiyorum ama öğleden sonra soracağım ve sana ne karar "
        "verildiğini daha sonra söyleyeceğim."
    ),
    "uk": ("Я не знаю, коли починається зустріч, але запитаю після обіду й скажу тобі, що вони вирішили щодо поїздки."),
    "yi": (
        "איך ווייס ניט ווען די זיצונג הייבט זיך אָן, אָבער איך וועל פֿרעגן נאָכן מיטאָג און דיר זאָגן וואָס זיי האָבן באַשלאָסן."
    ),
    "zh": "我还不知道会议几点开始,不过午饭以后我会问一下,然后告诉你他们决定了什么。",
}

# Small talk in three languages that share half of their words, 35 to 60 words a turn.
SCANDINAVIAN = [
    (
        "sv",
        "Hej! Jag har börjat springa igen efter ett långt uppehåll, och det går bättre än jag trodde. "
        "Igår sprang jag fem kilometer längs ån innan frukost. Kan du påminna mig om att köpa nya "
        "skor, och säga vilket märke jag nämnde förra veckan? Jag minns bara att de var blå.",
    ),
    (
        "nb",
        "Hei! Jeg har begynt å løpe igjen etter et langt opphold, og det går bedre enn jeg trodde. I "
        "går løp jeg fem kilometer langs elva før frokost. Kan du minne meg på å kjøpe nye sko, og si "
        "hvilket merke jeg nevnte forrige uke? Jeg husker bare at de var blå.",
    ),
    (
        "da",
        "Hej! Jeg er begyndt at løbe igen efter en lang pause, og det går bedre, end jeg troede. I "
        "går løb jeg fem kilometer langs åen før morgenmaden. Kan du minde mig om at købe nye sko og "
        "sige, hvilket mærke jeg nævnte i sidste uge? Jeg kan kun huske, at de var blå.",
    ),
    (
        "sv",
        "Vi funderar på att hyra en stuga i fjällen över påsk. Den ska ha plats för sex personer, "
        "bastu och helst en öppen spis. Hunden måste få följa med. Budgeten är tolv tusen kronor för "
        "hela veckan, och vi vill inte köra mer än fem timmar från Gävle.",
    ),
    (
        "nb",
        "Vi vurderer å leie en hytte på fjellet i påsken. Den skal ha plass til seks personer, "
        "badstue og helst en åpen peis. Hunden må få være med. Budsjettet er tolv tusen kroner for "
        "hele uken, og vi vil ikke kjøre mer enn fem timer fra Gjøvik.",
    ),
    (
        "da",
        "Vi overvejer at leje et sommerhus ved Vesterhavet i påsken. Det skal have plads til seks "
        "personer, sauna og helst en brændeovn. Hunden skal have lov til at komme med. Budgettet er "
        "tolv tusind kroner for hele ugen, og vi vil ikke køre mere end fem timer fra Næstved.",
    ),
    (
        "nb",
        "Eg har flytta til ei ny leilegheit og veit ikkje heilt kva eg skal gjere med den gamle "
        "sofaen. Han er fin, men altfor stor for stova mi. Kjenner du nokon som kan hente han før "
        "helga? Eg kan også levere han sjølv, dersom det ikkje er for langt frå byen.",
    ),
    (
        "sv",
        "Min chef vill att jag håller i mötet på fredag, men jag är osäker på vad hon egentligen "
        "förväntar sig. Förra gången pratade vi mest om siffror, och efteråt sa några att det hade "
        "varit tråkigt. Har du något förslag på hur jag kan börja på ett annat sätt?",
    ),
    (
        "nb",
        "Sjefen min vil at jeg skal lede møtet på fredag, men jeg er usikker på hva hun egentlig "
        "forventer. Sist snakket vi mest om tall, og etterpå sa noen at det hadde vært kjedelig. Har "
        "du noe forslag til hvordan jeg kan begynne på en annen måte?",
    ),
    (
        "da",
        "Min chef vil have, at jeg skal lede mødet på fredag, men jeg er usikker på, hvad hun "
        "egentlig forventer. Sidste gang talte vi mest om tal, og bagefter sagde nogle, at det havde "
        "været kedeligt. Har du et forslag til, hvordan jeg kan begynde på en anden måde?",
    ),
    (
        "nb",
        "Bilen startet ikke i morges, så jeg måtte ta bussen til jobben og kom nesten tjue minutter "
        "for sent. Verkstedet mener at batteriet er dårlig og vil ha to tusen kroner for et nytt. "
        "Synes du det høres rimelig ut, eller bør jeg spørre et annet sted?",
    ),
    (
        "nb",
        "Datteren vår fyller sju år på lørdag og ønsker seg en kake som ser ut som et piratskip. Kan "
        "du foreslå en oppskrift uten nøtter, siden et av barna i klassen er allergisk? Vi blir "
        "fjorten til bords, og jeg har bare fredag kveld til å bake.",
    ),
    (
        "da",
        "Bilen ville ikke starte i morges, så jeg måtte tage bussen på arbejde og kom næsten tyve "
        "minutter for sent. Værkstedet mener, at batteriet er dårligt, og vil have to tusind kroner "
        "for et nyt. Synes du, det lyder rimeligt, eller bør jeg spørge et andet sted?",
    ),
    (
        "da",
        "Vores datter fylder syv år på lørdag og ønsker sig en kage, der ligner et piratskib. Kan du "
        "foreslå en opskrift uden nødder, da et af børnene i klassen er allergisk? Vi bliver fjorten "
        "til bords, og jeg har kun fredag aften til at bage.",
    ),
    (
        "sv",
        "Bilen startade inte i morse, så jag fick ta bussen till jobbet och kom nästan tjugo minuter "
        "för sent. Verkstaden menar att batteriet är dåligt och vill ha två tusen kronor för ett "
        "nytt. Tycker du att det låter rimligt, eller borde jag fråga någon annanstans?",
    ),
    (
        "nb",
        "Husk at møtet med banken er flyttet til onsdag klokken ti. Ta med lønnsslippen og "
        "skattemeldingen fra i fjor. Rådgiveren heter Solveig og sitter i tredje etasje. Etterpå kan "
        "vi spise lunsj på den lille kafeen ved torget dersom været er bra.",
    ),
    (
        "da",
        "Husk, at mødet med banken er flyttet til onsdag klokken ti. Tag lønsedlen og årsopgørelsen "
        "fra sidste år med. Rådgiveren hedder Solvej og sidder på tredje sal. Bagefter kan vi spise "
        "frokost på den lille café ved torvet, hvis vejret er godt.",
    ),
    (
        "sv",
        "Kom ihåg att mötet med banken är flyttat till onsdag klockan tio. Ta med lönebeskedet och "
        "deklarationen från förra året. Rådgivaren heter Solveig och sitter på tredje våningen. "
        "Efteråt kan vi äta lunch på det lilla kaféet vid torget om vädret är fint.",
    ),
    (
        "nb",
        "Jeg leste ut boka i går og likte slutten veldig godt, men hovedpersonen irriterte meg litt "
        "underveis. Neste gang vil jeg ha noe kortere, gjerne en krim fra Nord-Norge. Broren min sier "
        "at den nye filmen bygger på samme historie, og vi skal se den på søndag.",
    ),
    (
        "da",
        "Jeg læste bogen færdig i går og kunne rigtig godt lide slutningen, men hovedpersonen "
        "irriterede mig lidt undervejs. Næste gang vil jeg have noget kortere, gerne en krimi fra "
        "Jylland. Min bror siger, at den nye film bygger på samme historie, og vi skal se den på "
        "søndag.",
    ),
    (
        "sv",
        "Jag läste ut boken i går och gillade slutet väldigt mycket, men huvudpersonen irriterade mig "
        "lite på vägen. Nästa gång vill jag ha något kortare, gärna en deckare från Norrland. Min "
        "bror säger att den nya filmen bygger på samma historia, och vi ska se den på söndag.",
    ),
    (
        "nb",
        "Legen sa at jeg bør trene tre ganger i uka og spise mer grønnsaker. Blodtrykket var litt "
        "høyt, så han ville måle det igjen om en måned. Jeg tenkte å begynne med svømming, fordi "
        "kneet mitt ikke tåler lange turer på asfalt akkurat nå.",
    ),
    (
        "da",
        "Lægen sagde, at jeg bør træne tre gange om ugen og spise flere grøntsager. Blodtrykket var "
        "lidt højt, så han ville måle det igen om en måned. Jeg tænkte på at begynde med svømning, "
        "fordi mit knæ ikke kan tåle lange ture på asfalt lige nu.",
    ),
    (
        "nb",
        "Serveren stoppet to ganger i natt, og loggen viser bare at minnet ble fullt. Skriv et lite "
        "skript som sjekker minnet hvert femte minutt og sender en melding til kanalen vår når det "
        "nærmer seg nitti prosent. Bruk samme bibliotek som sist.",
    ),
    (
        "da",
        "Serveren stoppede to gange i nat, og loggen viser kun, at hukommelsen blev fuld. Skriv et "
        "lille script, som tjekker hukommelsen hvert femte minut og sender en besked til vores kanal, "
        "når den nærmer sig halvfems procent. Brug samme bibliotek som sidst.",
    ),
]


@pytest.mark.parametrize("code", SENTENCES)
def test_one_sentence_is_enough_to_tell_a_language(code: str) -> None:
    assert guess_language([SENTENCES[code]]) == code


def test_every_language_that_is_known_can_be_guessed() -> None:
    assert set(SENTENCES) == set(LANGUAGES)


@pytest.mark.parametrize(("code", "text"), SCANDINAVIAN)
def test_swedish_norwegian_and_danish_are_told_apart(code: str, text: str) -> None:
    assert guess_language([text]) == code
    assert guess_language([unicodedata.normalize("NFD", text)]) == code
    assert guess_language([text.upper()]) == code


def test_scandinavian_without_its_letters_is_told_apart_too() -> None:
    plain = str.maketrans("åäöæø", "aaoao")
    for code, text in SCANDINAVIAN:
        assert guess_language([text.lower().translate(plain)]) == code


@pytest.mark.parametrize(
    "texts",
    [
        [],
        [""],
        ["ok", "👍", "https://example.org/", "12:30"],
        ["Oslo", "Malmö", "Aarhus"],
        ["ja", "nej"],
        ["\ud800 \0"],
        ["x = y + z; return x"],
        ["lorem ipsum dolor sit amet"],
        ["y = x + 2", "1. y = (x² + 3)⁴", "a e i o u", "e^(-x) o y"],
    ],
)
def test_too_little_text_counts_as_english(texts: list[str]) -> None:
    assert guess_language(texts) == "en"
    assert languages_present(texts) == ("en",)


def test_a_tie_counts_as_english() -> None:
    both = "og det er ikke til at jeg har den med som for og i en på"
    assert guess_language([both]) == "en"


def test_code_in_an_answer_does_not_make_a_memory_english() -> None:
    code = "```python\nfor it in the_list:\n    if it is not None and it.is_on:\n        return it\n```\n" * 30
    assert guess_language(["Kan du skriva en slinga som hoppar över det som inte är satt?", code]) == "sv"
    assert guess_language([code.removesuffix("```\n") + " the and of to in is it that"]) == "en"


def test_a_long_answer_does_not_outweigh_a_persons_own_turns() -> None:
    asked = [text for code, text in SCANDINAVIAN if code == "sv"] * 10
    answer = SENTENCES["en"] * 1_000
    assert guess_language([*asked, answer]) == "sv"


def test_japanese_with_many_chinese_characters_is_japanese() -> None:
    assert guess_language(["東京都の人口は約千四百万人です。", "明日の会議は午後三時からです。"]) == "ja"


def test_a_few_english_words_in_chinese_do_not_make_it_english() -> None:
    assert guess_language(["步骤3:重启api-gw后日志清零,请检查the status of the service"]) == "zh"


def test_languages_are_listed_from_the_dominant_one_down() -> None:
    swedish = [text for code, text in SCANDINAVIAN if code == "sv"]
    turns = [*swedish[:3] * 3, *[SENTENCES["en"]] * 4, *[SENTENCES["de"]] * 2, SENTENCES["fr"], "ok", "👍"]
    assert languages_present(turns) == ("sv", "en", "de")
    assert languages_present(iter(turns)) == ("sv", "en", "de")


def test_a_language_below_a_tenth_of_the_turns_is_not_present() -> None:
    assert languages_present([SENTENCES["en"]] * 9 + [SENTENCES["fi"]]) == ("en", "fi")
    assert languages_present([SENTENCES["en"]] * 10 + [SENTENCES["fi"]]) == ("en",)


def test_a_short_norwegian_turn_that_could_be_danish_counts_as_the_dominant_language() -> None:
    norwegian = [text for code, text in SCANDINAVIAN if code == "nb"]
    doubtful = ["Jeg har det godt, men det er ikke let for mig", "Kan du også se den?", "Det er en god idé"]
    assert languages_present([*norwegian, *doubtful[1:]]) == ("nb",)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("en", "en"),
        ("English", "en"),
        ("SWEDISH", "sv"),
        (" swedish ", "sv"),
        ("no", "nb"),
        ("nn", "nb"),
        ("Norwegian", "nb"),
        ("Norwegian  Bokmål", "nb"),
        ("Nynorsk", "nb"),
        ("sv-SE", "sv"),
        ("pt_BR.UTF-8", "pt"),
        ("zh-Hans", "zh"),
        ("chinese", "zh"),
        ("ko", "ko"),
    ],
)
def test_a_language_is_named_by_its_code_or_its_english_name(name: str, code: str) -> None:
    assert parse_language(name) == code


@pytest.mark.parametrize("name", ["", "klingon", "svenska", "xx", "-", "e n"])
def test_an_unknown_language_is_refused_with_those_that_are_known(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_language(name)
    assert repr(name) in str(caught.value)
    assert "nb (Norwegian)" in str(caught.value)
    assert "zh (Chinese)" in str(caught.value)


def test_every_stemmer_that_is_named_exists() -> None:
    named = {language.stemmer for language in LANGUAGES.values() if language.stemmer}
    assert named <= set(Stemmer.algorithms())


def test_every_code_and_every_name_is_read_back() -> None:
    for code, language in LANGUAGES.items():
        assert parse_language(code) == code
        assert parse_language(language.name) == code


@given(st.lists(st.text()))
def test_any_texts_have_known_languages_and_the_guessed_one_comes_first(texts: list[str]) -> None:
    present = languages_present(texts)
    assert present[0] == guess_language(texts)
    assert set(present) <= set(LANGUAGES)
    assert len(set(present)) == len(present)


def test_thirty_megabytes_of_one_text_are_not_read_in_full() -> None:
    assert guess_language(["```" * 10_000_000, SENTENCES["sv"]]) == "sv"


@pytest.mark.needs_data
@pytest.mark.skipif("MEMORY_RAG_DATA" not in os.environ, reason="MEMORY_RAG_DATA names no evaluation data")
def test_the_conversations_of_locomo_are_english_and_nothing_else() -> None:
    source = Path(os.environ["MEMORY_RAG_DATA"]) / "locomo10.json"
    for item in json.loads(source.read_text(encoding="utf-8")):
        sessions = [value for value in item["conversation"].values() if isinstance(value, list)]
        assert languages_present(turn["text"] for session in sessions for turn in session) == ("en",)
