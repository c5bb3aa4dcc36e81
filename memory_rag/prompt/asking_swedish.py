"""How people ask for what was said before, and for something else, in Swedish."""

from __future__ import annotations

from typing import Final

from memory_rag.prompt.asking_words import Ways

_SAID: Final = (
    r"sa|sade|sagt|nämnde|nämnt|berättade|berättat|pratade|pratat|talade|talat|diskuterade|diskuterat|frågade|frågat|"
    r"beskrev|beskrivit|bestämde|bestämt|beslöt|beslutade|beslutat|enades|lovade|lovat|skrev|skrivit|gav|gett|givit|"
    r"visade|visat|föreslog|föreslagit|rekommenderade|rekommenderat|tipsade|tipsat|tyckte|tyckt|kallade|kallat|valde|"
    r"valt|landade|landat|planerade|planerat|räknade|räknat|kom (?:fram till|överens)|kommit (?:fram till|överens)|"
    r"förklarade|förklarat|listade|listat|klagade|klagat|tog upp|tagit upp|gick igenom|gått igenom|tänkte|tänkt|"
    r"påstod|påstått|missat|skickade|skickat|gillade|gillat|använde|använt|sparade|sparat|haft|glömt|missade"
)
SWEDISH: Final = Ways(
    between_us=(
        rf"\b(?:jag|vi|du)(?: (?:har|hade))?(?: (?:ju|väl|också|redan|en gång|någonsin|aldrig|först|sist|själv|nog|då|"
        rf"faktiskt|egentligen|verkligen|tidigare))* (?:{_SAID})\b(?! mig själv)"
        rf"|\b(?:har|hade) (?:jag|vi|du)\b(?! (?:hört|sett|varit|provat|testat|läst)\b)(?: (?:ju|väl|redan|någonsin|"
        rf"aldrig|också|inte|nånsin|tidigare))* \w+(?:t|"
        rf"ts|it)\b"
        rf"|\b(?:{_SAID}) (?:jag|vi|du)\b"
        r"|\bvar det (?:nu )?(?:jag|vi|du|som)\b|\b(?:jag|vi|du) (?:hade|skulle|gjorde|har|var|är) (?:ju|väl)\b"
        r"|\b(?:min|mitt|mina|din|ditt|dina|vår|vårt|våra) (?:exakta|egen|egna|eget|förra|senaste|tidigare|första|"
        r"gamla|"
        r"ursprungliga) \w+|\b(?:mina|dina|våra) (?:ord|råd|tips|förslag|anteckningar|skäl)\b"
        r"|\b(?:min|din|vår) (?:formulering|ordalydelse|plan|motivering|beskrivning)\b|\bditt (?:råd|tips|förslag)\b"
        r"|\bdu vet (?:ju|väl)\b|\bmellan oss\b|\bpå tal\b|\bcitera mig\b|\bord för ord\b|\bordagrant\b|"
        r"\bmed mina egna\b"
        r"|\b(?:förra|senaste) gången (?:jag|vi|du)\b|\bsist (?:vi|jag)\b|\b(?:vi|jag|du) .{0,20}\bsist\b"
        r"|\bvåra (?:samtal|chattar|konversationer)\b|\b(?:jag )?gav dig\b|\bhittills\b"
        r"|\b(?:blev|var) det nu\b|\bjag var så \w+ med\b|\benligt (?:dig|dej)\b|\b(?:var|löd) (?:din|ditt|dina)\b"
        r"|\bhade du för\b"
    ),
    recalls=(
        r"\bpåminn mig om\b|\bminns du\b|\bkommer du ihåg\b|\bdu minns\b|\bhjälp mig på traven\b|\bnu igen\b|"
        r"\bnu då\b\W*$"
        r"|\bjag (?:minns|kommer) inte\b|\bjag har (?:glömt|tappat bort)\b|\bva\W*$|\b(?:vad|vem|var|när|"
        r"vilken|vilket) var det\b(?! (?:sist|senast|förra|den \d))"
        r"|\bvad (?:hette (?:det|den|han|hon|de)|heter (?:han|hon|de))\b"
        r"|\b(?:vilken|vilket|vilka|hur (?:många|mycket|länge|lång|långt|stor|stort|gammal)) (?:\w+ ){0,2}var det\b"
        r"|\bpåminn mig(?! (?:i|på|när|imorgon|klockan|att)\b)|\bvad gällde\b"
        r"|\bhur var det (?:nu |nu igen )?(?:med|som|man|jag|vi|du)\b"
        r"|\bpåminna (?:mig|oss)\b|\b(?:friska|fräscha) upp (?:mitt |vårt )?minnet?\b|\bhjälpa? mig (?:att )?(?:minnas|"
        r"komma ihåg)\b|\bjag (?:blandar ihop|har för mig)\b|\buppdatera (?:mig|oss) om\b|\bhar du koll på\b"
        r"|\b(?:samla|plocka) (?:ihop|fram) all[at]\b"
        r"|\bsammanfatta (?:vad|det|allt) (?:jag|vi|du)\b|\b(?:gå|ta mig) (?:i?genom) (?:vad|det|vår|allt)\b"
        r"|\b(?:sammanfatta|hur är|vad är) läget (?:med|i|för)\b|\bvar (?:är|står) vi\b|\b(?:lista|räkna upp|"
        r"rada upp) (?:allt|alla)\b"
        r".{0,40}\b(?:jag|vi|min|mina|vår|våra)\b|^all[at] \w+ (?:som )?(?:jag|vi)\b|"
        r"\bvet du (?:fortfarande|ännu)\b"
    ),
    once_more=r"\b(?:igen|en gång till)\W*$",
    resumes=(
        r"\b(?:fortsätt|fortsätta|fortsätter vi) (?:på \w+(?:en|et|n|t|na)\b|där\b(?! du\b))|\bupp tråden\b"
        r"|\btråden från\b"
        r"|\b(?:slutade|stannade|var) vi\b|\btillbaka till \w+(?:en|et|n|t|na)\b|\btillbaka till (?:det|den|vår|mitt|"
        r"min)\b"
        r"|\b(?:vidare|fortsätt|fortsätta|fortsätter vi) med (?:det |den |vår|mitt |min |\w+(?:en|et|n|t|na)\b)"
        r"|\bsamma (?:\w+ ){0,3}som (?:de|den|det|förra|sist|innan|tidigare|vanligt|alltid|då|du)\b|\bsom (?:sist|"
        r"förra|"
        r"de andra|tidigare)\b|\b(?:nytt|nyheter) om (?:det|den)\b|\bdär vi (?:slutade|var)\b"
        r"|\b(?:vad|vilka(?: \w+)?) (?:återstår|är kvar)\b"
        r"|\ben gång till, i korthet\b"
    ),
    asks=(
        r"(?:vem|vems|vad|vilken|vilket|vilka|när|var|vart|varför|varifrån|sedan när|hur (?:många|mycket|länge|lång|"
        r"långt|gammal|gamla|ofta|stor|stort|dags|lät|löd|gick|var|blev|hette|kom det sig))\b"
    ),
    whether=(
        r"(?:är|har|hade|kan|kunde|ska|skulle|får|fick|passar|funkar|fungerar|hinner|tål|gillar|krockar|blir|räcker|"
        r"behöver|måste|vill|kommer|går|finns|vet|borde|bör|var|äter)\b"
    ),
    past=(
        r"\b(?:var|hade|blev|hette|fick|gick|kom|löd|tog|gav|drog|höll|åkte|sa|sade|vann|stod|\w{2,}(?:ade|dde|nde|lde|"
        r"rde|gde|kte|pte|"
        r"ste|"
        r"tte))\b|\bskulle\b(?! (?:du|man|en|ett|hända|krävas)\b)(?!.*\bom\b)"
    ),
    mine=r"\b(?:min|mitt|mina|vår|vårt|våra)\b",
    definite=r"\b(?:den|det|de|dom)\b|\b\w{3,}(?:en|et|erna|arna|orna)\b",
    settles=(
        r"(?<!vem )\b(?:blev det|bestäm\w*|beslut\w*|landade|enades|valde|anledningen till|skälet till|slutgiltiga?|"
        r"\w*listan|agendan|schemat|budgeten|planen)\b"
    ),
    settled=(
        r"(?:(?!(?:hade|skulle|kunde|borde|ville|måste|vore|kände|visste)\b)\w{2,}(?:ade|dde|nde|lde|rde|gde|kte|pte|"
        r"ste|"
        r"tte)|tog|fick|gav|gick|kom|höll|drog|skrev|la|lade|sa|sade|åt|for|blev|lät|såg) (?:jag|vi)\b"
        r"|har \w{3,}(?:en|et|erna|arna) \w+(?:t|ts|it)\b|\w{3,}(?:ade|nde|gde|kte|pte|ste) \w{3,}(?:en|et|erna|arna)\b"
        r"|är det (?:bestämt|sagt|klart|avgjort) (?:vem|vad|vilk\w+|när|hur|var|om)\b"
        r"|blev det\b.*(?:\beller\b|\btill slut\b)|(?:var|är) det\b.*\beller\b.*\b(?:jag|vi)\b"
    ),
    thing=(
        r"(?!.*\b(?:är|har|kan|ska|får|var|blir|eller|som)\b)(?:\w{3,}(?:en|et|an|on|rna|lan|ret|net)|\w{2,}s \w{3,}) "
        r"(?:till|på|för|hos|från|i|åt)\b[^,.?]{1,40}\?\W*$"
    ),
    suits=(
        r"\b(?:kan|får|ska|bör|hinner|orkar) (?:jag|vi) (?:äta|dricka|ta|ha|beställa|köpa|gå|åka|boka|använda|"
        r"till|med|ge|bjuda|laga|baka)\b|\b(?:hinner|har|är|behöver|måste) (?:jag|vi) (?:tid|råd|ledig\w*|upptag\w*|"
        r"hemma|borta|"
        r"något|nåt|ta|köpa)\b|\bhinner (?:jag|vi)\b|\b(?:passar|funkar|fungerar|krockar|duger|går|okej|tål|"
        r"räcker)\b.{0,40}"
        r"\b(?:mig|oss|min|mitt|mina|vår|vårt|våra|jag|vi)\b|\b(?:jag|vi) (?:redan )?har (?:bokat|planerat|"
        r"inplanerat)\b"
    ),
    usual=r"\b(?:brukar|brukade) (?:jag|vi)\b|\b(?:jag|vi) brukar\b|\bsom jag brukar\b",
    known_people=(
        r"\b(?:barnen|ungarna|gästerna|teamet|chefen|grann(?:en|arna)|familjen|killarna|tjejerna|tvillingarna|"
        r"svärföräldrarna|sonen|dottern|sambon|maken|hustrun|frun|frugan|brorsan|syrran|svåger\w*|svägerskan|bebisen|"
        r"hunden|"
        r"katten|valpen|systerdotter\w*|systerson\w*|brorsdotter\w*|brorson\w*|"
        r"bröllopet|kalaset|festen|de andra|klassen|laget|gänget|föräldrarna|mamma|pappa|mormor|morfar|farmor|farfar|"
        r"moster|faster|farbror|morbror|svärmor|svärfar)s?\b|\b(?:åt|till|för|med) (?:mig|oss|honom|henne|dem|dom)\b"
    ),
    makes=(
        r"(?:snälla |kan du |skulle du kunna )?(?:hjälpa? mig (?:att )?)?(?:skriv|skriva|gör|göra|ge mig|skapa|"
        r"hitta på|"
        r"föreslå|sammanställa?|sätt samman|översätt|"
        r"översätta|"
        r"sätt ihop|formulera|generera|planera|räkna ut|förklara|rätta|korta|dikta|rimma|lös|konvertera|berätta en|"
        r"lista (?:de|tio|fem|tre|alla)|tipsa|tio|fem|tre)\b"
    ),
    how_to=(
        r"\bhur (?:gör|kan|ska|bör|får|man|\w+(?:r|s) (?:man|jag|en|ni|folk))\b|\bhur säger\b|\bvad är bästa sättet\b"
    ),
    just_now=(
        r"\bnyss\b|\balldeles nyligen\b|\bprecis (?:sa|skrev|nämnde|listade)\b|\b(?:ta|säg|läs|"
        r"upprepa) (?:om )?(?:det|den)"
        r" (?:sista|senaste)\b|\b(?:sista|senaste) (?:meningen|punkten|stycket|raden|biten|svaret|delen|steget)\b|"
        r"\bovan\b"
        r"|\bvad (?:menar|menade) du\b|\b(?:första|andra|tredje|fjärde) (?:punkten|steget|alternativet|meningen)\b|"
        r"\bnu sist\b"
        r"|\b(?:det|som) du just\b|\bsenaste svaret\b|\bditt (?:senaste|förra) (?:svar|meddelande)\b|\bsäg det igen\b"
    ),
    thanks=(
        r"\b(?:tack|tackar|tusen tack|perfekt|toppen|kanon|suveränt|grymt|jättebra|strålande|utmärkt|då kör vi|"
        r"du är (?:en|"
        r"bäst|guld)|snyggt|fint|härligt|bra jobbat)\b"
    ),
    greets=(
        r"^(?:hej|hejsan|hallå|tjena|tja|tjo|god (?:morgon|kväll|natt|dag|jul|fortsättning)|godnatt|godmorgon|morsning|"
        r"hej då|hejdå|vi hörs|ha det|grattis|glad \w+|välkommen|tack för i ?dag)\b"
    ),
    goes_on=(
        r"^(?:(?:och|ok|okej|ja|japp|nu|så),? )*(?:fortsätt|mer|vidare|kör på|nästa|en till|ett till|ja|nej|ok|okej|"
        r"visst|"
        r"kortare|längre|igen|gör den|gör det)\b"
    ),
    from_now=r"^(?:hädanefter|från och med nu|framöver|i fortsättningen|alltid|aldrig)\b",
    notes=(
        r"(?:(?:snälla|du),? )*(?:kom ihåg|notera|anteckna|skriv (?:upp|ner)|spara|lägg (?:till|in|på minnet)|logga)\b"
        r"[^?:]{0,40}?(?:\batt (?:jag|vi|min|mitt|mina|vår|vårt|våra)\b|:)"
    ),
    content=r"\b(?:där|(?:om )?att|om hur) (?:jag|vi)\b(?: \w+)?",
    general=(
        r"\bskillnaden mellan\b|\b(?:på|till|från) (?:tyska|engelska|franska|spanska|italienska|norska|danska|"
        r"finska|svenska|"
        r"latin|japanska|nederländska|polska)\b|\böversätt\w*|\bhur lång tid tar det\b"
        r"|\bär det (?:i ?dag|nu|(?:bäst|bra|farligt|nyttigt|okej) att)\b|\bi (?:världen|sverige|norge|europa)\b"
        r"|\bvad kan du\b|"
        r"\b(?:uppfanns|upptäcktes|grundades|lanserades|byggdes|infördes)\b|\bkom den första\b|\bbetyder\b"
        r"|\bär det sant\b|\bärligt (?:nu|talat)\b|"
        r"\b(?:tycker|säger|tror) du\b|\bi allmänhet\b"
        r"|\bhur (?!jag|vi|mycket|många|länge|var\b|löd|gick|lät|ofta)\w+(?:r|s) (?!jag\b|vi\b|du\b|det\b)\w+"
    ),
)
