"""How people ask for what was said before, and for something else, in Norwegian."""

from __future__ import annotations

from typing import Final

from memory_rag.prompt.asking_words import Ways

_SAID: Final = (
    r"sa|sagt|nevnte|nevnt|fortalte|fortalt|snakket|snakka|pratet|prata|diskuterte|diskutert|spurte|spurt|beskrev|"
    r"beskrevet|bestemte|bestemt|ble enige|blitt enige|lovet|lovte|lova|skrev|skrevet|ga|gav|gitt|viste|vist|foreslo|"
    r"foreslått|anbefalte|anbefalt|tipset|tipsa|syntes|synes|kalte|kalt|valgte|valgt|landet|landa|planla|planlagt|"
    r"regnet|regna|kom fram til|kommet fram til|forklarte|forklart|listet|lista|klaget|klaga|tok opp|tatt opp|"
    r"gikk i?gjennom|gått i?gjennom|tenkte|tenkt|påsto|påstått|sendte|sendt|likte|likt|brukte|brukt|endte|endt|fikk|"
    r"drømte|drømmer|hatt|glemt|glemte"
)
NORWEGIAN: Final = Ways(
    between_us=(
        rf"\b(?:jeg|eg|vi|du)(?: (?:har|hadde))?(?: (?:jo|vel|også|allerede|en gang|noen gang|aldri|først|sist|selv|"
        rf"nok|"
        rf"da|faktisk|egentlig|virkelig|tidligere|ikke))* (?:{_SAID})\b(?! meg selv)"
        r"|\b(?:har|hadde) (?:jeg|eg|vi|du)\b(?! (?:hørt|sett|vært|prøvd|testet|lest)\b)(?: (?:jo|vel|allerede|"
        r"noen gang|aldri|også|ikke|tidligere))* \w+(?:t|dd|"
        r"et)\b"
        rf"|\b(?:{_SAID}) (?:jeg|eg|vi|du)\b"
        r"|\bvar det (?:nå )?(?:jeg|eg|vi|du|som)\b|\b(?:jeg|vi|du) (?:hadde|skulle|gjorde|har|var|er) (?:jo|vel)\b"
        r"|\b(?:min|mitt|mine|din|ditt|dine|vår|vårt|våre) (?:eksakte|egen|egne|eget|forrige|siste|tidligere|første|"
        r"gamle|"
        r"opprinnelige|nøyaktige) \w+|\b(?:ordene|rådene|tipsene|forslagene|notatene) (?:mine|dine|våre)\b"
        r"|\b(?:rådet|tipset|forslaget) ditt\b|\b(?:ordlyden|formuleringen|planen|begrunnelsen|beskrivelsen) (?:min|"
        r"din|vår)"
        r"|\bdu vet (?:jo|vel)\b|\bmellom oss\b|\bsiter meg\b|\bord for ord\b|\bordrett\b"
        r"|\b(?:forrige|siste) gang (?:jeg|vi|du)\b|\bsist (?:vi|jeg)\b|\b(?:vi|jeg|du) .{0,20}\bsist\b"
        r"|\bsamtalene våre\b|\bhar ikke du\b|\bhittil\b|\btil nå\b|\bså langt\b|\b(?:ble|blei) det nå\b"
        r"|\bifølge deg\b|\bvar (?:\w+ (?:din|di|ditt|dine)|(?:din|ditt|dine) \w+)\b|\bhadde du for\b"
    ),
    recalls=(
        r"\bminn meg på\b(?! (?:å|at)\b)(?! (?:det|dette)\b.{0,20}\b(?:i morgen|i kveld|klokk(?:a|en)|neste|om)\b)"
        r"|\bhusker du\b|\bdu husker\b|\bhjelp meg på (?:gli|vei)\b|\bnå igjen\b"
        r"|\bjeg (?:husker ikke|har glemt|glemte|har mistet|mistet)\b|\b(?:hva|hvem|hvor|når|hvilken|"
        r"hvilket) var det\b(?! (?:sist|siste|forrige|den \d))"
        r"|\bhva (?:het (?:det|den|han|hun|de)|heter (?:han|hun|de))\b|\bvet du fortsatt\b"
        r"|\b(?:hvilken|hvilket|hvilke|hvor (?:mange|mye|lenge|lang|langt|stor|stort|gammel)) (?:\w+ ){0,2}var det\b"
        r"|\bminne (?:meg|oss) på\b|\bfriske? opp\b|\bhjelpe? meg (?:med )?(?:å )?huske\b"
        r"|\bjeg (?:blander|roter|mener å huske)\b"
        r"|\boppdatere? (?:meg|oss) (?:på|om)\b|\bhar du oversikt over\b|\bsamle (?:sammen )?all[et]\b"
        r"|\bminn meg (?:om|kort)\b|\bhvordan var det (?:nå )?(?:med|som|man|jeg|vi|du)\b|\bhva var greia\b"
        r"|\bhva gjaldt\b"
        r"|\boppsummer (?:hva|det|alt) (?:jeg|vi|du)\b|\b(?:gå|ta meg) i?gjennom (?:hva|det|alt)\b"
        r"|\bhvor (?:vi står|står vi)\b|\b(?:list(?: opp)?|ramse? opp) (?:alt|alle)\b.{0,40}\b(?:jeg|vi|mine?|våre?)\b"
        r"|^alle? \w+ (?:som )?(?:jeg|vi)\b"
    ),
    once_more=r"\b(?:igjen|en gang til|én gang til)\W*$",
    resumes=(
        r"\b(?:fortsett|fortsette|fortsetter vi) (?:på \w+(?:en|et|a|n|ne|ene)\b|der\b(?! du\b))|\bopp tråden\b"
        r"|\btråden fra\b"
        r"|\b(?:slapp|sluttet|slutta|stoppet|var) vi\b|\btilbake til \w+(?:en|et|a|n|ne|ene)\b|\btilbake til (?:det|"
        r"den|vår)"
        r"|\b(?:videre|fortsett|fortsette|fortsetter vi) med (?:det |den |vår|\w+(?:en|et|a|ne|ene)\b)"
        r"|\b(?:den |det |de )?samme? (?:\w+(?:-\w+)? ){0,3}som (?:de|den|det|forrige|sist|før|tidligere|vanlig|"
        r"alltid|da|"
        r"du)\b|\bsom (?:sist|forrige|de andre|tidligere)\b|\bnytt om (?:det|den)\b|\bder vi (?:slapp|var)\b"
        r"|\b(?:hva|hvilke(?: \w+)?) (?:gjenstår|er igjen)\b"
    ),
    asks=(
        r"(?:hvem|hva|ka|kva|hvilken|hvilket|hvilke|når|hvor|korleis|hvorfor|hvordan (?:var|gikk|ble|het|lød|"
        r"hadde det seg)|"
        r"siden når|"
        r"(?:hvor|kor) (?:mange|mye|lenge|lang|langt|gammel|gamle|ofte|stor|stort))\b"
    ),
    whether=(
        r"(?:er|har|hadde|kan|kunne|skal|skulle|får|fikk|passer|funker|fungerer|rekker|tåler|liker|krasjer|blir|holder|"
        r"trenger|må|vil|kommer|går|finnes|vet|burde|bør|var|spiser)\b"
    ),
    past=(
        r"\b(?:var|hadde|ble|blei|het|fikk|gikk|kom|lød|tok|ga|dro|holdt|sa|vant|sto|kostet|funket|virket|\w{2,}(?:gde|"
        r"dde|vde|kte|pte|ste|tte|lte|nte|"
        r"rte))\b|\bskulle\b(?! (?:du|man|en|et|skje|det)\b)(?!.*\b(?:hvis|om)\b)"
    ),
    mine=r"\b(?:min|mitt|mine|mi|vår|vårt|våre)\b",
    definite=r"\b(?:den|det|de)\b|\b\w{3,}(?:en|et|ene|ane|a)\b",
    settles=(
        r"(?<!hvem )\b(?:ble det|bestem\w*|endte|landet|landa|valgte|grunnen til|årsaken til|endelige?|\w*list(?:a|en)|"
        r"planen|budsjettet|agendaen)\b"
    ),
    settled=(
        r"(?:(?!(?:hadde|skulle|kunne|burde|ville|måtte|visste|kjente)\b)\w{2,}(?:gde|dde|vde|kte|pte|ste|tte|lte|nte|"
        r"rte|"
        r"et)|tok|fikk|ga|gav|gikk|kom|holdt|dro|skrev|la|sa|spiste|ble|blei|så|lot) (?:jeg|vi)\b"
        r"|har \w{3,}(?:en|et|ene|ane) \w+(?:t|dd)\b|\w{3,}(?:gde|kte|pte|ste|lte|nte|rte) \w{3,}(?:en|et|ene|ane)\b"
        r"|er det (?:bestemt|sagt|klart|avgjort) (?:hvem|hva|hvilk\w+|når|hvordan|hvor|om)\b"
        r"|(?:ble|blei) det\b.*(?:\beller\b|\btil slutt\b)|(?:var|er) det\b.*\beller\b.*\b(?:jeg|vi)\b"
    ),
    thing=(
        r"(?!.*\b(?:er|har|kan|skal|får|var|blir|eller|som)\b)\w{3,}(?:en|et|ene|ane|a) "
        r"(?:til|på|for|hos|fra|i)\b[^,.?]{1,40}\?\W*$"
    ),
    suits=(
        r"\b(?:kan|får|skal|bør|rekker|orker) (?:jeg|vi) (?:spise|drikke|ta|ha|bestille|kjøpe|gå|dra|reise|booke|"
        r"bruke|gi|lage|bake)\b|\b(?:rekker|har|er|trenger|må) (?:jeg|vi) (?:tid|råd|ledig\w*|opptatt|hjemme|borte|"
        r"noe|ta|"
        r"kjøpe)\b|\brekker (?:jeg|vi)\b|\b(?:passer|funker|fungerer|krasjer|duger|går|greit|tåler|holder|"
        r"problem)\b.{0,40}"
        r"\b(?:meg|oss|min|mitt|mine|vår|vårt|våre|jeg|vi)\b|\b(?:jeg|vi) (?:allerede )?har (?:booket|planlagt|"
        r"avtalt)\b"
    ),
    usual=r"\b(?:pleier|pleide) (?:jeg|vi)\b|\b(?:jeg|vi) pleier\b",
    known_people=(
        r"\b(?:barna|ungene|gjestene|teamet|sjefen|nabo(?:en|ene)|familien|guttene|jentene|tvillingene|"
        r"svigerforeldrene|sønnen|datter(?:en|a)|samboeren|kona|mannen|kjæresten|broren|søster(?:en|a)|svoger\w*|"
        r"babyen|"
        r"hunden|katten|valpen|bikkja|niesen|niesa|nevøen|"
        r"bryllupet|selskapet|festen|de andre|klassen|laget|gjengen|foreldrene|mamma|pappa|mormor|morfar|farmor|farfar|"
        r"bestemor|bestefar|tante|onkel|svigermor|svigerfar)s?\b|\b(?:til|for|med) (?:meg|oss|ham|henne|dem)\b"
    ),
    makes=(
        r"(?:vær så snill å |kan du |kunne du )?(?:hjelpe? meg (?:med )?(?:å )?)?(?:formulere?|sett sammen|"
        r"sette sammen|"
        r"skriv|skrive|lag|lage|gi meg (?:en|et|ti|fem|tre|noen)|finn på|"
        r"finn en|"
        r"foreslå|oversett|oversette|sett opp|formuler|generer|planlegg|regn ut|forklar|rett|kort ned|dikt|rim|løs|"
        r"konverter|fortell en|list (?:opp )?(?:de|ti|fem|tre|alle)|ti|fem|tre)\b"
    ),
    how_to=r"\bhvordan (?:gjør|kan|skal|bør|får|\w+(?:r|s) (?:man|jeg|en|dere|folk))\b|\bhva er (?:den )?beste måten\b",
    just_now=(
        r"\bnettopp\b|\bakkurat (?:nå|sa|skrev|nevnte|listet)\b|\b(?:ta|si|les|gjenta) (?:opp )?(?:det|den) siste\b"
        r"|\b(?:siste) (?:setningen|setninga|punktet|avsnittet|linja|linjen|biten|svaret|delen|steget)\b|\bovenfor\b"
        r"|\bhva (?:mener|mente) du\b|\b(?:første|andre|tredje|fjerde) (?:punktet|steget|alternativet|setningen)\b|"
        r"\bnå sist\b"
        r"|\b(?:det|som) du akkurat\b|\bdet siste svaret ditt\b|\bsi det igjen\b"
    ),
    thanks=(
        r"\b(?:takk|tusen takk|takker|perfekt|supert|topp|kjempebra|flott|nydelig|strålende|knall|herlig|da kjører vi|"
        r"du er (?:en|best|gull)|så bra|fint|bra jobba|den satt)\b"
    ),
    greets=(
        r"^(?:hei|heisann|hallo|hallais|god (?:morgen|kveld|natt|dag|jul|påske|helg)|godmorgen|morn|morna|ha det|hadet|"
        r"vi høres|vi snakkes|gratulerer|velkommen|takk for (?:i ?dag|nå))\b"
    ),
    goes_on=(
        r"^(?:(?:og|ok|ja|jepp|nå|så),? )*(?:fortsett|mer|videre|kjør på|neste|en til|et til|ett til|ja|nei|ok|greit|"
        r"kortere|lengre|igjen|ta den|gjør den|gjør det)\b"
    ),
    from_now=r"^(?:heretter|fra nå av|framover|i fortsettelsen|alltid|aldri)\b",
    notes=(
        r"(?:husk|noter|merk deg|skriv (?:opp|ned)|lagre|legg (?:til|inn)|loggfør|logg)\b"
        r"[^?:]{0,40}?(?:\bat (?:jeg|vi|min|mitt|mine|vår|vårt|våre)\b|:)"
    ),
    content=r"\b(?:der|(?:om )?at|om hvordan) (?:jeg|vi)\b(?: \w+)?",
    general=(
        r"\bforskjellen på\b|\b(?:på|til|fra) (?:tysk|engelsk|fransk|spansk|italiensk|svensk|dansk|finsk|norsk|latin|"
        r"japansk|nederlandsk|polsk)\b|\boversett\w*|\bhvor lang tid tar det\b"
        r"|\ber det (?:i ?dag|nå|(?:best|bra|farlig|sunt|greit) å)\b|\bi (?:verden|norge|sverige|europa)\b"
        r"|\bhva kan du\b|"
        r"\b(?:oppfunnet|oppdaget|grunnlagt|lansert|bygd|bygget|innført)\b|\bkom den første\b|\bbetyr\b"
        r"|\bforskjellen mellom\b|\ber det (?:sant|et kjent)\b|"
        r"\bærlig talt\b|\b(?:synes|syns|mener|tror)"
        r" du\b|\bgenerelt\b|\bhv(?:ordan|orfor) (?!jeg|vi|var\b|gikk|ble\b)\w+(?:r|s) (?!jeg\b|vi\b|du\b|det\b)\w+"
        r"|\bskal man\b"
    ),
)
