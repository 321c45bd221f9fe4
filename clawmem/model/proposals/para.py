"""What a fact is about, as PARA places it: by its subject, the catalog, and the words of a name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import DEFAULT_CATEGORY, DEFAULT_IMPORTANCE, Fact, with_vital_importance
from clawmem.model.facts.reach import project_names
from clawmem.model.language.languages import languages_of, word_list
from clawmem.model.language.question import is_private, is_technical
from clawmem.model.language.text import normal, one_line
from clawmem.model.records.entity import check_name, slug
from clawmem.model.records.event import Event
from clawmem.model.safety.injection.find import find_injection

WORKS_ON = "works_on"
# Words of a reader that a fact may be asked for by: names and figures are what was said, and not such words.
_TAG = re.compile(r"[^\W\d_]+(?:[ -][^\W\d_]+){0,2}")
_LONGEST_TAG, _MOST_TAGS = 30, 5
# What somebody decides or requires in talk about a project belongs to that project.
OF_PROJECTS = frozenset(("decision", "requirement", "milestone"))
_FOLDERS = {
    "person": "areas/people",
    "company": "areas/companies",
    "project": "projects",
    "area": "areas",
    "resource": "resources",
    "tool": "resources",
    "place": "resources",
    "topic": "resources",
    "archive": "archives",
}
_NO_PROJECTS = frozenset("root tmp workspace app src code home projects".split())
# The role of the project that the event of a proposition belongs to.
HERE = "here"
# The role of a project that a reader named and nobody did: what is said of it belongs to no other project.
ELSEWHERE = "elsewhere"
# The kind of the object of a predicate, by the type of its values in the catalog.
_KIND_OF_VALUE = {"organisation": "company"}
_COMPANY = frozenset(
    "labs lab gmbh inc inc. ltd ltd. llc ag corp corp. corporation company co. se bv b.v. kg plc holdings industries "
    "technologies university bank foundation".split()
)
_PROJECT = r"(?:[Pp]roject|[Rr]epo|[Rr]epository|[Cc]odebase|[Aa]pp|[Ww]ebsite)"
_DETERMINER = r"(?:(?:[Tt]he|[Oo]ur|[Mm]y|[Tt]his|[Yy]our|[Tt]heir|[Aa]n?) )?"
_WORD = r"[^\W_][\w.+#&-]*"
_CAPITAL = r"[^\Wa-z_][\w.+#&-]*"
_PROJECT_FIRST = re.compile(rf"{_DETERMINER}[Pp]roject (?P<name>{_CAPITAL}(?: {_CAPITAL})?)")
_PROJECT_LAST = re.compile(rf"{_DETERMINER}(?P<name>{_WORD}(?: {_WORD})?) {_PROJECT}")
# A project without its name, and a thing without an owner: in talk about a project, both mean that project.
_UNNAMED = re.compile(rf"(?:[Tt]he|[Oo]ur|[Tt]his|[Mm]y|\S.{{0,60}}['’]s) (?:{_PROJECT}|[Tt]eam)(?:['’]s .+)?")
_TEAM_SAYS = re.compile(r"(?:\S+ )?\S+['’]s (?:project|team) ")
_UNOWNED = re.compile(r"(?!(?:[Tt]he )?user\b)(?:[Tt]he |[Oo]ur )?[a-z][\w.-]*(?: [\w.-]+){0,4}")
_CALLED = re.compile(rf"\b(?:called|named) (?P<name>{_CAPITAL}(?: {_CAPITAL})*)")
_NAME = re.compile(r"[^\Wa-z_][\w.+#&'’-]*(?: [^\Wa-z_][\w.+#&'’-]*){0,3}")
_PART_OF = re.compile(r"['’]s? .+$|['’]s$")
_MARKED = re.compile(r"[A-ZÀ-Þ0-9._-]")
_LEADING = re.compile(rf"^{_DETERMINER}")
_MOST_WORDS = 5
_KIN = (
    r"wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|sister|brother|mother|father|mum|mom|dad|daughter|son|child|"
    r"cousin|aunt|uncle|niece|nephew|grand(?:mother|father|ma|pa)|friend|colleague|co-?worker|boss|manager|neighbou?r|"
    r"flatmate|roommate|landlord|landlady|client|customer|teacher|doctor|dentist"
)
CLOSE_PERSON = re.compile(
    rf"(?:(?:[Mm]y|[Oo]ur|[Tt]he user['’]s) (?:[a-z-]+ )?(?:{_KIN}),? (?P<name>{_CAPITAL}(?: {_CAPITAL})?)"
    rf"|(?P<first>{_CAPITAL}(?: {_CAPITAL})?),? (?:is )?(?:my|our|the user['’]s) (?:[a-z-]+ )?(?:{_KIN})\b)"
)

_ROLE = (
    r"C[A-Z]O|(?:co-?)?founder|owner|maintainer|lead|head|manager|director|engineer|developer|programmer|designer|analyst|"
    r"architect|scientist|researcher|nurse|doctor|teacher|lawyer|accountant|intern|student|contractor|consultant|"
    r"administrator|president|secretary|editor|author|reviewer|chair(?:man|woman)?"
)
_SMALL_CAPITAL = r"[A-ZÀ-Þ][a-zß-ÿ'’-]+"
# What is true of people alone; what they do, things do as well; what is said so only after a first and a last name.
_IS_PERSON = (
    r"(?:owns (?:the|our) [\w-]+ of\b|is (?:now |still )?(?:allergic to|"
    rf"(?:the|an?|our|my) (?:[\w-]+ ){{0,3}}(?:{_ROLE})(?= (?:of|at|for|on|in|here|and|since)\b|\W*$)))"
)
_DOES = (
    r"(?:(?:owns|reviews|signs|leads|mentors|works (?:for|as))\b|is (?:now |still )?(?:responsible for|in charge of))"
)
_WITH_LAST_NAME = (
    r"(?:prefers|likes|loves|hates|wants|manages|approves|lives (?:in|at|with|near)|works|speaks|studies|teaches|"
    r"joined|moved)\b"
)
_PERSON_DOES = re.compile(
    rf"(?:(?P<word>{_SMALL_CAPITAL}) (?:{_IS_PERSON}|(?P<known>{_DOES}))"
    rf"|(?P<full>{_SMALL_CAPITAL} {_SMALL_CAPITAL}) (?:{_IS_PERSON}|{_DOES}|{_WITH_LAST_NAME}))"
)
# The role of a person who is meant only if known: "Priya reviews it", but "Dependabot reviews it", too.
IF_KNOWN = "if known"
_NO_PERSON = frozenset(
    "the a an this that these those our my your their his her its we they he she it you i who everyone everybody "
    "nobody somebody someone anyone anybody one each every no all some staging production marketing sales design "
    "engineering finance legal support operations ops security management leadership team staff group"
    " user users nothing something anything everything today tomorrow new san los united google apple microsoft amazon"
    " azure apache docker github gitlab cloud server service studio january february march april may june july august"
    " september october november december monday tuesday wednesday thursday friday saturday sunday two three".split()
)
_BUILDS = (
    r"(?:build|built|make|making|made|start|develop|writ|wrote|launch|creat|maintain|track|found|work(?:s|ing)? on)\w*"
)
_THING_CALLED = re.compile(
    rf"\b(?:(?P<company>company|start-?up|firm|agency|consultancy|studio|business)|project|{_BUILDS} "
    rf"(?:an? |the |our |my )?(?:[a-z-]+ ){{0,3}}(?:app|application|tool|service|library|game|website|site|platform|"
    r"product|prototype|system))"
    rf" (?:called|named) (?P<name>{_CAPITAL}(?: {_CAPITAL})*)"
    rf"|\b{_BUILDS} (?:the |our |my )?(?P<built>{_CAPITAL}(?: {_CAPITAL})?) {_PROJECT}\b"
)


def subject_hints(proposition: Proposition, kinds: Callable[[], Mapping[str, str]]) -> Iterator[EntityHint]:
    """Yield the thing, not a person, that the subject or the object of a proposition names.

    `kinds` returns the kinds of things that facts name, by normalised name. "The project" and "the staging port" are
    those of the project of the conversation, which a hint with the role `HERE` names.
    """
    subject = proposition.subject or ""
    of_team = _TEAM_SAYS.match(proposition.statement)
    if of_team or _UNNAMED.fullmatch(subject) or _UNOWNED.fullmatch(subject):
        yield from (
            EntityHint("project", hint.title, "about") for hint in proposition.entity_hints if hint.role == HERE
        )
    named = named_thing(subject)
    if named:
        yield named
    elif (name := _PART_OF.sub("", subject)) and _NAME.fullmatch(name):
        kind = kinds().get(normal(name))
        if kind:
            yield EntityHint(kind, name, "fact")
    if proposition.predicate == WORKS_ON and (worked := project_name(proposition.object or "")):
        yield EntityHint("project", worked, "work")


def with_project(proposition: Proposition, event: Event) -> Proposition:
    """Return the proposition with the project that the event belongs to, if a transcript names one."""
    name = project_of_event(event)
    if name is None or any(hint.role == ELSEWHERE for hint in proposition.entity_hints):
        return proposition
    return proposition._replace(entity_hints=(*proposition.entity_hints, EntityHint("project", name, HERE)))


def project_of_event(event: Event) -> str | None:
    """Return the last part of the project's URL, else of the working folder; a home or system folder is none."""
    about = event.metadata or {}
    place = next((one for key in ("project", "cwd") if isinstance(one := about.get(key), str) and one.strip()), "")
    *above, name = place.strip().rstrip("/").split("/")
    is_home = name in _NO_PROJECTS or (above and above[-1] in ("home", "Users"))
    return None if is_home else name.rpartition(":")[2].removesuffix(".git") or None


