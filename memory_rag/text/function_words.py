"""The small words and the letters by which a language is told: one row a language, in lower case.

A word that several languages share counts for less in each, so rows of close languages are longer: there
the words that differ have to turn up in a few sentences. Words of one plain letter are left out: formulas
and code are full of them. Norwegian holds the common words of Bokmål and Nynorsk.
"""

from __future__ import annotations

from collections.abc import Mapping

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "ar": "في من على إلى أن هذا هذه التي الذي لا ما هو هي كان كانت مع عن لم أنا هل ولكن ثم أو قد كل بعد",
        "bg": "и в на се да за от е не са че как това но аз ти той тя ми си като по беше съм има още също "
        "или когато защо какво който която ще вече само много",
        "ca": "el la els les de que un una amb per és no em del al són però si ha molt més va també què "
        "hi jo meu meva ser perquè aquest aquesta estic tinc dels",
        "cs": "se na je že to jsem ale do jak co tak když nebo jsou má pro byl už jen mi si by za "
        "po která který jako jsme není také být",
        "da": "og at er det en til på som med for ikke jeg den har de der af et et du vi kan skal vil var "
        "men han hun mig dig sig hvad hvor når eller så om fra efter blev bliver nu meget noget nogle nogen "
        "også kun lige uden mellem mod måske op ud ind tilbage igen mit dit sit min din sin os jer vores "
        "hvis hvordan hvornår hvem havde være selv mere gerne altid aldrig endnu tak ved ja nej lidt "
        "uge siger sagde fik gik gå få må hedder synes godt dette disse her da findes hej have end "
        "gør gøre ugen hvilken hvilket",
        "de": "der die das und ist ich nicht ein eine einen zu mit auf für es sie wir du den dem von im sich "
        "auch als an wie aber bei so oder nach mir mich hat habe war wenn noch was kann",
        "el": "και το να η ο της του με για που δεν είναι από στο στην μου σε τα την τον ένα μια θα τι αλλά "
        "έχω ήταν πως αν όταν",
        "en": "the and of to in is it that for you was with on are as have be at this not but they had his "
        "from or what when an were we there can your which if will do how about my me so just re ll "
        "ve don didn",
        "eo": "la kaj de estas mi en ne al ĝi vi por ke kun li ŝi sed tio kiu pri estis oni ni ili pli ankaŭ "
        "el da kiel jes tre mia",
        "es": "el la los las de que en un una por con para es no se lo su al del me pero más como está fue "
        "muy yo mi qué cuando porque este esta hay también ya si tengo",
        "et": "ja ei on see et ma kui oli aga ta mis ka siis või olen mulle väga kas meie oma seda nii mida "
        "ole sa kes mind selle mul veel ning pole",
        "eu": "eta da ez dut bat du ere dira hau egin baina zen izan dago ni zer nik oso hori behar dela edo "
        "gara naiz zuen nire bezala duen ditu",
        "fa": "و در به از که این را با است برای آن یک خود تا هم می من بود شد نیست هست چه اما یا ما شما او ها",
        "fi": "ja on ei se että oli mutta hän kun niin minä mitä olen ovat myös kuin tai jos nyt sitten joka "
        "minun sen ole vain mun mä vielä kanssa voi missä koska jo",
        "fr": "le la les de des et un une est que qui dans en pour pas ne je il elle vous nous sur avec ce "
        "au du se plus mais ou mon ma ça suis était être fait comme sont cette",
        "ga": "agus an na go ar is le do bhí tá sé mé sí níl ag ach seo sin mar nach ba raibh siad leis "
        "gur chun nó bhfuil atá",
        "he": "של את על לא הוא היא זה אני עם כי גם מה אבל או יש אין היה כל אם הם איך אתה זאת רק כמו לי",
        "hi": "है के में की का और से को यह नहीं पर हैं कि मैं एक था भी तो क्या हो कर ने मेरे लिए वह आप थी",
        "hu": "az és hogy nem egy van is de meg ez azt csak volt ha már mint én el vagy nagyon még ki mi "
        "le fel lesz kell amit úgy most",
        "hy": "և է որ ես չի մեջ հետ են այս մի եմ իր նա էր բայց համար դու ինչ մենք ու թե կամ այն",
        "id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada saya ada ke bisa juga sudah kami "
        "anda atau karena mereka adalah saat lebih apa kita aku",
        "is": "og að er í á ekki sem ég það var við um en hann til hún með af þetta hvað þú eru hef eftir "
        "mér mig þeir fyrir hér svo kom",
        "it": "il la di che non è un una per in con sono mi ma si le dei del della al lo gli ho anche come "
        "più questo era se io ha nel alla cosa perché",
        "lt": "ir kad yra su iš į bet tai ne kaip aš jis ji apie buvo per tik labai man mes jau nuo už dar "
        "ar kas mano jie ką po",
        "nb": "og at er det en til på som med for ikke jeg den har de der av et ei du vi kan skal vil var "
        "men han hun meg deg seg hva hvor når eller så om fra etter ble blir nå mye noe noen også bare kun "
        "uten mellom mot kanskje opp ut inn tilbake igjen mitt ditt sitt min din sin oss dere vår våre hvis "
        "hvordan hvem hadde vært være selv mer gjerne alltid aldri ennå takk ved ja nei litt uke sier sa "
        "fikk gikk gå få må heter synes godt dette disse sånn her da finnes hei å ha enn gjør gjøre "
        "uken hvilken hvilket ikkje eg ein kva "
        "kvar korleis frå meir berre "
        "då sjå vart no ho dei også",
        "ne": "छ र को मा हो यो का लाई गर्न भएको छन् पनि म थियो के हामी तर गर्नु त्यो मेरो छैन बाट ले एक अनि",
        "nl": "de het een en van ik is dat niet in op te zijn met voor die er aan je maar om we ook wat als "
        "was mijn hij ze naar bij dan heb heeft nog uit wel geen deze",
        "pl": "na nie się to jest że do jak ale co tak mi po za ma już jego tylko by czy od dla są "
        "być był ja jestem przez oraz może bardzo",
        "pt": "os as de que do da em um uma para não com por eu se mais no na mas foi é me você isso "
        "está meu minha são muito como ao dos também ele ela já",
        "ro": "și de la în nu un cu că pe este sunt mai din pentru am ce care să ca dar lui au fi foarte "
        "dacă eu mi cum fost acest sau când mă",
        "ru": "и в не на я что он с как это по но они из у за то все так бы же от мне меня был для мы ты вы "
        "она о если уже или есть когда было очень где",
        "sr": "и је у да се на за од са није сам али што као ја су не би који то ће још само код био када "
        "je da se na za od sa nije sam ali što kao ja su ne bi koji ovo će još samo bio kada ili mi",
        "st": "ho ke le ka ba ya hore ha tsa la di mme sa bo wa ne eo tse ena bona empa re hae teng",
        "sv": "och att är det en till på som med för inte jag den har de av ett du vi kan ska vill var men "
        "han hon mig dig sig vad hur när där eller så om från efter blev blir nu mycket något några någon "
        "också bara utan mellan mot kanske upp ut in tillbaka igen mitt ditt sitt min din sin oss er vår "
        "våra vilka vem hade varit vara själv mer gärna alltid aldrig ännu tack vid ja nej lite vecka säger "
        "sa fick gick gå få måste heter tycker bra detta dessa då här finns hej ha än gör göra vilken vilket",
        "ta": "ஒரு என்று இது அது நான் இந்த மற்றும் என இல்லை உள்ள அந்த என்ன நீங்கள் ஆனால் அவர் உள்ளது மிகவும் எனக்கு",
        "tr": "ve bir bu için da de çok ne var ben ama mi daha gibi ile olarak değil kadar en sonra her "
        "olan şey yok mı bana benim nasıl oldu ki",
        "uk": "і в не на що я він з як це та за до але у від мені так бо ми ти ви вона є був було для якщо "
        "або вже дуже коли де щоб його",
        "yi": "און די איז אַ צו אין דער ניט פֿון האָט מיט דאָס איך ער זיך וואָס אויף נישט זי איר זיי אָבער מיר",
    }.items()
}

