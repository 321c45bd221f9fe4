"""Read a question: the words to search for, and the time it is about."""

import re
from datetime import datetime
from functools import cache, lru_cache

from clawmem.model.language.languages import STOPWORDS as STOPWORDS
from clawmem.model.language.languages import (
    dated_languages,
    has_characters,
    languages_of,
    matches,
    pairs,
    pattern_of,
    rows,
    runs_apart,
    telling_pairs,
    without_elision,
    words_of,
)
from clawmem.model.named_tuple import NamedTuple

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Words of many sentences on any subject, which tell little of what is asked.
COMMON_WORDS = frozenset(
    "able ask asked book bring call called came come comes change changed day days different does done ever far "
    "feel find first found gave get getting give given gives go goes going good got happen happened happens keep "
    "keeps kind know known last later learn let like likes little live lived lives living long look lot made make "
    "makes making many mean mention mentioned much name named names need needs new next now number often old one "
    "ones own part people person plan planned plans put read really recent recently right said same say says see "
    "set show since start started still sure take takes tell thing things think thought time times today told "
    "took tried try type use used uses using want wanted wants way week well went work worked working works year "
    "years yet again against anybody anyone anything anywhere away back between during else everybody everyone "
    "everything everywhere nobody nothing somebody someone something sometimes somewhere till until without".split()
)
# Words of questions that answers seldom have: they tell what kind of answer is wanted, or that somebody did something.
_OF_ASKING = frozenset(
    "according addition apart activities activity area areas aside besides choose chooses chose chosen concern "
    "concerning consider considered considers current currently describe described describes detail details discuss "
    "discussed discusses especially exactly example examples explain explained express expressed feature features item "
    "items kinds main mainly matter mostly opinion participate participated participates participating particular "
    "particularly prepare reaction reason reasons receive received receives regard regarding relate related relates "
    "respond response shortly similar situation sort sorts specific specifically state states subject subjects term "
    "terms topic topics types usual usually view views various himself herself itself themselves ourselves yourself "
    "myself jan feb mar apr jun jul aug sep sept oct nov dec two three four five six seven eight nine ten eleven "
    "twelve twenty thirty half once twice each".split()
)
_ASKING = frozenset("who whom whose what when where why which how does did is are was were".split())
# Questions of another kind have none of these words.
_OF_KIND = frozenset("how phone telephone mobile colour color weight wie telefonnummer farbe".split())
# Words that ask for what held before.
_FORMER = re.compile(
    r"\b(?:before|former(?:ly)?|previous(?:ly)?|original(?:ly)?|initial(?:ly)?|"
    r"first(?! (?:aid|class|floor|name|time)\b)|used? to|no longer|early on)\b",
    re.IGNORECASE,
)
_PAST = (
    r"(?i)^\W*(?:who|what|where|which|how|wer|was|wo|wie|welche\w*|qui|où|quién|dónde)\b[^?]*\b"
    r"(?:was|were|did|war|waren|hatte|hatten|était|era|fue)\b"
)
# Such text is compiled where it is used, since few questions need it.
_WAS = r"(?i)\b(?:was|were|did|had|born|war|waren|hatten?|wurden?|geboren)\b"
# A question for what held before asks for what held at first, or before what its group names.
AT_FIRST = r"(?i)\b(?:original|initial|first\b|early on|ursprünglich|zuerst|anfangs|oorspronkelijk|pierwotn)|元々|原来"
BEFORE = r"(?i)\b(?:before|prior to|vor|bevor|avant|antes de|prima di)\s+([^?]+)"
_WHY = re.compile(r"\b(?:why|how come|reasons?)\b", re.IGNORECASE)
_SHORT = re.compile("['’].*")  # the end of "what's"
_JOINED = re.compile(r"(?:(?<!ca)(?<!wo)n['’]t|(?<!won)['’](?:d|ll|m|re|s|t|ve))$")  # of `I've` and `who'll`
_PARTS = re.compile(r"[,;?]|\b(?:and|und|sowie|et|y)\b")
# A question without any of these words and without a digit names no time.
TIME_WORDS = frozenset(
    "today yesterday tomorrow tonight last past this coming next upcoming ago day days week weeks month months year "
    "years january february march april may june july august september october november december jan feb mar apr jun "
    "jul aug sept sep oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_FEASTS = frozenset("christmas easter halloween ramadan eid hanukkah thanksgiving pentecost".split())
# A question of these words and a date asks for all that was said or noted then, unless it asks when, why, or where
# somebody else was.
_OF_A_DAY = frozenset(
    "note noted notes write wrote written say said tell told talk talked discuss discussed decide decided happen "
    "happened do did done".split()
)
_SAYING = frozenset(
    "write writes wrote written say says said tell tells told mention mentioned report reported".split()
)
_LONGEST_NAME = 3
_NOTED = r"(?i)\b(?:note[ds]?|wrote|written)\b"
_OTHER_QUESTIONS = frozenset("where when who whom whose why which how".split())
# Days to come: a text that was written earlier means other days by these words.
_AHEAD = re.compile(r"\b(?:(?:next|coming) (?:week|weekend|month|year)|tomorrow)\b", re.IGNORECASE)
_HOME = re.compile(r"^\W*where\b[^?]*\b(?:live|lives|living)\b", re.IGNORECASE)
_IN_USE = re.compile(
    r"\b(?:be|been|go|goes|going|gone|went) live\b|\b(?:is|are|was|were) live\b(?! (?:at|in|on|under)\b)"
    r"|\blive (?:site|stream|demo|show|music|system|data)\b",
    re.IGNORECASE,
)
_LIVE = re.compile(r"\bliv(?:e|es|ed|ing)\b", re.IGNORECASE)
_FIRST_PERSON = frozenset("i me my mine myself".split())


class DaySpan(NamedTuple):
    """A period of days, from first to last inclusive, as `YYYY-MM-DD`."""

    first: str
    last: str


@lru_cache(maxsize=500)
def search_words(question: str) -> tuple[str, ...]:
    """Return the question's words, each once, without stopwords and days, unless nothing else is left."""
    words, telling = _words(question)
    if asks_former(question):
        telling = _words(_without_former(question))[1] or telling
    if _AHEAD.search(question) is not None:
        telling = _words(_AHEAD.sub(" ", question))[1] or telling
    return tuple(telling or words)


def topics(question: str) -> list[list[str]]:
    """Return the search words of each part of a question that asks for several things; none if it asks for one."""
    parts = [telling for part in _PARTS.split(question) if (telling := _words(part)[1])]
    return parts if len(parts) > 1 else []


def asks(question: str) -> bool:
    """Return whether a text is a question, and not a task or a few words to search for."""
    first = _WORD.search(question)
    if "?" in question or "？" in question or first is None:
        return "?" in question or "？" in question
    word = _SHORT.sub("", first[0].lower())
    return word in _ASKING or any(word in words_of(code, "asking") for code in languages_of(question))


def kind_of_answer(question: str) -> re.Pattern[str] | None:
    """Return the pattern of what a text must have to answer a question, where the question says so: a colour for "What
    colour is the van?". None for any other question."""
    if _OF_KIND.isdisjoint(word.lower() for word in _WORD.findall(question)):
        return None
    return answer_pattern(question)


def asks_for_home(question: str) -> bool:
    """Return whether a question asks where somebody lives."""
    return _HOME.search(question) is not None


def is_put_into_use(text: str) -> bool:
    """Return whether a text has "live" only of a thing that is put into use: "The shop must be live in May."."""
    return _IN_USE.search(text) is not None and _LIVE.search(_IN_USE.sub(" ", text)) is None


def proper_names(question: str) -> frozenset[str]:
    """Return the words inside a question that have a capital, in lower case, without its first one and times. There are
    none in a question that has words of another language, where every noun may have one."""
    words = _WORD.findall(question)
    if languages_of(question):
        return frozenset()
    found = (_JOINED.sub("", word) for word in words[1:] if word[0].isupper())
    return frozenset(word.lower() for word in found) - STOPWORDS - TIME_WORDS - _FEASTS


def names_subject(word: str) -> bool:
    """Return whether a word of a question, in lower case, says what it is about, as nouns and most verbs do.

    Everyday words, numbers and words such as "describe" do not: an answer seldom repeats them."""
    return word.isalpha() and len(word) > 1 and word not in COMMON_WORDS and word not in _OF_ASKING


def asks_former(question: str) -> bool:
    """Return whether a question asks for what held before."""
    return _FORMER.search(question) is not None or matches(question, "former")


def asks_past(question: str) -> bool:
    """Return whether a question asks who or what was so: what held before may be meant, or what holds."""
    return re.search(_PAST, question) is not None


def tells_past(text: str) -> bool:
    """Return whether a statement tells what was, such as where somebody was born."""
    return re.search(_WAS, text) is not None


def asks_why(question: str) -> bool:
    """Return whether a question asks for a reason."""
    return _WHY.search(question) is not None or matches(question, "why")


def _without_former(question: str) -> str:
    for code in languages_of(question):
        question = pattern_of(code, "former").sub(" ", question)
    return _FORMER.sub(" ", question)


def _words(question: str) -> tuple[list[str], list[str]]:
    """Return the words in lower case, each once, and those of them that are no stopwords."""
    languages = languages_of(question)
    if has_characters(question):
        return _words_between_characters(question, languages[0])
    written = _WORD.findall(question.replace("’", "'"))
    words = list(dict.fromkeys(map(str.lower, written)))
    if not languages:
        return words, list(dict.fromkeys(bare for word in words if (bare := _JOINED.sub("", word)) not in STOPWORDS))
    names = {word.lower() for word in written[1:] if word[0].isupper()}
    stop = STOPWORDS.union(*(words_of(code, "stop", "asking") for code in languages)) - names
    return words, [word for word in map(without_elision, words) if word not in stop]


def _words_between_characters(question: str, code: str) -> tuple[list[str], list[str]]:
    """Return what `_words` returns, of a text that has Chinese or Japanese characters: their pairs are its words."""
    words, telling = list[str](), list[str]()
    for word in _WORD.findall(runs_apart(question)):
        found = has_characters(word)
        words += pairs(word) if found else [word.lower()]
        telling += telling_pairs(word, code) if found else [word.lower()] if word.lower() not in STOPWORDS else []
    return list(dict.fromkeys(words)), list(dict.fromkeys(telling))


def is_first_person(question: str) -> bool:
    """Return whether the question is about the person who asks it: it has "I", "me" or "my"."""
    return any(word.lower().split("'")[0] in _FIRST_PERSON for word in _WORD.findall(question.replace("’", "'")))


def time_asked(question: str, now: datetime) -> DaySpan | None:
    """Return the days that a question names, or None."""
    words = {word.lower() for word in _WORD.findall(question)}
    english = not words.isdisjoint(TIME_WORDS) or any(map(str.isdigit, question))
    if not english and not dated_languages(question):
        return None
    from clawmem.model.language.date_words import days_named  # its pattern takes milliseconds to compile

    return days_named(question, now.date())


def days_listed(question: str, now: datetime) -> DaySpan | None:
    """Return the days of a question that asks for nothing but what was said or noted in them, else None."""
    span = time_asked(question, now)
    if span is None:
        return None
    from clawmem.model.language.date_words import without_dates  # few questions name days

    return span if asks_for_all(without_dates(question, now.date())) else None


def speaker_asked(question: str, now: datetime) -> str | None:
    """Return the name, in lower case, in a question for nothing but what somebody said: "what did Lars write?"."""
    words = [word.lower() for word in _WORD.findall(question)]
    if words[:1] != ["what"] or _SAYING.isdisjoint(words):
        return None
    from clawmem.model.language.date_words import without_dates  # few questions ask for what somebody said

    words = [word.lower() for word in _WORD.findall(without_dates(question, now.date()))]
    name = [word for word in words if word not in STOPWORDS | _OF_A_DAY | _SAYING]
    return " ".join(name) if 0 < len(name) <= _LONGEST_NAME else None


def asks_for_all(question: str) -> bool:
    """Return whether a question asks for nothing but what was said or noted."""
    words, telling = _words(question)
    if has_characters(question):
        return not telling
    asked = STOPWORDS | _OF_A_DAY
    others = _OTHER_QUESTIONS - {"where"} if is_first_person(question) else _OTHER_QUESTIONS
    for code in languages_of(question):
        asked |= words_of(code, "stop", "of_day")
        others |= words_of(code, "asking") - words_of(code, "of_day")
    return set(words) <= asked - others


_TASKS_ASKED = (
    r"\bwhat(?:'s| is| are) (?:still |left )*(?:open|to do|to be done|to work on|outstanding)"
    r"(?: (?:with|for|from|by) (?P<of>[\w' -]{1,60}))?$"
    r"|\bwhat (?:do|does) (?P<who>[\w' -]{1,60}?) (?:still )?(?:have|need) (?:left )?to (?:do|work on)"
    r"(?: next| now| today)?$"
    r"|\bwhat (?:should|must|shall|can|could) (?P<whom>[\w' -]{1,60}?) (?:do|work on|take on|start)(?: with)?"
    r"(?: next| now| today)?$"
    r"|^(?:(?:what|which|list|show)(?: are)?(?: me)? )?(?:(?:the|my|our|all) )?(?:(?:open|next|remaining) )?tasks?"
    r"(?: (?:are|is) (?:still )?(?:open|left))?(?: (?:of|for|with|by) (?P<holder>[\w' -]{1,60}))?$"
)


def tasks_asked(question: str) -> str | None:
    """Return whose open tasks a question asks for, in lower case, or an empty text for all; None if for no tasks."""
    match = re.search(_TASKS_ASKED, question.replace("’", "'").strip(" ?!."), re.IGNORECASE)
    if match is None:
        return None
    whose = next(filter(None, match.groups()), "").lower()
    return "" if whose in ("i", "we", "me", "us") else whose


def asks_for_notes(question: str) -> bool:
    """Return whether a question asks for what was written down."""
    return re.search(_NOTED, question) is not None or matches(question, "noted")


_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|fou?rty|fifty|sixty|"
    r"seventy|eighty|ninety|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zig)\b"
)
_AMOUNT = (
    r"\b(?:no|none|nobody|nothing|dozens?|hundreds?|thousands?|millions?|half|once|twice|both|couple|few|several|"
    r"many|most|all|some|free|kein\w*|beide|alle|viele|paar)\b"
)
_UNIT = (
    r"(?:second|minute|hour|day|week|fortnight|month|year|decade|Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr)(?:e?[ns])?"
)
_TIME_LONG = (
    rf"(?:{_NUMBER}|\b(?:an?|ein\w*|few|couple|several|many|half|all|whole))\W+(?:\w+\W+){{0,2}}?{_UNIT}\b|\d\W?(?:min|h|s)\b|"
    r"\b(?:since|until|till|always|ever|forever|seit|bis|immer)\b"
)
_WEIGHT = rf"(?:{_NUMBER})\W*(?:kg|kilo\w*|k?g|gram\w*|lbs?|pounds?|ton\w*|oz|ounces?|stone|pfund)\b"
_MONEY = (
    r"[€$£¥]|\b(?:euros?|dollars?|pounds?|cents?|pence|pesos|francs?|eur|usd|gbp|chf|grand|hundred|thousand|free|nothing)\b|"
    r"(?<![\d:.])\d[\d.,]*k?\b(?!:|\W*(?:[ckm]?m|kg|g|%|percent|hours?|min\w*|days?|weeks?|months?|years?|[ap]m)\b)"
)
_COLOURS = (
    r"\b(?:dark|light|pale|bright)?(?:white|black|gr[ae]y|red|blue|green|yellow|orange|purple|violet|pink|brown|beige|"
    r"silver|gold(?:en)?|turquoise|navy|cream|ivory|maroon|wei(?:ß|ss)|schwarz|grau|rot|blau|grün|gelb|lila|rosa|braun)"
    r"(?:ish|e[mnrs]?)?\b"
)
_AGE = (
    rf"(?:{_NUMBER})\W+(?:\w+\W+)?(?:years?|months?|weeks?|days?|old|Jahren?|Monaten?|alt)\b|\d[\s-]?jährig|"
    r"\b(?:born|birthday|Geburtstag|geboren|baby|newborn)\b|"
    rf"(?:\b(?:I am|are|is|was|were|bin|ist|wird|be|aged?|turn\w*)|['’](?:m|s|re))\W+(?:\w+\W+)?(?:{_NUMBER})"
)
_KINDS = (
    (r"\b(?:phone|telephone|mobile) number\b|\bTelefonnummer\b", r"(?:\d[\s/()-]*){5}"),
    (r"^\W*(?:what|which) colou?r\b|^\W*welche Farbe\b", _COLOURS),
    (r"^\W*how old\b|^\W*wie alt\b", _AGE),
    (r"^\W*how long\b|^\W*wie lange\b", _TIME_LONG),
    (r"^\W*how heavy\b|\bthe weight of\b|^\W*wie schwer\b", _WEIGHT),
    (r"^\W*how much\b.*\b(?:cost|costs|pays?|paid|charges?|charged|earns?|spen[dt]|owes?|rent)\b", _MONEY),
    (r"^\W*how (?:much|many)\b|^\W*wie ?viele?\b", rf"{_NUMBER}|{_AMOUNT}"),
)