def named_thing(text: str) -> EntityHint | None:
    """Return the company or project that a text names by its words: "Corvid Labs", "Project Atlas", "the Atlas repo".

    What follows a possessive is a part of the thing: "Corvid Labs' office" is about Corvid Labs.
    """
    whole = _PART_OF.sub("", text)
    first = _PROJECT_FIRST.fullmatch(whole)
    if first:
        return EntityHint("project", first["name"], "name")
    last = _PROJECT_LAST.fullmatch(whole)
    determined = last and _LEADING.fullmatch(f"{last['name']} ")  # "The project" has no name
    if (
        last
        and not determined
        and _MARKED.search(last["name"])
        and not last["name"].lower().startswith(("new ", "first ", "whole "))
    ):
        return EntityHint("project", last["name"], "name")
    words = whole.split()
    company = 2 <= len(words) <= _MOST_WORDS and words[-1].lower() in _COMPANY and _NAME.fullmatch(whole)
    return EntityHint("company", whole, "name") if company else None


_RELATION_WORD = re.compile(rf"\b(?:{_KIN})\b", re.IGNORECASE)


def relation_words(text: str) -> set[str]:
    """Return the words for relations in a text, such as sister and client."""
    return set(map(str.lower, _RELATION_WORD.findall(text)))


_USER_FIRST = re.compile(r"[Tt]he user(?:['’]s)? ")