# Letters that few languages write; each occurrence of one is half a word of evidence, shared as words are.
TELLING_LETTERS: Mapping[str, str] = {
    "bg": "ъщ",
    "ca": "ŀçïèòàéíóú",
    "cs": "řěůščžýáíé",
    "da": "æøå",
    "de": "ßäöü",
    "eo": "ŝĝĉĵŭĥ",
    "es": "ñ¿¡áéíóú",
    "et": "õäöü",
    "fa": "گچپژیک",
    "fi": "äö",
    "fr": "êçèàùœîôûâëï",
    "ga": "áéíóú",
    "hu": "őűáéíóöúü",
    "is": "ðþæöáéíóúý",
    "it": "àèìòù",
    "lt": "ėųįūąęščž",
    "nb": "æøå",
    "pl": "łżźśćąęńó",
    "pt": "ãõçáéíóúâêô",
    "ro": "ășțâîşţ",
    "ru": "ыэщ",
    "sr": "ђјљњћџđčćšž",
    "sv": "åäö",
    "tr": "ığşçöü",
    "uk": "іїєґ",
}

# Spellings inside a word, or at its end (``$``), weighed like letters. Danish never doubles a last consonant:
# Norwegian "takk", Danish "tak"; and where Danish writes "vej" and "høj", Norwegian writes "vei" and "høy".
TELLING_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "da": ("ede$", "hed$", "ej", "øj", "tion", "gt$", "nd$", "ld$"),
    "de": ("ll$", "nn$", "mm$", "ss$", "tt$", "tion", "nd$", "ld$", "ei"),
    "en": ("ll$", "ss$", "tion", "nd$", "ld$", "ing$", "ght", "ei"),
    "fi": ("ei",),
    "fr": ("tion", "ei"),
    "is": ("gj", "kj", "ei"),
    "nb": ("kk$", "pp$", "tt$", "nn$", "ll$", "ss$", "gg$", "mm$", "het$", "sjon", "ei", "øy", "kj", "gj", "sj"),
    "sv": ("ck", "pp$", "tt$", "nn$", "ll$", "ss$", "gg$", "mm$", "het$", "tion", "nd$", "ld$", "ej", "sj"),
}
