"""Find reported speech without quotation marks: what another person said or thinks, or should be told."""

from __future__ import annotations

import re

Span = tuple[int, int]
_ME = r"(?:I|I'm|I've|I'd|I'll|i|i'm|[Ww]e|[Ww]e're|[Ww]e've|[Mm]y|[Oo]ur)\b"
_NO_OTHER = (
    r"(?!(?:I|i|I'm|I've|I'd|I'll|[Ww]e|[Ww]e're|[Yy]ou|[Aa]s|[Ll]ike|[Ii]t|[Tt]hat|[Tt]his|[Ww]hat|[Ii]f|[Pp]lease|"
    r"[Oo]n|[Ii]n|[Aa]t|[Bb]y|[Ff]or|[Ww]ith|[Tt]o|[Oo]f|[Ff]rom|[Nn]o|[Ss]ince|[Uu]nless)\b)"
)
# Another person, in a few words: "my mum", "the man at the bar", "Tom always".
_OTHER = rf"{_NO_OTHER}[\w'-]+(?:,? (?!(?:I|I'm|we|you|if|when|because|that|who)\b)[\w'-]+){{0,6}}?"
_VERBS = (
    r"(?:say|says|said|saying|tells?|told|telling|claim(?:s|ed|ing)?|thinks?|thought|thinking|believe[sd]?|"
    r"insist(?:s|ed|ing)?|swears?|swore|joke[sd]?|joking|complain(?:s|ed|ing)?|reckon(?:s|ed)?|assume[sd]?|"
    r"suspect(?:s|ed)?|writes?|wrote|text(?:s|ed)|asks?|asked|wonder(?:s|ed)|guess(?:es|ed)|lie[sd]|lying|dream(?:s|t|ed)|"
    r"pretend(?:s|ed)?|imagine[sd]?|suggest(?:s|ed)?|convinced|sure)"
)
_WHOM = r"(?: to)?(?: (?:me|us|him|her|them|people|everyone|everybody|(?:my|our|the|his|her|their) \w+|[A-Z]\w+))?"
_START = r"(?:^|[,;:] |[ ,](?:and|but|so|because|although|though|while|when) )(?:(?:and|but|so|well|then),? )?"
_REPORTED = re.compile(rf"{_START}{_OTHER} {_VERBS}{_WHOM}(?: (?:that|how|if|whether))? (?={_ME})")
_TO_TELL = re.compile(
    rf"{_START}(?:[Pp]lease )?(?:[Ss]ay|[Rr]eply|[Aa]nswer|[Rr]espond|[Cc]laim|[Ss]uppose|[Aa]ssume|[Ii]magine|"
    r"[Pp]retend|[Aa]ct (?:as if|as though|like)|[Ll]et(?:'s| us) (?:say|assume|suppose|imagine|pretend)|"
    rf"(?:[Tt]ell|[Ww]rite to|[Ii]nform) (?!me\b|us\b|you)(?:[\w'-]+ ){{0,3}}?[\w'-]+)(?: that)? (?={_ME})"
)
_NOT_SO = re.compile(
    rf"\bI(?:'ve| have)?(?: [a-z]+)? (?:dreamt|dreamed|pretend(?:ed)?|lied|imagined?|had a dream)(?: [a-z]+){{0,3}}?"
    rf"(?: that| where| in which)? (?={_ME})"
)
_BEING_LIKE = re.compile(
    rf"{_START}{_OTHER}(?:'s|'re| is| are| was| were)(?: (?:all|just|always|so|totally))* like[,:]? (?={_ME})"
)
# The sender's own words may continue the sentence after one of these.
# A run of blanks is entered at its beginning only, or it would take quadratic time.
_OWN_AGAIN = re.compile(
    r"(?:,|(?<!\s))\s++(?:but|so|though|although|yet|while|whereas|and (?:now|so|yet|honestly))\s|;\s|"
    r"(?<!\s)\s++[-–—]{1,3}\s|—|\.{3}|…"
)
_SAID = (
    r"(?:says|said|asks|asked|replies|replied|answers|answered|whispers|whispered|shouts|shouted|cries|cried|claims|"
    r"claimed|insists|insisted|jokes|joked|thinks|thought|writes|wrote|goes|went|explains|explained|adds|added|"
    r"exclaims|exclaimed|laughs|laughed|sighs|sighed|yells|yelled|mutters|muttered)"
)
_WHO = (
    r"(?:he|she|they|everyone|somebody|someone|(?:my|our|the|his|her|their|a|an) (?:[\w'-]+ ){0,3}?[\w'-]+|"
    r"(?!I\b)[A-Z][\w'-]*(?: [A-Z][\w'-]+)?)"
)
_AFTERWARDS = re.compile(
    rf"[,!?][\"'”’]? +(?:{_SAID} {_WHO}|{_WHO}(?: (?:always|often|usually|once|just|also|still))* {_SAID})"
    r"(?: (?:to )?(?:me|us|him|her|them))?(?: (?:again|back|\w+ly))?(?=[.!?\"”]*$|, )"
)


def reported_spans(sentence: str) -> list[Span]:
    """Return the spans of a sentence that are another person's words. The sentence must have plain apostrophes."""
    if _AFTERWARDS.search(sentence):
        return [(0, len(sentence))]
    like = _BEING_LIKE.search(sentence)
    if like:
        return [(like.end(), len(sentence))]
    heads = (found for form in (_REPORTED, _TO_TELL, _NOT_SO) for found in form.finditer(sentence))
    return [(head.end(), _end(sentence, head.end())) for head in heads]


def _end(sentence: str, start: int) -> int:
    again = _OWN_AGAIN.search(sentence, start)
    return again.start() if again else len(sentence)