def thing_in_front(statement: str) -> EntityHint | None:
    """Return the company, project or person that a sentence begins with and calls so: "Corvid Labs pays on the 25th",
    "The Larder app uses SQLite", "My sister Ana lives in Bonn", "Omar owns the parser", "The user prefers tea"; or that
    it gives a name: "We are building an app called Tidemark"."""
    words, person = statement.rstrip(".!?").split(), CLOSE_PERSON.match(statement)
    if person:
        return EntityHint("person", person["name"] or person["first"], "named")
    if _USER_FIRST.match(statement):
        return EntityHint("person", "user", "named")
    starts = (" ".join(words[:end]) for end in range(min(_MOST_WORDS, len(words)), 0, -1))
    in_front = next((found for start in starts if (found := named_thing(start.rstrip(",;:")))), None)
    does, called = _PERSON_DOES.match(statement), _THING_CALLED.search(statement)
    name = (does["full"] or does["word"]) if does else ""
    if in_front or (name and _NO_PERSON.isdisjoint(name.lower().split()) and words[1].lower() not in _COMPANY):
        return in_front or EntityHint("person", name, IF_KNOWN if does and does["known"] else "named")
    title = (called["name"] or called["built"]).rstrip(".") if called else ""
    return EntityHint("company" if called and called["company"] else "project", title, "named") if title else None


