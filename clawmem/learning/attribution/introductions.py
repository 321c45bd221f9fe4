"""Recognise words that introduce text that is not the sender's: requests to work on a text, reports, other speakers."""

from __future__ import annotations

import re

from clawmem.learning.rules.language import relations

TEXT = (
    r"(?:sentences?|phrases?|paragraphs?|passages?|texts?|essays?|letters?|e-?mails?|messages?|stor(?:y|ies)|tales?|"
    r"fables?|poems?|verses?|rhymes?|haikus?|lyrics|songs?|jokes?|riddles?|speech|dialogu?es?|monologues?|"
    r"conversations?|transcripts?|quot(?:e|es|ation|ations)|captions?|tweets?|headlines?|slogans?|diary entr(?:y|ies)|"
    r"abstracts?|articles?|blog posts?|testimonials?|excerpts?|extracts?|subtitles?|proverbs?|novels?|drafts?|prompts?|"
    r"wording|grammar|spelling|characters?|character sheets?|back-?stor(?:y|ies)|scenes?|chapters?|screenplays?|"
    r"fan-?fic(?:tion)?s?|limericks?|sonnets?|skits?|eulog(?:y|ies)|bios?|cvs?|r[eé]sum[eé]s?|profiles?|"
    r"introductions?|reviews?|posts?|satz|texte?s?|briefe?s?|nachricht|gedichte?|geschichten?|lied|zitate?|entwurf)"
)
_WORK = (
    r"(?:translat(?:e|es|ed|ing|ions?)|proof-?read(?:s|ing)?|paraphras(?:e|es|ed|ing)|rephras(?:e|es|ed|ing)|"
    r"reword(?:s|ed|ing)?|transcrib(?:e|es|ed|ing)|(?:spell|grammar)-?check(?:s|ed|ing)?|copy-?edit(?:s|ed|ing)?|"
    r"role-? ?play(?:s|ing)?|pretend(?:ing)?|perspective of|point of view of|voice of|persona|repeat after me|"
    r"how (?:do|would|can|should) (?:you|i|we|one) (?:say|write|put|spell|phrase|express|pronounce)|"
    r"übersetz\w*|korrigier\w*|umformulier\w*|lektorier\w*)\b"
)
_TO_WORK_ON = re.compile(rf"\b{_WORK}", re.IGNORECASE)
_A_TEXT = re.compile(rf"\b{TEXT}\b", re.IGNORECASE)
_AS_ANOTHER = re.compile(
    r"\b(?:act|behave|speak|talk|answer|respond|reply|write) (?:as|like)\b|"
    r"\bas (?:if|though) (?:you|i) (?:were|was)\b|^(?:imagine|suppose|let's (?:imagine|play))\b",
    re.IGNORECASE,
)
# These request work on a text only directly before the colon.
_BRIEFLY = re.compile(
    r"\b(?:something like|(?:make|turn|put) (?:this|these|it|the following)\b.*|"
    r"(?:say|repeat|echo|type|print|write|spell|pronounce)"
    r"(?: out loud| aloud| exactly| (?:this|the following|it)\b.*| in [A-Z]\w+)?|"
    r"(?:summari[sz]e|shorten|rewrite|improve|polish|revise|simplify|critique|analy[sz]e|interpret|correct|fix|edit|"
    r"complete|continue|finish|extend|expand|fill in)"
    r"(?: (?:this|these|it|the following|what follows|below))?"
    r"(?: (?:for me|please|(?:in|into|as|with|without|more|so|to be) .+))*)$",
    re.IGNORECASE,
)
# "Let me rephrase: I live in Bergen" and "Correct: I do" are the sender's own words.
_NO_REQUEST = re.compile(
    r"\b(?:let me|i'll|i will|memory|remember|keep in mind|for the record|code|codebase|function|script|query|class|"
    r"component|method|program|app|module|file|config|sql|css|html|json|api|endpoint|schema|bug|error|commit messages?|"
    r"log messages?|(?:about|describing) (?:me|myself|us))\b|^(?:in short|out of character|correct$|for example$|"
    r"to (?:summari[sz]e|rephrase|paraphrase|correct|be|finish|continue|conclude|complete|add|expand)\b|"
    r"always\b|never\b|when(?:ever)?\b|from now on\b)",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:\w+,? ){0,3}?(?:please|pls|kindly|(?:can|could|would|will) you|help me|(?:i|we)(?:'d like| want| need| would "
    r"like| have| got| must)(?: you)?(?: to)?|here(?:'s| is| are)|this is|these are|is|are|does|do|what|which|how|why|"
    r"give|show|tell|write|draft|compose|make|create|generate|summari[sz]e|shorten|rewrite|improve|correct|fix|edit|"
    r"polish|check|review|revise|simplify|analy[sz]e|explain|interpret|read|rate|critique|continue|complete|finish|"
    r"expand|format|convert|reply|respond|answer|look|look at|use|take|consider|compare|turn|post|publish|bitte)\b",
    re.IGNORECASE,
)
_POINTED_AT = re.compile(r"\b(?:this|these|the following|what follows|below|diesen|folgenden)\b", re.IGNORECASE)
_POINTED_BACK = re.compile(r"\b(?:this|that|it|these|those|the above|above|diesen|das)\b", re.IGNORECASE)
_OF_SENDER = re.compile(r"(?:I|[Ww]e|[Mm]y)\b")
_NAMED_TEXT = re.compile(
    rf"(?:(?!(?:I|[Ww]e)\b)[\w'-]+ ){{0,5}}(?:{TEXT}|example)(?: (?:from|by|to|in|for|of|about|below)\b[\w' -]*)?$",
    re.IGNORECASE,
)
_INTO = re.compile(
    rf"(?:please |pls |kindly |(?:can|could|would|will) you (?:please )?)?{_WORK} (?:in|into|to) [A-Z]\w+$",
    re.IGNORECASE,
)
_SPEAK = (
    r"(?:said|says?|told|tells|wrote|writes|written|replied|replies|answered|answers|responded|responds|claimed|claims|"
    r"asked|asks|texted|texts|e-?mailed|messaged|tweeted|commented|mentioned|explained|explains|stated|states|"
    r"announced|declared|saying|writing|telling me|reads|goes|sings|sang|sent|sends|posted|posts|quotes|quoted|quoting|"
    r"sagte|sagt|schrieb|schreibt|meinte)"
)
_REPORT = re.compile(
    rf"(?:\b{_SPEAK}(?! (?:\w+ )?(?:to|where|what|when|who|how|which|whether|if|why|about)\b)(?:,? [\w'-]+){{0,6}}|"
    r"\b(?:according to|in the words of|to quote) [\w' -]{1,80}|"
    r"\b(?:questions?|comments?|complaints?|reviews?|feedback|words|reply|answers?|voicemail|enquiry|inquiry) "
    r"(?:from|by) (?!me\b|us\b|myself\b)[\w' -]{1,80}|"
    r"(?<![\w-])(?!My\b|Our\b|my\b|our\b)[\w-]+'s (?:words|answer|reply|comment|opinion|response|wish|motto|review))$",
    re.IGNORECASE,
)
_BY_SENDER = re.compile(
    rf"\b(?:I|[Ww]e)(?:'ve|'d)?(?: (?:have|had|just|also|always|already|recently|once|then))* {_SPEAK}\b"
)
# Another person speaks after the sender did: "I asked the doctor and she says".
_BY_ANOTHER = re.compile(
    rf"\b(?:[Hh]e|[Ss]he|[Tt]hey|(?:[Mm]y|[Tt]he|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) [\w'-]+|(?!I\b|We\b)[A-Z][\w'-]+)"
    rf"(?:'s|'d|'ve)?(?: (?:has|have|had|just|also|then|always|only|now))* {_SPEAK}\b"
)
# The sender introduces what they say themself: "forgot to say", "as I always say", "I'd say".
_OWN_REMARK = re.compile(
    r"(?:(?:^|[,.;!] ?)(?:(?:oh|and|but|also|ps|p\.? ?s\.?|btw|so|well|just|sorry|ah|almost|totally|only)\W+)*"
    r"(?:(?:I|[Ww]e)(?:'d|'ve| have| had| would)?(?: (?:also|just|almost|totally|only|really|always))* )?|"
    r"\b(?:I|[Ww]e)(?:'d|'ve| have| had| would)?(?: (?:also|just|almost|totally|only|really|always))* )"
    r"(?:[Ff]orgot(?:ten)?|forget|[Ww]anted|[Mm]eant|have|need|ought|wish|remembered) to"
    r"(?: (?:also|just|quickly))? (?:say|mention|add|tell you|let you know)(?: (?:before|earlier|that|too))?$|"
    r"\b(?<![Dd]o )(?<![Ww]ould )(?<![Ss]hould )(?<![Cc]an )(?<![Cc]ould )(?:I|[Ww]e)"
    r"(?:'d|'ll|'ve|'m)?(?: (?:would|must|will|have|always|often|usually|just|also|only|already|keep|once|can))* "
    r"(?:say|said|saying)(?: (?:before|again|earlier|already))?$"
)
_REPORT_BY_COMMA = re.compile(
    r"(?!(?:As|Like|When|While|Since|Because|If|After|Before|What|That|Once|Until|I|We|You)\b)"
    rf"[A-Z][\w'-]*(?: (?!I\b|we\b|you\b)[\w'-]+){{0,3}} {_SPEAK}(?: (?:to )?(?:me|us|him|her|them))?"
    r"(?=, (?:I|I'm|I've|I'll|we|we're|my|our)\b)"
)
_LABEL = re.compile(
    r"(?:[Mm]y|[Oo]ur|[Tt]he|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?|[Mm]eine?)(?: [\w'-]+){0,3}? (?P<noun>[\w-]+)"
    r"(?: (?:to (?:me|us)|yesterday|today|tonight|always|again|just now|(?:this|last|every) \w+|on the phone))*",
)
_PEOPLE = frozenset(
    "neighbour neighbor roommate flatmate housemate landlord landlady classmate ex guy woman man girl boy lady person "
    "customer host hostess caller stranger date doctor teacher lawyer therapist coach dentist nurse professor".split()
)
# Before a colon these introduce what the sender says about them, not their words.
_NO_SPEAKERS = frozenset("family kid kids children baby twins toddler pet pets dog dogs cat cats puppy horses".split())


def requests_text_work(head: str) -> bool:
    """Return whether words before a colon request work on the text that follows, or name it as a text."""
    if _NO_REQUEST.search(head) or not head:
        return False
    if _OWN_REMARK.search(head) and not _TO_WORK_ON.search(head):
        return False
    if _TO_WORK_ON.search(head) or _BRIEFLY.search(head):
        return not re.match(r"(?:I|[Ww]e) \w+", head) or bool(_POINTED_AT.search(head) or _ASKING.match(head))
    asked = _ASKING.match(head) is not None and _A_TEXT.search(head) is not None
    return asked or (_NAMED_TEXT.match(head) is not None and not re.match(r"(?:I|[Ww]e)\b", head))


def requests_role_play(head: str) -> bool:
    """Return whether words before a colon ask for a role play ("Act as a doctor")."""
    other = _AS_ANOTHER.search(head) is not None and _NO_REQUEST.search(head) is None
    return other and re.match(r"(?:I|[Ww]e) ", head) is None


def reports_speech(head: str) -> bool:
    """Return whether words before a colon report that another person said what follows."""
    if _REPORT.search(head) is None:
        return False
    own = _BY_SENDER.search(head) or _OWN_REMARK.search(head)
    return own is None or _BY_ANOTHER.search(head, own.end()) is not None


def names_speaker(head: str) -> bool:
    """Return whether words before a colon name a person ("My wife") who may be the speaker of what follows."""
    found = _LABEL.fullmatch(head)
    noun = found["noun"].lower() if found else ""
    return noun not in _NO_SPEAKERS and (noun in relations() or noun in _PEOPLE)


def requests_work_nearby(words: str, before: bool = False) -> bool:
    """Return whether a sentence without a colon requests work on a text that it points at ("translate this").

    With `before`, the text may precede the sentence.
    """
    pointed = (_POINTED_BACK if before else _POINTED_AT).search(words) is not None
    texts = _ASKING.match(words) is not None and _A_TEXT.search(words) is not None
    return pointed and (_TO_WORK_ON.search(words) is not None or texts) and _may_ask(words)


def requests_work_below(words: str, opens: bool = False) -> bool:
    """Return whether a line requests work on the lines below it ("Proofread my letter", "Translate to French").

    With `opens`, the line is the first question of a message, and any work on a text is meant ("Fix the grammar?").
    """
    if not _may_ask(words):
        return False
    work = _TO_WORK_ON.search(words) is not None
    if _INTO.fullmatch(words) or (work and _A_TEXT.search(words)):
        return True
    return opens and not re.search(r"\b(?:I|my|me|we|our|us)\b", words) and bool(work or _A_TEXT.search(words))


def reported_after_comma(sentence: str) -> int | None:
    """Return the offset of the comma in "Tom said, I live in Oslo", or None."""
    found = _REPORT_BY_COMMA.match(sentence)
    return found.end() if found else None


def _may_ask(words: str) -> bool:
    return not (_NO_REQUEST.search(words) or _OF_SENDER.match(words))
