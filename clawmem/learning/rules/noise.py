"""Remove noise from a clause, and recognise clauses that are not worth reading."""

from __future__ import annotations

import re

from clawmem.learning.english.sentences import TextSpan, sub_span
from clawmem.learning.english.words import FEELING, POINTING, SECOND_PERSON, UNREAL

_HEAD = re.compile(
    r"(?:(?:hey|hi|hello|hiya|yeah|yea|yep|yup|yes|no|nope|nah|oh|ah|aw+|wow|whoa|woah|well|so|ok|okay|"
    r"thanks(?: so much| a lot| a bunch)?|"
    r"thank you(?: so much)?|thx|cool|awesome|great|nice|sweet|sure(?: thing)?|definitely|absolutely|totally|"
    r"of course|btw|by the way|anyway|anyways|"
    r"actually|correction|honestly|also|plus|and|but|or|fun fact|guess what|for sure|haha|hmm+|woohoo|"
    r"congrats|sorry|yay|true|right|exactly|"
    r"same here|me too|on a different note|speaking of \w+|in the meantime|meanwhile|as for me|unfortunately|luckily|"
    r"fortunately|sadly|then|however|in fact|to be honest|tbh|(?:great|good|big|bad|sad|exciting|some|awesome|"
    r"amazing) news|news|"
    r"update|quick update|fyi|ps|oops|wait|no worries|i mean|you know|at first|overall|basically|now|"
    r"please note that|note that|it turns out(?: that)?|turns out|as you know|glad to hear|man|dude|agreed|"
    r"indeed|i know|"
    r"long story short|believe it or not|for example|first|second|additionally|furthermore|moreover|lastly|"
    r"in addition|"
    r"(?:last but not )?least|that's (?:right|true)|"
    r"(?:that(?:'s| is| was) (?:wrong|not (?:right|correct|true|quite right)|incorrect|a (?:mistake|typo)))|"
    r"my (?:mistake|bad)|scratch that|i misspoke|i was wrong|(?:let me|to) correct (?:that|myself)|"
    r"you(?:'re| are) right|got it|good point|no problem|as i said|"
    r"on (?:the|a) (?:bright|brighter|plus|other) side|on another note|besides(?: that)?|apart from that|"
    r"other than that|on top of that|since (?:we|i) last (?:spoke|talked|"
    r"chatted|met)|"
    r"since our last (?:chat|talk|conversation)|since then|for now|these days|nowadays|at the moment|right now)"
    r"(?:[,!.:;~-]+\s*|\s+(?=I\b|I'|[Ww]e\b|[Ww]e'|[Mm]y\b|the\b)))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:(?:hey|hi|hello|yeah|yep|yup|yes|no|oh|wow|thanks|well|sure|so|totally|"
    r"definitely) )?[A-Z][a-z]{1,12}[,!]\s+(?=\S)"
)
_TAIL = re.compile(
    r"(?: (?:too|as well|though|even|for (?:example|instance)|to celebrate|lol|haha+|btw|by the way|you know|"
    r"for sure|in fact|yay|right|now|so far|"
    r"and stuff|and all|and everything|"
    r"thanks|thank you|i guess|i think|and more|again|already|i must say|to be honest|tbh)|"
    r"\s*[,.!?~;:)\u2026-]|\s*[\U0001F000-\U0001FAFF\u2600-\u27BF\uFE0F])+$",
    re.IGNORECASE,
)
# "I live in Leeds, England" calls nobody.
_PLACES = re.compile(
    r"\b(?:liv(?:e|es|ing)|based|born|home is|grew up) (?:in|near) (?:[A-Z][\w'-]+ ){0,2}[A-Z][\w'-]+, [A-Z][\w'-]+$"
)
_ADDRESSED = re.compile(r",\s+(?:[A-Z][a-z]{1,12}|man|dude|buddy|girl|bro|mate|friend)$")
# A run of blanks is entered at its beginning only, or it would take quadratic time.
_EVALUATION = re.compile(
    r"(?:,|\s-|\s–|:|(?<!\s))\s++(?:(?:and|but|so|cause)\s+)?(?:(?:it|that|which|this|they)(?:'s|'re| is| was| were|"
    r" are| has| had| really| made| makes| feels| felt| gave| gives|"
    r" helped| helps| reminds| reminded| turned| brings| means| meant| ended| totally| definitely| always|"
    r" just| seems| looks| came| went| tasted| will| can)\b)"
    r"|,\s+(?:so|really|super|such|very|pretty|quite|what a|absolutely|truly|always|just|especially (?:when|"
    r"since|because|after|with|on|in|if|as)|hopefully|"
    r"love|loving|excited|feeling|thanks to)\s"
    r"|(?<!\s)\s++(?:and|but|so) (?:loved?|it|am|was|were|can't|cannot|had (?:a|an|so|such|the)|have (?:a|so)|feel|"
    r"felt|feeling|super|so|really|very)\s"
    r"|,\s+(?:things|stuff) like (?:that|this)|,\s+like\b|(?<!\s)\s++and,? like\b"
    r"|(?:,|(?<!\s))\s++as (?:mentioned|discussed|described|shown|noted|suggested|stated|i said|you said|we said)\b"
    r"|(?:,|(?<!\s))\s++(?:-\s+)?(?:check (?:it|this|them) out|and wow|since (?:we|I|our) last|here's)\b"
    r"|,\s+(?:making|giving|helping|showing|reminding|feeling|letting|bringing|hoping|allowing|which)\s"
    r"|(?<!\s)\s++(?:so much fun|so fun|and all that|and stuff like that)\b"
)
_QUESTION = re.compile(
    r"(?:what|who|whom|whose|when (?!I\b|we\b|my\b)|where|why|how|which|do|does|did|is|are|am|was|were|can|"
    r"could|would|will|"
    r"should|shall|"
    r"have|has|had (?=you|he|she|they|it|the)|may|might|isn't|aren't|don't|doesn't|didn't|won't|any|ever|"
    r"got any|wanna|mind if)\b",
    re.IGNORECASE,
)
_JEST = re.compile(r"\b(?:yeah,? right|kidding|joking|sarcas\w+|just saying|as if)\b|(?:^|\s)/s\b", re.IGNORECASE)
_SPEECH = re.compile(
    r"[\"“„«](?>[^\"”“»]*?\b(?:I|you|your|we|my)\b)[^\"”“»]*+[\"”“»]|^[\"“'‘„«]|"
    r"(?<!\w)['‘](?=[A-Z])(?>(?:[^'’]|(?<=\w)['’](?=\w))*?\b(?:I|you|your|we|my)\b)"
    r"(?:[^'’]|(?<=\w)['’](?=\w))*+['’](?!\w)"
)