# What says in words that it holds for the repository, and what is of the person who speaks.
_SAYS_HERE = re.compile(r"\b(?:here|(?:this|the|our) (?:repo(?:sitory)?|codebase|project))\b", re.IGNORECASE)
_OF_SPEAKER = re.compile(r"\b(?:I(?!/)|(?i:my|me|mine|myself|ich|meine?[mnrs]?|mir|mich|je|moi|mon|mes|yo|mi|mis))\b")
# What people alone do, and the things of a life and of a company.
_OF_PEOPLE = re.compile(
    r"\b(?:resign(?:s|ed)|quits?|retire[sd]|is (?:away|back|ill|sick|off|on (?:\w+ )?(?:leave|holidays?|vacation)|"
    r"pregnant|married|vegan|vegetarian|allergic)|(?:lives|works) (?:in|at|for|from)|prefers|likes|loves|hates|speaks|"
    r"joined|left|moved|apartment|bank|boss|car|cat|company|dentist|dinner|doctor|dog|flat|flight|garage|gym|hotel|house|insurance|"
    r"kitchen|landlord|landlady|lunch|mortgage|offices?|passport|pension|rent|salary|school|tax(?:es)?|vacation|vet|visa)\b"
)
# Who told it says nothing of what it is about.
TELLS = re.compile(rf"{_SMALL_CAPITAL}(?: {_SMALL_CAPITAL})? [a-z]+(?: [a-z]+){{0,3}}: (?=\S)")
# A name that a sentence begins with, or that its subject has: "Lars is", "Lars and Ana are", "The budget of Marmot".
_SINGULAR = (
    r"(?:is|was|has|had|will|can|could|might|may|must|should|went|won|got|gave|said|told|took|made|wrote|"
    rf"{_WORD}(?:s|ed)(?! (?:are|were|have|need|run|must|should|can|take|use|go)\b))\b"
)
_OF_NAME = re.compile(
    rf"(?!The |Our )(?P<first>{_SMALL_CAPITAL}) (?:{_SMALL_CAPITAL} |and {_CAPITAL} |{_SINGULAR})|(?:[Tt]he|[Oo]ur) "
    rf"({_SMALL_CAPITAL}) |(?:[Tt]he |[Oo]ur )?(?:[a-zA-Z][\w-]* ){{0,2}}?({_SMALL_CAPITAL})['’]s? "
    rf"|(?:[a-zA-Z][\w-]* ){{1,3}}(?:of|by|with) (?:the )?({_SMALL_CAPITAL})\b"
)


def is_of_repository(statement: str, project: str, user: str = "") -> bool:
    """Return whether a statement without a page of its own is about the work in a repository, or says that it is: not
    about the `user`, people, an office or another thing with a name. What names the owner of the repository's remote is
    about the work, too."""
    text, here, *owner = (normal(re.sub(r"[-_/.]", " ", words)) for words in (statement, *project_names(project)))
    if _SAYS_HERE.search(statement) or f" {here} " in f" {text} ":
        return True
    of_person = {*user.casefold().split()} - {"user"}
    if _OF_SPEAKER.search(statement) or is_private(statement) or not of_person.isdisjoint(text.split()):
        return False
    statement = TELLS.sub("", statement, count=1) if TELLS.match(statement) else statement
    technical = is_technical(statement)
    if languages_of(statement) or (found := _OF_NAME.match(statement)) is None:
        return technical or not (languages_of(statement) or _OF_PEOPLE.search(statement))
    name = next(filter(None, found.groups())).lower()
    is_thing = name in owner or is_technical(name) or (found["first"] is not None and name in word_list("common"))
    return is_thing and (technical or _OF_PEOPLE.search(statement) is None)


def project_name(text: str) -> str | None:
    """Return the name of the project in the object of `works_on`, or None if it is only described."""
    named = named_thing(text)
    if named:
        return named.title
    called = _CALLED.search(text)
    if called:
        return called["name"]
    return text if _NAME.fullmatch(text) else None


def kinds_of_objects(facts: Iterable[Fact], catalog: Catalog) -> dict[str, str]:
    """Return the kinds of the named things that the facts say somebody works at or on, by normalised name."""
    found: dict[str, str] = {}
    for fact in facts:
        kind = kind_of_object(fact.predicate, catalog)
        name = project_name(fact.object or "") if kind == "project" else fact.object
        if kind and fact.is_current and name and _NAME.fullmatch(name):
            found.setdefault(normal(name), kind)
    return found


def kind_of_object(predicate: str | None, catalog: Catalog) -> str | None:
    """Return the kind of entity that the object of a predicate is, or None."""
    if predicate == WORKS_ON:
        return "project"
    entry = catalog.predicates.get(predicate or "")
    return _KIND_OF_VALUE.get(entry.value) if entry else None


def predicates_of_things(catalog: Catalog) -> list[str]:
    """Return the predicates whose objects are projects or companies."""
    return [name for name in (*catalog.predicates, WORKS_ON) if kind_of_object(name, catalog)]


def names_in(text: str) -> Iterator[str]:
    """Yield each name that a text may contain, in normal form: one to four words that each begin with a capital."""
    for run in _NAME.finditer(_LEADING.sub("", text)):
        words = re.sub(r"['’]s?\b", "", run[0]).rstrip(".").split()
        for first in range(len(words)):
            for last in range(len(words), first, -1):
                yield normal(" ".join(words[first:last]))


def entity_name(hint: EntityHint) -> str | None:
    """Return the name of an entity created from the hint, or None if the title gives no valid name or only a person who
    is known is meant."""
    folder, last = _FOLDERS.get(hint.kind), slug(hint.title)
    if not folder or not last or hint.role == IF_KNOWN:
        return None
    try:
        return check_name(f"{folder}/{last}")
    except InvalidInput:
        return None


