"""The signal of a message that nobody has read: which sentence of it is most likely worth a fact.

A sentence counts for what it states (a habit, a rule, a decision, a reason, somebody's part, a date, a name) and
against it where it only asks for work. No statement is read out of it: a person sees the sentence itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from clawmem.learning.attribution.sentences import TextSpan
from clawmem.learning.rules.language import language_of

STRONG = 2
_FEWEST_WORDS, _LONGEST = 2, 400
_LASTING = (
    r"always|never|every|only|must|mustn't|should|no longer|any ?more|from now on|by default|usually|prefers?|"
    r"rather than|instead of|on purpose|because|since|so that|reason|rules?|policy|convention|agreed|deci(?:ded|sion)|"
    r"chose|chosen|switched|moved|replaced|renamed|dropped|owns?|belongs?|responsible|in charge|deadline|due|until|"
    r"allergic|birthday|named|called|lives?|works? (?:at|for|on|as)|joined|left|married|uses?|keeps?|stays?|"
    r"stor(?:e|es|ed)|means|likes?|loves?|hates?|needs?|wants?|takes?|costs?|learned|turns out|"
    r"immer|nie(?:mals)?|jede[rnsm]?|nur|muss|müssen|soll(?:en|te)?|nicht mehr|ab jetzt|künftig|lieber|statt|"
    r"absichtlich|weil|damit|grund|regel|beschlossen|entschieden|gehört|zuständig|verantwortlich|frist|bis|heißt|heisst|wohne|"
    r"wohnt|arbeite[t]?|gewechselt|umgezogen|mag|hasse|brauche[n]?|nutzen|benutzen|verwenden|kostet|gelernt"
)
_SIGNS = (
    re.compile(r"\b(?:I|I['’]\w+|my|mine|we|we['’]\w+|our|us|ich|mein\w*|wir|unser\w*)\b", re.IGNORECASE),
    re.compile(
        r"\b(?:is|are|was|were|has|have|['’]s|['’]re|runs?|goes|ist|sind|war|waren|hat|haben|läuft)\b", re.IGNORECASE
    ),
    # A name or a figure within the sentence.
    re.compile(r"(?<=[\w,;)] )[A-ZÀ-Þ][\w-]*[a-z]|\d|\w[._/]\w|[a-z][A-Z]"),
)
_LASTS = re.compile(rf"\b(?:{_LASTING})\b", re.IGNORECASE)
_IN_JEST = re.compile(
    r"\b(?:jok(?:e|ing)|kidding|pretend\w*|imagine|suppos(?:e|ing)|hypothetical\w*|what if|lol|haha|"
    r"scherz\w*|angenommen|stell dir vor)\b|/s\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:if|maybe|perhaps|probably|not sure|I (?:think|guess|hope)|I['’]d|some ?day|people|vielleicht|wenn|falls)\b",
    re.IGNORECASE,
)
_OF_ONESELF = re.compile(
    r"(?:\w+,? ){0,2}?(?:I|I['’](?:m|ve)|my|we|we['’](?:re|ve)|our|ich|mein\w*|wir|unser\w*)\s"
    r"(?!(?:need|fix|can|could|will)\w*\b)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\W*(?:(?:ok|okay|yes|no|and|so|now|then|also|great|thanks|please|first|next|bitte|gut|ja|dann|jetzt)\b[,.! ]*)*"
    r"(?:can|could|would|will you|let['’]?s|let me|show|run|fix|add|write|look|check|give|make|tell|try|find|open|"
    r"explain|go|do|start|put|move|change|update|create|remove|delete|rename|commit|push|merge|read|see|send|"
    r"kannst|könntest|zeig|mach|lass|schau|schreib|prüf|gib|füg|bau|lösch)\w{0,2}\b",
    re.IGNORECASE,
)


def strongest_sentence(sentences: Iterable[TextSpan]) -> TextSpan | None:
    """Return the sentence with the strongest signal, the first of equals, or None if no sentence has a strong one."""
    found = max(sentences, key=lambda sentence: strength(sentence.text), default=None)
    return found if found and strength(found.text) >= STRONG else None


def strength(sentence: str) -> int:
    """Return how much a sentence looks like something to keep: a question and a joke 0, what is strong `STRONG`."""
    words = sentence.split()
    if len(words) < _FEWEST_WORDS or len(sentence) > _LONGEST or sentence.rstrip(" \"')*_").endswith("?"):
        return 0
    if _IN_JEST.search(sentence) or language_of(sentence).guards["untrue"].search(sentence):
        return 0
    lasting = min(2, sum(1 for _ in _LASTS.finditer(sentence)))
    asks = 0 if lasting == 2 else 2 * (_ASKS.match(sentence) is not None)
    signs = sum(sign.search(sentence) is not None for sign in _SIGNS)
    signs += _OF_ONESELF.match(sentence) is not None
    return max(0, lasting + signs - asks - (_UNSURE.search(sentence) is not None))
