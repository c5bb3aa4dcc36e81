"""How people ask for what was said before, and for something else, in English."""

from __future__ import annotations

from typing import Final

from memory_rag.prompt.asking_words import Ways

_SAID: Final = (
    r"told|said|mentioned|asked|talked|spoke|discussed|decided|agreed|settled|promised|described|wrote|written|gave|"
    r"given|showed|shown|suggested|recommended|called|planned|picked|chose|chosen|went (?:with|for)|ended up|landed on|"
    r"ruled out|worked out|came up with|explained|listed|complained|shared|sent|noted|brought up|went through|"
    r"gone through|been through|covered|drafted|proposed|advised|quoted|claimed|liked|hated|loved"
)
ENGLISH: Final = Ways(
    between_us=(
        r"\b(?:did|had|didn't|hadn't) (?:i|we|you)\b(?! (?:know|see|hear|sleep)\b)"
        r"|\b(?:have|haven't|has) (?:i|we)\b|\bhave you (?:already |not )?(?:told|said|suggested|got (?:my|the|our))\b"
        rf"|\b(?:i|we|you)(?:'ve|'d| have| had)?(?: (?:once|already|first|last|just|really|even|ever|also|never|both))?"
        rf" (?:{_SAID})\b(?! (?:you )?so\b)(?! myself\b)"
        r"|\b(?:our|my|your) (?:last|previous|earlier|first|exact|own|original|past|old) \w+"
        r"|\b(?:my|your|our) (?:words?|wording|phrasing|advice|suggestions?|recommendations?|notes|plan|decision|"
        r"reasons?|reasoning)\b"
        r"|\byou(?:'d)?(?: still| already| do)? know (?:who|what|where|when|which|how|that|about) (?:my|i|we|our|he|"
        r"she)"
        r"|\b(?:i|we|you) did (?:tell|say|mention|ask|talk|discuss|decide|agree|promise|write|give|suggest|recommend)\b"
        r"|\baccording to you\b|\bquote me\b|\b(?:our|these|those|past|previous|earlier|old) (?:chats?|conversations?|"
        r"talks?|sessions?)\b"
        r"|\bword for word\b|\bverbatim\b|\blast time\b(?! it\b)|\bthe other day\b|\b(?:so|this) far this\b"
    ),
    recalls=(
        r"\bremind me\b(?! (?:to|at|in|on|tomorrow|tonight|every|when)\b)|\b(?:do|can|don't|did) you (?:still |"
        r"even )?"
        r"(?:remember|recall|know (?:who|what|where|when|which) (?:my|i|we|our))\b|\b(?:refresh|jog) (?:my memory|me)\b"
        r"|\bblanking on\b|\bhelp me (?:to )?remember\b|\b(?:fill|catch) me (?:in|up)\b"
        r"|\bi seem to (?:recall|remember)\b"
        r"|\b(?:weren't|wasn't|aren't|isn't) (?:i|we)\b"
        r"|\bi(?:'ve)? (?:forgot|forget|forgotten|can't remember|don't remember|can't recall|don't recall)\b"
        r"|\bi've lost (?:it|track)\b|\b(?:run|walk|take|talk) me through (?:what|our|the|my)\b"
        r"|\b(?:was|were) (?:\w+ ){1,4}(?:supposed|meant) to\b|\bgo over (?:what|our|my)\b"
        r"|\bwhat was it (?:about|with|that)\b|\bsum(?:mari[sz]e| up) (?:what|our|"
        r"everything) "
        r"(?:i|we|you)\b|\bwhere (?:do )?we (?:are|stand)\b|\bup to (?:speed|date) (?:on|with)\b"
        r"|\b(?:list|name|show me|give me) (?:everything|all|every)\b.{0,40}\b(?:i|we|my|our|i've|we've)\b"
        r"|^(?:all|every) (?:the )?\w+ (?:that )?(?:i|we)\b"
    ),
    once_more=r"\b(?:again|once more)\W*$",
    resumes=(
        r"(?<!where you )\b(?:left|leave|leaving) (?:it |things )?off\b|\bwhere (?:were|are) we\b"
        r"|\bback to (?:the|our|my|that)\b"
        r"|\b(?:carry|go|let's go|move) on with (?:the|our|my)\b|\bpick(?:ing)? (?:it |"
        r"this )?(?:back )?up\b(?! where you\b)"
        r"|\bsame (?:\w+ ){0,3}(?:as|like) (?:before|last|always|usual|the)\b|\bas (?:before|last time)\b"
        r"|\blike (?:last time|before|the (?:other|last|previous))\b|\b(?:any )?(?:news|updates?) on (?:the|that|my|"
        r"our)\b"
        r"|\bcontinue (?:with |where )?(?:the|our|my|we|i)\b|\bstill (?:needs?|needed|left|open|missing|unsolved)\b"
    ),
    asks=(
        r"(?:who|whom|whose|what|what's|whats|which|when|when's|where|where's|why|since when|how (?:many|much|long|old|"
        r"often|far|big|tall|soon)|how (?:did|was|were|have|had|come))\b"
    ),
    whether=r"(?:would|will|is|are|does|do|can|could|should|may|am|has|have|was|were|did|shall)\b",
    past=r"\b(?:was|were|did|had|'d|how come)\b",
    mine=r"\b(?:my|our|mine|ours)\b",
    definite=r"\b(?:the|that|those|these)\b",
    settles=(
        r"\b(?:decide|settle|agree|choose|pick|end up|go(?:ing)? (?:with|for)|rule out|plump|opt|final (?:call|choice|"
        r"decision|version|name)|reason for)\b"
    ),
    settled=r"(?:was|were|is|are) (?:it|that|the)\b.* or .*\b(?:i|we)\b|was it .* in the end\b",
    thing=(
        r"(?!.*\b(?:is|are|has|have|can|will|was|or|that)\b)the (?:\w+ )?\w+ (?:for|to|of|on|in|at|"
        r"from)\b[^,.?]{1,40}\?\W*$"
    ),
    suits=(
        r"\b(?:can|could|should|may) (?:i|we) (?:eat|have|drink|take|order|afford|bring|wear|serve|still|make it)\b"
        r"|\b(?:clash|conflict|suit|fit|work|okay|ok|safe|fine|go|good)\b.{0,30}\b(?:me|us|my|our|i've|we've|with)\b"
        r"|\b(?:i've|we've|i have|we have) (?:got )?(?:on|planned|booked|left)\b"
        r"|\b(?:am|are) (?:i|we) (?:free|busy|away|allowed|due|on track)\b|\b(?:do|did|will|would) (?:i|we) (?:have|"
        r"need|manage|"
        r"make it|fit|get)\b|\b(?:should|shall|could) (?:i|we) (?:get|give|buy|cook|make|bring|wear|order|serve)\b"
    ),
    usual=r"\b(?:do|have) (?:i|we) (?:usually|normally|always|tend|typically)\b|\bmy usual\b",
    known_people=(
        r"\bthe (?:kids|children|guests|team|boss|neighbours?|neighbors?|family|boys|girls|twins|in-laws|wedding|party|"
        r"others|class|band|crew|baby|dog|cat|puppy|missus|wife|husband)\b"
        r"|\b(?:for|with|like) (?:me|us|him|her|them)\b|\b(?:him|her)\b"
    ),
    makes=(
        r"(?:please |can you |could you |would you )?(?:help me (?:to )?)?(?:write|phrase|word|draft|make|give me|"
        r"create|generate|compose|come up with|"
        r"think of|invent|suggest|design|put together|fix|rewrite|rephrase|translate|convert|format|calculate|turn|"
        r"shorten|proofread|plan|explain|tell me (?:a|about)|show me (?:a|how)|name|list (?:the|ten|five|three|some|all"
        r" the))\b"
    ),
    how_to=r"\bhow (?:do|can|could|should|would|to|does) (?!i (?:feel|like|usually|normally|take)\b)(?:i|you|we|one|"
    r"people|someone)?\b|\bwhat's the best way\b",
    just_now=(
        r"\bjust (?:now|say|tell|said|wrote|told|gave|listed|mentioned)\b|\b(?:that|the) last (?:bit|part|one|"
        r"point|sentence|"
        r"line|"
        r"paragraph|thing|answer|reply|step)\b|\b(?:say|repeat|read) that (?:again|back)\b|\babove\b"
        r"|\bwhat (?:do|did) you mean\b|\b(?:that|the) (?:first|second|third|fourth) (?:point|one|step|option|bit)\b"
        r"|\byour (?:last|previous) (?:answer|reply|message|point|sentence|sentences)\b|\ba (?:second|minute|"
        r"moment) ago\b"
    ),
    thanks=(
        r"\b(?:thanks|thank you|thx|ty|cheers|ta|much appreciated|appreciate it|perfect|great|brilliant|lovely|awesome|"
        r"got it|makes sense|you're (?:the best|a \w+)|well done|nice one|sorted)\b"
    ),
    greets=(
        r"^(?:hi|hello|hey|hiya|morning|good (?:morning|evening|afternoon|night)|night|bye|goodbye|see you|talk soon|"
        r"happy \w+|merry \w+|welcome|right, i'm off)\b"
    ),
    goes_on=(
        r"^(?:(?:and|ok|okay|yes|yep|please|now|so),? )*(?:continue|go on|more|keep going|carry on|next|"
        r"another(?: one)?|"
        r"one more|yes|no|ok|okay|sure|shorter|longer|again)\b"
    ),
    from_now=r"^(?:from now on|going forward|in future|always|never)\b",
    notes=(
        r"(?:(?:please|just),? )*(?:remember|note|make a note|write down|save|log|add|keep in mind)\b[^?:]{0,40}?"
        r"(?:\bthat (?:i|we|my|our|i've|we've|i'm|we're)\b|:)"
    ),
    content=r"\b(?:where|that|about how|how) (?:i|we)\b(?: \w+)?",
    general=(
        r"\bdifference between\b|\b(?:in|into|from) (?:german|french|spanish|italian|swedish|norwegian|danish|english|"
        r"finnish|dutch|latin|japanese)\b|\btranslat\w+|\bhow do(?:es)? (?!i\b|we\b|my\b)\w+|\bdo (?:people|"
        r"you think|most|all|cats|dogs)\b"
        r"|\bhow long does it take\b|\bwhat can you\b|\b(?:any idea|is it true|in general|worth it)\b"
        r"|\b(?:do you think|your (?:opinion|take|view)|honestly)\b"
    ),
)