# What a person is and likes holds in every project.
_OF_THE_PERSON = frozenset("preference identity health relationship".split())


def learned_fact(proposition: Proposition, event: Event, fact_id: str, now: str, workflow: str) -> Fact:
    """Return the fact with its evidence.

    `now` is the recording time (ISO 8601 UTC), and `workflow` is the extractor. The quote is cut from the event itself,
    because the extractor may have seen other white space.
    """
    start, end = proposition.span
    fact = Fact(
        fact_id,
        proposition.statement,
        proposition.category,
        now,
        event.source or "conversation",
        subject=proposition.subject,
        predicate=proposition.predicate,
        object=proposition.object,
        relation_phrase=proposition.relation_phrase,
        valid_from=proposition.valid_from,
        valid_to=proposition.valid_to,
        source_event=event.id,
        source_text=event.text[start:end],
        source_span=proposition.span,
        confidence=proposition.confidence,
        importance=proposition.importance,
        trust=proposition.trust,
        agent=event.agent,
        workflow=workflow,
        project=_project_of(proposition, event),
        tags=proposition.tags,
        metadata={"said_at": proposition.said_at} if proposition.said_at else None,
    )
    return fact if proposition.ended else with_vital_importance(fact)


def usable_tags(words: object, statement: str) -> tuple[str, ...]:
    """Return those words of a reader's answer that a statement may be asked for by and does not have, at most five."""
    rows = words.split(",") if isinstance(words, str) else words if isinstance(words, list) else []
    texts = [one_line(text).lower() for text in rows if isinstance(text, str)]
    having = normal(statement)
    tags = [text for text in dict.fromkeys(texts) if len(text) <= _LONGEST_TAG and _TAG.fullmatch(text)]
    tags = [tag for tag in tags if normal(tag) not in having][:_MOST_TAGS]
    return tuple(tags) if find_injection(", ".join(tags)) is None else ()


def _project_of(proposition: Proposition, event: Event) -> str | None:
    """Return the project in which it was said, so that no other project sees it; None for what is not about that."""
    project = (event.metadata or {}).get("project")
    elsewhere = proposition.category in _OF_THE_PERSON or any(
        hint.role == ELSEWHERE for hint in proposition.entity_hints
    )
    if elsewhere or not isinstance(project, str):
        return None
    of_work = proposition.category in OF_PROJECTS or is_of_repository(proposition.statement, project)
    return project if of_work else None


class EntityHint(NamedTuple):
    """An entity that a proposition is about.

    `kind` is person, company, project or resource. `role` says why it is mentioned: `speaker` (the person who
    speaks), `relation` (someone close to the speaker), `work` (a project or employer of the speaker), `asked` (the
    text asks to keep it) or `mention`. `entity` is the name of the entity where a model named one that it was shown.
    """

    kind: str
    title: str
    role: str = "mention"
    entity: str | None = None


class FactChange(NamedTuple):
    """What a proposition does to a known fact: `how` is replace, end, same or refine.

    `target` is the id of the fact, or the `key` of a proposition that was found earlier in the same run.
    """

    target: str
    how: str


class Proposition(NamedTuple):
    """A statement proposed by an extractor; `source_text` is exactly the event's text at `span`.

    `ended` means that the triple is no longer true. `former` is the value that the text says was replaced ("from X to
    Y"). `corrects` means that the text begins with "No," or the like, and `anew` that it describes a change ("now").
    `changes` are the known facts that it changes, as a model that was shown them said. `valid_from` and `valid_to`
    are ISO days; confidence and importance are from 0 to 1. `doubt` is why the trust is limited, as a clause. `asked`
    means that the speaker asked to keep it. `tags` are words to ask for it by.
    """

    statement: str
    event_id: str
    span: tuple[int, int]
    source_text: str
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    relation_phrase: str | None = None
    category: str = DEFAULT_CATEGORY
    confidence: float = 0.7
    importance: float = DEFAULT_IMPORTANCE
    valid_from: str | None = None
    valid_to: str | None = None
    entity_hints: tuple[EntityHint, ...] = ()
    trust: str = "user"
    ended: bool = False
    former: str | None = None
    said_at: str | None = None
    corrects: bool = False
    anew: bool = False
    changes: tuple[FactChange, ...] = ()
    doubt: str = ""
    asked: bool = False
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return a name for the proposition that is unique within its run: the event and the statement."""
        return f"{self.event_id}:{self.statement}"
