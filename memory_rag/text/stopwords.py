"""Words too common to tell turns apart, by language: left out of the keyword index, question words included.

The lists are short on purpose: a word that is dropped can't be found by keyword, a word that is kept only costs idf.
"""

from __future__ import annotations

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": """
            a about after again all also am an and any are aren't as at be because been before being between
            both but by can can't could couldn't did didn't do does doesn't doing don't during each few for from
            further had hadn't has hasn't have haven't having he he'd he'll her here hers herself him himself
            his how i i'd i'll i'm i've if in into is isn't it it's its itself just let let's me more most my
            myself no nor not of off on once only or other our ours ourselves out over own same she she'd she'll
            should shouldn't so some such than that that's the their theirs them themselves then there there's
            these they they'd they'll they're they've this those through to too under until up upon us very was
            wasn't we we'd we'll we're we've were weren't what when where which while who whom whose why will
            with won't would wouldn't yes you you'd you'll you're you've your yours yourself yourselves""",
        "sv": """
            alla allt att av bara bli blir blivit blev både börja då de dem den denna deras dess det detta dig
            din dina dit ditt du där därför efter eftersom ej eller en er era ert ett från för före ganska ha
            hade han hans har haft henne hennes hit hon honom hur här i icke in innan inte ja jag ju kan kanske
            kunde man med mellan men mer mig min mina mitt mot mycket må när någon något några nej ni nog nu och
            ocksa också om oss på redan sedan sig sin sina sitt själv ska skall skulle som så sådan sådana till
            under upp ur ut utan vad var vara varför varit varje vars vart vem vems vi vid vilka vilken vilket
            vill ville vår våra vårt väl än ännu är åt över""",
        "nb": """
            alle alt at av bare ble blei bli blir blitt både da de dem den denne der deres derfor dersom dere
            det dette di din dine disse ditt du deg eg eit eller elles en enn er et etter ett for fordi fra før
            ha hadde ham han hans har henne hennes her hjå ho hun hva hvem hvilke hvilken hvilket hvis hvor
            hvordan hvorfor i ikke ikkje inn innen ja jeg kan korleis kun kunne kva kven man med meg mellom men
            mens mer mi min mine mitt mot mye må ned nei noe noen nok nå når og også om opp oss over på samme
            seg selv si sia siden sin sine sitt skal skulle slik som så sånn til um under ut uten var vart vere
            vi vil ville vår våre vært være å""",
        "da": """
            ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din dine disse
            dit dog du efter eller en end er et for fordi fra før ham han hans har havde have hende hendes her
            hos hun hvad hvem hver hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ja jeg jer jo kan kun
            kunne man mange med meget mellem men mere mig min mine mit mod må ned nej noget nogle nok nu når og
            også om op os over på sig sin sine sit skal skulle som sådan til ud uden under var vi vil ville vor
            vores være været""",
        "de": """
            aber alle allem allen aller alles als also am an auch auf aus bei bin bis bist da damit dann das
            dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort
            du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen hab habe haben hat
            hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre im in ins ist ja jede jedem jeden jeder
            jedes jetzt kann kein keine können könnte machen man mein meine mich mir mit muss nach nicht nichts
            noch nun nur ob oder ohne sehr sein seine selbst sich sie sind so soll sollte sondern sonst über um
            und uns unser unter viel vom von vor wann war waren warum was weg weil welche welcher wenn wer werde
            werden wie wieder will wir wird wo wollen wurde würde zu zum zur zwar zwischen""",
        "nl": """
            aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een en er
            ge geen haar had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je kan kon maar me meer
            men met mij mijn moet na naar niet niets nog nu of om omdat ons ook op over te tegen toch toen tot u
            uit uw van veel voor waarom wanneer want waren was wat we wel werd wezen wie wij wil worden zal ze
            zei zelf zich zij zijn zo zonder zou""",
        "fr": """
            ai aie as au aux avec avait avez avons c ce ces cet cette d dans de des du elle elles en es est et
            été étaient était êtes être eu eux il ils j je l la le les leur leurs lui m ma mais me même mes moi
            mon n ne nos notre nous on ont ou où par pas pour pourquoi qu quand que quel quelle quels qui s sa
            sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y à""",
        "es": """
            a al algo ante antes como con contra cual cuando cuándo de del desde donde dónde durante e el él
            ella ellas ellos en entre era es esa ese eso esta está este esto estos fue ha había han has hasta
            hay he la las le les lo los más me mi mí mis mucho muy nada ni no nos nosotros o os otra otro para
            pero poco por porque que qué quien quién se sea ser si sí sin sobre son soy su sus también tan te
            tengo ti tiene todo tu tú tus un una uno unos y ya yo""",
        "pt": """
            a ao aos as às com como da das de dela dele deles do dos e é ela elas ele eles em entre era essa
            esse esta está estar este eu foi for há isso isto já lhe mais mas me mesmo meu meus minha muito na
            não nas nem no nos nós num numa o os ou para pela pelo por porque quando que quem se sem ser seu
            seus só sua suas também te tem tenho ter teu tu tua um uma você vocês vos""",
        "it": """
            a agli ai al alla alle allo anche avere aveva c che chi ci come con contro cosa cui d da dagli dai
            dal dalla dei del della delle di dove e è ed era essere fa gli ha hai hanno ho i il in io l la le
            lei li lo loro lui ma mi mia mie miei mio ne negli nei nel nella noi non nostro o per perché più
            quale quando quella quello questa questo qui se sei si sia siamo sono sta su sua sue sui sul sulla
            suo suoi ti tra tu tua tuo tutti tutto un una uno vi voi""",
        "fi": """
            ei en et he hän hänen ja jo joka jos joka kanssa ken keneen kuin kuka kun me mikä milloin missä mitä
            mihin minä minua minun mutta myös ne niin no nyt nämä on olen oli olla ovat se sen sinä sinun sitä
            te tämä tai tuo vai vain voi""",
        "ru": """
            а без бы был была были было быть в вам вас весь во вот все всё вы где да для до его ее её если есть
            еще ещё же за здесь и из или им их к как какая какой когда кто ли мне мой моя мы на над нас наш не
            него нет ни них но ну о об он она они оно от по под при с сам себя со так такой там то того тоже той
            только том ты у уже чего чем что чтобы это этот я""",
    }.items()
}
"""Language code to its stop words, casefolded and composed (NFC)."""
