"""The English verbs that the rules know: their forms and classes."""

from __future__ import annotations

from clawmem.model.language.irregular import irregular_verbs

PRESENT = "present"
PAST = "past"
PARTICIPLE = "participle"
ING = "ing"

# Things that happened and that somebody may ask about in a month, whatever else the sentence says.
MILESTONES = frozenset(
    "adopt marry graduate enroll enrol sign join quit retire found launch publish win earn donate volunteer "
    "move relocate "
    "start begin finish complete buy sell lease rent inherit lose break divorce propose switch migrate decide choose "
    "apply interview accept reject hire fire promote award elect nominate diagnose bear raise open close "
    "register book "
    "schedule organize organise host perform compete release deploy ship implement refactor upgrade receive grow "
    "participate attend build write record compose design create become learn teach discover invent purchase "
    "order pass "
    "fail score beat train coach mentor immigrate emigrate settle renovate restore celebrate land achieve qualify "
    "submit renew cancel replace convert rename merge configure integrate install subscribe invest plant knit sew "
    "injure sprain tear recover foster rescue immerse audition direct produce film exhibit display present "
    "found".split()
)

# Things that happened too, worth keeping only where the sentence pins them down with a date or a name.
EVENTS = frozenset(
    "go get make take see watch visit meet play try paint cook bake hike run read swim climb travel fly drive "
    "ride camp "
    "explore spend have give bring find do put set add draw sing dance plan throw catch collect help work study "
    "practice practise stay eat grill surf ski snowboard skate kayak sail dive fish hunt walk race bike cycle adopt "
    "gift send share speak talk present interview fix repair clean paint decorate photograph shoot carve sculpt mold "
    "assemble pick choose tour trek backpack jog lift box spar test debug profile optimize optimise measure reduce "
    "improve increase hold raise lead manage use stream skype call text email chat discuss reach hit watch "
    "rewatch reread "
    "lock pack unpack pull lend borrow win contact connect reconnect hang check order grab snag score research set "
    "upgrade handle achieve cover fund support show teach serve deliver network attend arrive return leave".split()
)

# What somebody does again and again.
HABITS = frozenset(
    "live work study teach volunteer own play speak practice practise collect coach run drive commute eat "
    "drink take use "
    "attend go write paint cook bake read swim hike ride cycle bike jog meditate garden dance sing draw sew "
    "knit fish "
    "surf ski train watch listen visit travel walk meet visit host mentor camp raise breed grow make have get "
    "do help "
    "keep spend smoke avoid follow support wear sleep wake stream record blog photograph carve craft build code "
    "develop design research manage lead earn rent exercise lift climb journal call attend sell deploy release "
    "ship test order pay review".split()
)

# What can be under way for weeks ("I'm learning Portuguese").
UNDERTAKINGS = frozenset(
    "work learn study train write build develop plan research save volunteer teach take move expect prepare organize "
    "organise host apply start launch open run attend design consider play practice practise paint read "
    "rehearse record "
    "compose raise coach mentor renovate restore plant grow date adopt foster live rent sell create produce "
    "direct film "
    "collaborate pursue explore switch migrate use deploy test refactor implement integrate collect edit publish "
    "compete perform recover rehab relocate make major minor finish complete intern manage lead care babysit "
    "homeschool "
    "get pay buy look try aim focus join do go network juggle knit crochet code translate put think".split()
)

LIKING = {
    "like": "likes", "love": "likes", "enjoy": "likes", "adore": "likes",
    "hate": "dislikes", "dislike": "dislikes", "detest": "dislikes", "loathe": "dislikes",
    "prefer": "prefers",
}  # fmt: skip

# Verbs of the moment, of feeling and of talk: never the main verb of something to remember.
IDLE = frozenset(
    "think feel guess believe know hope wish suppose hear see understand agree mean say tell ask remember forget "
    "appreciate thank congratulate bet wonder imagine miss admire care worry seem look sound need let promise "
    "mention notice stay keep recommend suggest assume doubt expect trust respect cherish value cheer".split()
)

_DOUBLED = frozenset(
    "plan stop chat shop jog run swim hit set put get win quit cut let bet skip drop hug pop trim spar refer "
    "snag grab "
    "sit split ship enrol commit submit step pet babysit wed begin rehab rebut".split()
)
_MORE = frozenset(
    "be come fall stand sit arrive cut hurt stop end drop rewrite rebuild split deal want intend hope dream "
    "plan pass name expire resign postpone delay reschedule extend remove "
    "call turn die suffer specialize specialise major focus belong identify report commit fight push pop welcome "
    "separate wed cost weigh cover last return resign laugh need require depend trade scale rely live".split()
)


def third_person(lemma: str) -> str:
    """Return the third-person form: `go` -> `goes`."""
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if lemma in special:
        return special[lemma]
    if lemma.endswith(("s", "x", "z", "ch", "sh")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ies"
    return lemma + "s"


def _past(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        return lemma[:-1] + "ied"
    return (lemma + lemma[-1] if lemma in _DOUBLED else lemma) + "ed"


def _ing(lemma: str) -> str:
    if lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe")) and lemma != "be":
        return lemma[:-1] + "ing"
    return (lemma + lemma[-1] if lemma in _DOUBLED else lemma) + "ing"


def _forms() -> dict[str, tuple[tuple[str, str], ...]]:
    table: dict[str, list[tuple[str, str]]] = {}
    irregular = irregular_verbs()
    for lemma in sorted(MILESTONES | EVENTS | HABITS | UNDERTAKINGS | IDLE | LIKING.keys() | _MORE):
        past, *participle = irregular.get(lemma, (_past(lemma),))
        entries = [(lemma, PRESENT), (third_person(lemma), PRESENT), (past, PAST), (_ing(lemma), ING)]
        entries += [(form, PARTICIPLE) for form in participle or [past]]
        for form, kind in entries:
            table.setdefault(form, []).append((lemma, kind))
    return {form: tuple(dict.fromkeys(readings)) for form, readings in table.items()}


FORMS = _forms()


def lemma_as(word: str, kind: str) -> str | None:
    """Return the lemma of a word read as the given form, or None."""
    lowered = word.lower()
    lowered = lowered[:-1] + "g" if lowered.endswith("in'") else lowered
    return next((lemma for lemma, form in FORMS.get(lowered, ()) if form == kind), None)