def strip_noise(piece: TextSpan) -> TextSpan:
    """Return the clause without greetings, fillers, addressed names and closing phrases, as a substring."""
    start, text = 0, piece.text
    for _ in range(6):
        match = _HEAD.match(text, start) or _NAMED.match(text, start)
        if not match or match.end() >= len(text):
            break
        start = match.end()
    end = _shorter(text, start)
    return sub_span(piece, start, end)


def _shorter(text: str, start: int) -> int:
    end = len(text)
    first = start + 12
    while first < end and text[first - 1].isspace():
        first -= 1
    evaluation = _EVALUATION.search(text, first)
    if evaluation:
        end = evaluation.start()
    for _ in range(3):
        # Only the last stretch is looked at, so a long run of marks costs no more than a short one.
        first = max(start, end - 60)
        tail = _TAIL.search(text[first:end]) or _ADDRESSED.search(text[first:end])
        if not tail or _PLACES.search(text[first:end]):
            break
        end = first + tail.start()
    return end


def is_question(sentence: str) -> bool:
    """Return whether a sentence is a question."""
    return sentence.rstrip(" \"')*_").endswith("?")


def is_jest(sentence: str) -> bool:
    """Return whether a sentence says that it is a joke."""
    return _JEST.search(sentence) is not None


def is_noise(clause: str, addressed: bool = True) -> bool:
    """Return whether a clause asks, wishes, doubts, refers back, or expresses a passing feeling.

    With `addressed`, a clause that contains "you" is noise too.
    """
    return bool(
        _QUESTION.match(clause)
        or UNREAL.search(clause)
        or FEELING.search(clause)
        or POINTING.search(clause)
        or _SPEECH.search(clause)
        or (addressed and SECOND_PERSON.search(clause))
    )
