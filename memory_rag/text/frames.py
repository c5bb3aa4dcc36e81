"""The words of a question that are about asking ("can you walk me through"), told from what is asked.

A frame finds the wrong turns: its "order", "list" and "conversations" are words like any other to the keyword index,
and they move the question's vector. What is left is for retrieval only; who said it and when is read from the whole
question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from typing import Final


@dataclass(frozen=True, slots=True)
class _Frame:
    """A language's ways to ask, as patterns.

    ``request`` asks the assistant to speak, ``limit`` says how many things to name, ``order`` in which order, ``talk``
    is where it was said, ``saying`` that it was said, ``summary`` what to make of it, ``aspects`` a word for anything
    it has to do with, and ``course`` the time that it took. The last two are of :func:`matter_of` alone: ``progress``
    asks how a matter stands ("how is it going with"), ``outcome`` what was settled in it ("what did we agree on"). What
    stands inside a frame and stays is its group ``kept``.
    """

    request: str
    limit: str
    order: str
    talk: str
    saying: str
    summary: str
    aspects: str
    course: str
    progress: str
    outcome: str


# A verb that has another sense too is about asking only with what tells so: one raises a point, and carrots; one takes
# up a matter in a talk, and potatoes from the ground. What was said to somebody else is no word about asking either.
_EN_SAY: Final = (
    "mentioned|mention|discussed|discuss|talked about|talk about|said|say|told you|tell you|asked about|ask about"
)
_EN_TELL: Final = r"(?:described|describe|outlined|outline)\b(?! as\b| to (?:the|my|our|her|him|them|an?)\b)"
_EN_ALSO: Final = "brought up|bring up|raised|raise|shared|share"
_EN_TOLD: Final = (
    r"(?= (?:about|regarding|concerning|with you|to you|with me|(?:throughout|across|over|during|in) (?:all (?:of )?)?"
    r"(?:our|these|those)|(?:the )?(?:different|various|several) (?:aspects|topics|things|parts|elements|concepts|"
    r"details|points))\b)"
)
_ENGLISH: Final = _Frame(
    request=(
        r"(?:can|could|would|will|do) you (?:please |also |just )?(?:list|tell|give|show|walk(?= (?:me|us)\b)|remind|"
        r"summari[sz]e|provide|help|explain|describe|recall|remember|outline)\b(?: me\b)?(?: through\b)?(?: with\b)?"
        r"(?: understand\b)?|(?:please )?(?:tell|remind|give|show) me"
    ),
    limit=r"mention only(?: and only)? [\w-]+ (?:items?|things?|points?)",
    order=(
        rf"the order in which(?: (?:i|we|you) (?:have |had )?(?:{_EN_ALSO}))?|"
        r"in (?:which|what|chronological|the right|the correct) order|"
        r"in order(?=\s*(?:[?.,;]|\Z))"
    ),
    talk=(
        r"(?:throughout|across|over|during|in|from|based on) (?:all (?:of )?)?"
        r"(?:(?:our|these|those)(?: recent| past| previous| entire| whole| different)? (?:conversation|chat|discussion|"
        r"session|talk|message|request|question|exchange)s?"
        r"|my(?: recent| past| previous| different)? (?:conversations?|chats?|discussions|messages|requests|questions|"
        r"sessions)"
        r"(?! (?:with|to|from|by) (?!you\b))"
        r"|the(?: recent| past| previous| entire| whole| different)? (?:conversations?|chats?|discussions?)"
        r"(?! (?:with|between|at|from|by) (?!you\b)))"
    ),
    saying=(
        rf"(?:that |which )?(?:did |have |had )?(?:i|we|you) (?:have |had |ever )?"
        rf"(?:(?:{_EN_SAY})(?! (?:with|to) (?!you\b|me\b|us\b))|{_EN_TELL}|(?:{_EN_ALSO}){_EN_TOLD})"
    ),
    summary=(
        r"(?:an? |the )?(?:(?:clear|comprehensive|complete|brief|short|detailed|full|thorough|concise|quick) ){0,3}"
        r"(?:summary|overview|recap) of\b(?: (?:how|what|everything)\b)?|summari[sz]e\b(?: (?:how|what)\b)?"
    ),
    aspects=(
        r"(?:the )?(?:different|various|several) (?:aspects|topics|things|parts|elements|concepts|details|points)\b"
        r"(?: (?:of|about|related to|around|in)\b)?"
    ),
    course=r"(?:(?:has |have |had )?(?:developed|evolved|progressed|changed) )?over time",
    progress=(
        r"how(?:'s| is| are| was| were| has| have| did| does) (?:it|things|everything|that)"
        r"(?: been)?(?: go| gone| going| coming along| looking| stand)? with\b"
        r"|how(?:'s| is| are|'re| was| were| has| have| did) (?P<kept>[^?.!,;:]{1,80}?)(?: been)? "
        r"(?:going|coming (?:along|on)|progressing|shaping up|go|turn out|work out)(?=\s*(?:[?.!]|\Z))"
        r"|how far (?:along )?(?:are|have|had|did) (?:we|i) (?:got|gotten|get|come) with|where (?:are|were) we with"
        r"|what (?:came|became|has become|happened) (?:of|to|with)"
        r"|(?:is there )?any (?:news|progress|updates?) (?:on|with|about)"
    ),
    outcome=(
        r"(?:what |where )?(?:did|have|had) (?:i|we|you and i) (?:finally |eventually |ever |already |both )?"
        r"(?:decided?|agreed?|concluded?|(?:settled?|land(?:ed)?)(?= on\b)|end(?:ed)? up(?= (?:with|\w+ing)\b)|"
        r"come to (?:an agreement|a decision))"
        r"(?: (?:on|upon|about|regarding|concerning|with|over)\b)?"
    ),
)

_SV_WITH_US: Final = r"(?! (?:till|för|med) (?!(?:dig|dej|mig|mej|oss)\b))"
_SV_ABOUT: Final = r"(?= (?:(?:med )?(?:dig|dej|mig|mej)\b|om\b|(?:i|under) (?:våra?|vårt|de här)\b|olika\b))"
_SV_SAY: Final = (
    rf"(?:sade|sa|nämnde|berättade|diskuterade|beskrev|sagt|nämnt|berättat|diskuterat|beskrivit)\b{_SV_WITH_US}"
    rf"|(?:pratade|talade|frågade|pratat|talat|frågat|tog upp|tagit upp)\b{_SV_ABOUT}"
)
_SV_ASKED: Final = (
    rf"(?:sade|sa|nämnde|berättade|diskuterade|beskrev) (?:jag|vi|du)(?: någonsin| tidigare)?\b{_SV_WITH_US}"
    rf"|(?:pratade|talade|frågade) (?:jag|vi|du)(?: någonsin| tidigare)?\b{_SV_ABOUT}"
    rf"|tog (?:jag|vi|du)(?: någonsin| tidigare)? upp\b{_SV_ABOUT}"
)
_SV_TO: Final = r"(?: (?:för|till) (?:dig|dej|mig|mej)\b)?(?: om\b)?(?: (?:för|till|med) (?:dig|dej|mig|mej)\b)?"
_SWEDISH: Final = _Frame(
    request=(
        r"(?:kan|kunde|skulle|vill) du (?:snälla |vänligen |också |bara |kanske |kunna |vilja ){0,3}"
        r"(?:lista|räkna upp|rada upp|berätta|tala om|säga|visa|ge|påminna|sammanfatta|hjälpa|förklara|beskriva|"
        r"återge|redogöra för|gå igenom|repetera|minnas|(?:ta|guida|leda)(?= (?:mig|mej|oss) (?:i?genom)\b))\b"
        r"(?: (?:för )?(?:mig|mej|oss)\b)?(?: i?genom\b)?(?: med\b| om\b)?(?: att (?:förstå|minnas|komma ihåg)\b)?"
        r"|(?:snälla |vänligen )?(?:berätta|säg|visa|ge|påminn|förklara|beskriv)(?: för)? (?:mig|mej|oss)\b(?: om\b)?"
        r"|minns du|kommer du ihåg"
    ),
    limit=(
        r"(?:nämn|ange|ta med) (?:bara|endast|enbart)(?: och (?:bara|endast|enbart))? [\w-]+ "
        r"(?:saker|punkter|ämnen)|ta bara med [\w-]+ (?:saker|punkter|ämnen)"
    ),
    order=(
        r"(?:(?:lista|räkna upp) )?i (?:vilken|kronologisk|rätt|den) (?:tids)?(?:ordningsföljd|ordning|följd)"
        r"(?: som\b)?|(?:lista )?(?:den )?ordning(?:en|sföljden)? (?:som|i vilken)|"
        r"i (?:tur och ordning|turordning|tidsordning|ordning(?=\s*(?:[?.,;]|\Z)))"
    ),
    talk=(
        r"(?:i|under|genom|över|från|ur|utifrån) (?:alla |hela |samtliga )?(?:våra?|vårt|mina?|mitt|dessa|de här|alla)"
        r"(?: tidigare| senaste| olika)? (?:samtal|konversation(?:er)?|chatt(?:ar)?|diskussion(?:er)?|"
        r"meddelanden?|dialog(?:er)?|frågor)(?:s gång)?"
        r"|(?:i|under|genom|över|från|ur|utifrån) (?:alla |hela |samtliga )?(?:de )?(?:tidigare |senaste |olika )?"
        r"(?:samtal|konversation|chatt|diskussion|meddelande|dialog)(?:erna|arna|ens?|ets?|na|t)(?: gång)?"
    ),
    saying=(
        rf"(?:vad )?var det (?:som )?(?:jag|vi|du) (?:{_SV_SAY})\b{_SV_TO}"
        rf"|(?:som |att )?(?:(?:har|hade) )?(?:jag|vi|du) (?:(?:har|hade|någonsin|tidigare) ){{0,2}}(?:{_SV_SAY})\b"
        rf"{_SV_TO}|(?:{_SV_ASKED}){_SV_TO}"
    ),
    summary=(
        r"(?:(?:ge|skriv|gör) )?(?:en )?"
        r"(?:(?:tydlig|kort|kortfattad|fullständig|utförlig|heltäckande|komplett|detaljerad|noggrann|"
        r"omfattande|samlad|övergripande) (?:och )?){0,3}(?:sammanfattning|översikt|överblick)(?:en)? "
        r"(?:av|över|om|på)\b(?: (?:hur|vad|allt)\b)?|sammanfatta\b(?: för (?:mig|mej)\b)?(?: (?:hur|vad|allt)\b)?"
    ),
    aspects=(
        r"(?:de |dom )?(?:olika|flera|skilda) (?:aspekter|ämnen|saker|delar|element|begrepp|detaljer|punkter|sidor)"
        r"(?:na|a|en)?\b(?: (?:av|om|kring|inom|i|med|som rör)\b)?"
    ),
    course=(
        r"(?:(?:har |hade )?(?:utvecklats|förändrats|ändrats|utvecklades|förändrades|ändrades) )?"
        r"(?:över tiden|över tid|med tiden)"
    ),
    progress=(
        r"hur (?:går|gick|blev|blir|är|var|står|ser|såg|ligger|har|hade) (?:det|allt|allting|läget)"
        r"(?: nu| nu då| egentligen| hittills)?(?: gått| blivit| varit| ut| till)? (?:med|för)\b(?: att\b)?"
        r"|hur långt (?:har|hade|kom) (?:jag|vi)(?: kommit)? med\b(?: att\b)?"
        r"|vad (?:hände|händer|har hänt|blev det|blir det)(?: egentligen)? (?:med|av)\b"
        r"|vad var det(?: nu)? (?:som )?(?:jag|vi) (?:skulle|behövde|måste|tänkte|borde)"
    ),
    outcome=(
        r"(?:vad )?(?:(?:kom|har|hade) (?:jag|vi|du)(?: kommit)? (?:fram till|överens om)"
        r"|(?:blev|var|är) vi (?:eniga|ense|överens) om|enades vi om|(?<=vad )landade (?:jag|vi) (?:i|på)"
        r"|bestämde (?:jag mig|vi oss) för|bestämde (?:jag|vi)|(?:har|hade) (?:jag|vi) bestämt(?: (?:mig|oss) för)?)\b"
        r"(?: (?:om|angående|gällande|kring|i fråga om|när det gäller|när det gällde|vad gäller)\b)?(?: att\b)?"
    ),
)

_NB_WITH_US: Final = r"(?! (?:til|for|med) (?!(?:deg|meg|oss)\b))"
_NB_ABOUT: Final = r"(?= (?:(?:med )?(?:deg|meg)\b|om\b|i (?:våre?|vårt|samtalene)\b|i løpet av\b|ulike\b))"
_NB_SAY: Final = (
    rf"(?:sa|nevnte|diskuterte|beskrev|sagt|nevnt|diskutert|beskrevet)\b{_NB_WITH_US}"
    rf"|(?:fortalte|snakket|snakka|pratet|prata|spurte|fortalt|spurt|tok opp|tatt opp)\b{_NB_ABOUT}"
)
_NB_ASKED: Final = (
    rf"(?:sa|nevnte|diskuterte|beskrev) (?:jeg|vi|du)(?: noen gang| tidligere)?\b{_NB_WITH_US}"
    rf"|(?:fortalte|snakket|snakka|pratet|prata|spurte) (?:jeg|vi|du)(?: noen gang| tidligere)?\b{_NB_ABOUT}"
    rf"|tok (?:jeg|vi|du)(?: noen gang| tidligere)? opp\b{_NB_ABOUT}"
)
_NB_TO: Final = r"(?: (?:til )?(?:deg|meg)\b)?(?: om\b)?(?: (?:til |med )?(?:deg|meg)\b)?"
_NORWEGIAN: Final = _Frame(
    request=(
        r"(?:kan|kunne|vil|ville|skulle) du (?:være så snill (?:å|og) |vennligst |også |bare |kanskje |gjerne ){0,3}"
        r"(?:liste(?: opp)?|ramse opp|fortelle|si|vise|gi|minne|oppsummere|hjelpe|forklare|beskrive|gjengi|huske|"
        r"fortalt|sagt|vist|gitt|minnet|oppsummert|hjulpet|forklart|beskrevet|"
        r"gjøre rede for|gå i?gjennom|(?:ta|lede)(?= (?:meg|oss) i?gjennom\b))\b"
        r"(?: (?:til |for )?(?:meg|oss)\b)?(?: i?gjennom\b)?(?: med\b| om\b| på\b)?(?: å (?:forstå|huske)\b)?"
        r"|(?:vennligst )?(?:fortell|si|vis|gi|minn|forklar|beskriv)(?: til| for)? (?:meg|oss)\b(?: om\b| på\b)?"
        r"|husker du"
    ),
    limit=(
        r"(?:nevn|ta med) (?:bare|kun)(?: og (?:bare|kun))? [\w-]+ (?:ting|punkter|temaer|emner)"
        r"|ta bare med [\w-]+ (?:ting|punkter|temaer|emner)"
    ),
    order=(
        r"(?:list(?: opp)? )?i (?:hvilken|kronologisk|riktig|rett|den) rekkefølgen?(?: som\b)?|"
        r"(?:list opp )?(?:den )?rekkefølgen(?: som| i hvilken)?(?= (?:jeg|vi|du)\b)|"
        r"i rekkefølge(?=\s*(?:[?.,;]|\Z))"
    ),
    talk=(
        r"(?:i løpet av|på tvers av|ut fra|basert på|i|under|gjennom|over|fra) (?:alle |hele |samtlige )?"
        r"(?:(?:våre?|vårt|mine?|mitt|disse|alle)(?: tidligere| siste| ulike)? "
        r"(?:samtaler?|chatter|chat|diskusjon(?:er)?|melding(?:er)?|dialog(?:er)?|spørsmål)"
        r"|(?:de )?(?:tidligere |siste |ulike )?(?:samtale|chatt?|diskusjon|melding|dialog)(?:ene|en|ne|n)"
        r"(?: (?:våre?|mine?))?)"
    ),
    saying=(
        rf"(?:hva )?var det (?:som )?(?:jeg|vi|du) (?:{_NB_SAY})\b{_NB_TO}"
        rf"|(?:som |at )?(?:(?:har|hadde) )?(?:jeg|vi|du) (?:(?:har|hadde|noen gang|tidligere) ){{0,2}}(?:{_NB_SAY})\b"
        rf"{_NB_TO}|(?:{_NB_ASKED}){_NB_TO}"
    ),
    summary=(
        r"(?:(?:gi|skriv|lag) )?(?:en |et )?"
        r"(?:(?:tydelig|kort|fullstendig|utførlig|grundig|komplett|detaljert|omfattende|samlet|"
        r"overordnet) (?:og )?){0,3}(?:oppsummering|sammendrag|oversikt|sammenfatning)(?:en|et)? "
        r"(?:av|over|om|på)\b(?: (?:hvordan|hva|alt)\b)?|(?:oppsummer|sammenfatt)\b(?: for meg\b)?"
        r"(?: (?:hvordan|hva|alt)\b)?"
    ),
    aspects=(
        r"(?:de )?(?:ulike|forskjellige|flere) "
        r"(?:aspekte(?:r|ne)|tema(?:er|ene)?|emne(?:r|ne)|ting(?:ene)?|dele(?:r|ne)|element(?:er|ene)|begrep(?:er|ene)?|"
        r"detalje(?:r|ne)|punkt(?:er|ene)|side(?:r|ne))\b(?: (?:av|om|rundt|innen|i|ved|som gjelder)\b)?"
    ),
    course=r"(?:(?:har |hadde )?(?:utviklet|forandret|endret) seg )?(?:over tid|med tiden)",
    progress=(
        r"hvordan (?:går|gikk|ble|blir|er|var|står|ser|så|ligger|har|hadde) (?:det|alt|ting)"
        r"(?: nå| nå da| egentlig| så langt)?(?: gått| blitt| vært| ut| til| an)? (?:med|for)\b(?: å\b)?"
        r"|hvor langt (?:har|hadde|kom) (?:jeg|vi)(?: kommet)? med\b(?: å\b)?"
        r"|hva (?:skjedde|skjer|har skjedd|ble det|blir det)(?: egentlig)? (?:med|av)\b"
        r"|hva var det(?: nå)? (?:som )?(?:jeg|vi) (?:skulle|måtte|trengte|burde|tenkte)(?: å\b)?"
    ),
    outcome=(
        r"(?:hva )?(?:(?:kom|har|hadde) (?:jeg|vi|du)(?: kommet)? (?:fram|frem) til"
        r"|(?:ble|var|er) vi (?:enige|samde) om|(?<=hva )landet (?:jeg|vi) på|konkluderte (?:jeg|vi) med"
        r"|bestemte (?:jeg meg|vi oss) for|bestemte (?:jeg|vi)|(?:har|hadde) (?:jeg|vi) bestemt(?: (?:meg|oss) for)?)\b"
        r"(?: (?:om|angående|rundt|når det gjelder|når det gjaldt)\b)?(?: (?:at|å)\b)?"
    ),
)

_OF_MATTER: Final = 2
"""The last ways of a frame, of what a question is about."""
_FRAMES: Final[Mapping[str, _Frame]] = {"en": _ENGLISH, "sv": _SWEDISH, "nb": _NORWEGIAN}


@lru_cache(maxsize=64)
def without_frame(text: str, *, language: str) -> str:
    """Return a question without the words that are about asking: "Can you tell me when Anna came?", "when Anna came?".

    White space and commas are tidied where something was cut, and nowhere else. The text itself comes back when it has
    no frame, or in a language without known ones; the empty text when it is nothing but frame.
    """
    return _cut(text, _pattern(language, matter=False))


@lru_cache(maxsize=64)
def matter_of(text: str, *, language: str) -> str:
    """Return what a question is about alone: "How is it going with the maths?", "the maths?".

    That is :func:`without_frame` without the words for how the matter stands or what came of it, too. They are words
    to the keyword index that wrong turns hold; to a model they say that something is asked, and of what kind: a
    question of one word is less near the turn that answers it than the whole one, and nearer a list of subjects.
    """
    return _cut(text, _pattern(language, matter=True))


def _cut(text: str, pattern: re.Pattern[str] | None) -> str:
    if pattern is None:
        return text
    kept: list[str] = []
    end = 0
    for frame in pattern.finditer(text.replace("\u2019", "'")):
        kept.append(text[end : frame.start()])
        if frame.groupdict().get("kept"):
            kept.append(text[slice(*frame.span("kept"))])
        end = frame.end()
    if not kept:
        return text
    kept.append(text[end:])
    return _joined(kept)


@cache
def _pattern(language: str, *, matter: bool) -> re.Pattern[str] | None:
    frame = _FRAMES.get(language)
    if frame is None:
        return None
    ways = astuple(frame) if matter else astuple(frame)[:-_OF_MATTER]
    return re.compile(rf"\b(?:{'|'.join(ways)})\b", re.IGNORECASE)


_BREAKS: Final = ",;:.?!"
_STOPS: Final = (".", "?", "!")


def _joined(kept: list[str]) -> str:
    """Join what stood around the cuts: a space between words, none before a point, no comma left on its own."""
    joined: list[str] = []
    last = len(kept) - 1
    for number, part in enumerate(kept):
        if number > 0:
            part = part.lstrip()
        if number < last:
            part = part.rstrip()
        if number > 0 and (not joined or joined[-1].endswith(_STOPS)):
            part = part.lstrip(f" {_BREAKS}")
        if joined and part.startswith(tuple(_BREAKS)):
            joined[-1] = joined[-1].rstrip(",;")
        elif joined and part:
            joined.append(" ")
        if part:
            joined.append(part)
    if joined and not kept[last]:
        joined[-1] = joined[-1].rstrip(" ,;")
    return "".join(joined)