def answer_pattern(question: str) -> re.Pattern[str] | None:
    """Return the pattern of what an answer to a question has; None where its kind says nothing of that."""
    answer = next((answer for asked, answer in _KINDS if re.search(asked, question, re.IGNORECASE)), None)
    return None if answer is None else re.compile(answer, re.IGNORECASE)


_FILE = (
    r"(?<![\w/-])[\w/-]++\."
    r"(?:py|js|jsx|ts|tsx|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|sh|sql|html|css|json|toml|ya?ml|md|ipynb)\b"
)
_CODE = rf"`[^`]+`|{_FILE}|\w\(\)|\b[a-z]+_[a-z_]+\b|\b[a-z]+[A-Z]\w*"
_TOPIC_WORD = re.compile(r"[^\W_]+")
_MONEY = r"[€$£]\s?\d|\d[\d.,]*\s?(?:[€$£]|(?:euros?|eur|dollars?|usd|pounds?|gbp|francs?|chf|kroner|kronor|yen)\b)"


@cache
def _topic(name: str) -> frozenset[str]:
    """Return the words of a topic: software, family and health, what else is nobody's business at work, food and
    medicine."""
    return frozenset(rows("topics")[name].split())


def is_of_health(task: str) -> bool:
    """Return whether a task is about food or medicine, and not about software: what somebody bears counts for it."""
    return not _topic("of_health").isdisjoint(_words_of(task)) and not is_technical(task)


def is_technical(task: str) -> bool:
    """Return whether a task is about software: it contains code, a file name or a word of that field."""
    return not _topic("technical").isdisjoint(_words_of(task)) or re.search(_CODE, task) is not None


def is_private(text: str) -> bool:
    """Return whether a text is about somebody's family or health."""
    return not _topic("private").isdisjoint(_words_of(text))


def is_of_life(text: str) -> bool:
    """Return whether a text is about somebody's family, health, home or money, and so none of a task at work."""
    words = _words_of(text)
    of_life = (
        not (_topic("of_life") | _topic("of_health")).isdisjoint(words)
        or re.search(_MONEY, text, re.IGNORECASE) is not None
    )
    return is_private(text) or (of_life and not is_technical(text))


def _words_of(text: str) -> list[str]:
    return _TOPIC_WORD.findall(text.lower())
