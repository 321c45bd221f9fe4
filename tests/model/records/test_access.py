"""Who may see what: audiences, kinds of content, rules with relations, and grants of which the later one counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.records.access import (
    AccessMark,
    AccessPart,
    Grant,
    Policy,
    check_known,
    event_of_mark,
    mark_from,
    mark_in,
    mark_of_event,
    mark_text,
    marked_again,
    parse_grants,
    parse_policy,
    policy_from,
    verdict,
)
from clawmem.model.records.event import Event, marked_by
from clawmem.vault.strict_yaml import parse_yaml

NOW = "2026-11-21T12:00:00Z"
POLICY = policy_from(
    {
        "people": {
            "lucia": {"name": "Lucia Gomez", "role": "patient"},
            "rina": {"name": ["Rina Gomez", "Rina"], "role": "family"},
            "alvarez": {"name": "Dr. Alvarez", "role": "doctor", "of": {"doctor": "lucia"}},
            "owens": {"name": "Dr. Owens", "role": "doctor"},
            "clara": {"name": "Clara", "role": "reception"},
            "bot": {"role": "steward"},
        },
        "kinds": {"health": "Diagnoses and medicines.", "schedule": "Appointments."},
        "rules": [
            {"role": "doctor", "may": ["health", "schedule"], "relation": "doctor"},
            {"role": "reception", "may": "schedule"},
            {"role": "steward", "may": "all"},
        ],
        "channels": {"desk": ["reception", "alvarez"]},
    }
)
HEALTH = AccessMark(("health",), ("Lucia Gomez",), speaker="Dr. Owens")


def allowed(mark: AccessMark, *grants: Grant, moment: str = NOW) -> set[str]:
    """The people who may see what has a mark."""
    return {name for name, person in POLICY.people.items() if verdict(POLICY, grants, person, mark, moment).allowed}


def grant(who: str, *may: str, at: str = "2026-11-20T09:00:00Z", **values: Any) -> Grant:
    return Grant(f"grant_{at}", at, who, may or ("all",))._replace(**values)


EVERYBODY = set(POLICY.people)


@pytest.mark.parametrize(
    ("mark", "people"),
    [
        (AccessMark(), EVERYBODY),
        (AccessMark(about=("lucia",), speaker="Rina"), EVERYBODY),
        (HEALTH, {"lucia", "alvarez", "owens", "bot"}),
        (HEALTH._replace(about=("lucia", "rina")), {"owens", "bot"}),
        (HEALTH._replace(about=()), {"owens", "bot"}),
        (AccessMark(("health", "schedule"), ("lucia",)), {"lucia", "alvarez", "bot"}),
        (AccessMark(("schedule",), ("lucia",)), {"lucia", "alvarez", "clara", "bot"}),
        (AccessMark(("unknown",), ("lucia",)), {"lucia", "bot"}),
        (AccessMark(audience=("Rina", "reception"), speaker="Dr. Owens"), {"rina", "clara", "owens", "bot"}),
        (AccessMark(("health",), ("lucia",), ("rina", "alvarez")), {"alvarez", "bot"}),
        (AccessMark(audience=("#desk",)), {"clara", "alvarez", "bot"}),
        (AccessMark(audience=("#Desk",)), {"clara", "alvarez", "bot"}),
        (AccessMark(audience=("#elsewhere",)), {"bot"}),
        (AccessMark(audience=("nobody known",)), {"bot"}),
        (AccessMark(audience=("dr alvarez",)), {"alvarez", "bot"}),
        (
            AccessMark(audience=('"Dr Alvarez" <a@example.org>, clara; Eve <eve@example.org>',)),
            {"alvarez", "clara", "bot"},
        ),
        (AccessMark(audience=("Rina, Clara",)), {"rina", "clara", "bot"}),
        (AccessMark(audience=("Gomez, Rina",)), {"bot"}),
    ],
)
def test_what_is_marked_is_for_those_whom_an_audience_or_a_rule_names(mark: AccessMark, people: set[str]) -> None:
    assert allowed(mark) == people
    assert allowed(mark_in(mark_text(mark)) if mark_text(mark) else mark) == people


def test_a_grant_begins_ends_and_is_withdrawn() -> None:
    of_lucia = grant("rina", "health", of="lucia", until="2026-11-22T23:59:59Z", since="2026-11-21T00:00:00Z")
    assert "rina" in allowed(HEALTH, of_lucia)
    assert "rina" not in allowed(HEALTH, of_lucia, moment="2026-11-20T23:59:59Z")
    assert "rina" not in allowed(HEALTH, of_lucia, moment="2026-11-23T00:00:00Z")
    assert "rina" not in allowed(HEALTH._replace(about=("rina", "lucia")), of_lucia._replace(of="rina"))
    withdrawn = grant("rina", at="2026-11-21T09:00:00Z", allows=False)
    assert "rina" not in allowed(HEALTH, of_lucia, withdrawn)
    again = grant("family", "health", at="2026-11-21T10:00:00Z")
    assert "rina" in allowed(HEALTH, withdrawn, again, of_lucia)
    at_once = withdrawn._replace(timestamp=again.timestamp)
    assert "rina" in allowed(HEALTH, at_once, again) and "rina" not in allowed(HEALTH, again, at_once)


def test_what_is_withdrawn_counts_more_than_a_rule_and_less_than_ones_own_words() -> None:
    withdrawn = grant("doctor", "all", allows=False)
    assert allowed(HEALTH, withdrawn) == {"lucia", "owens", "bot"}
    assert "lucia" not in allowed(HEALTH, grant("lucia", "health", allows=False))
    assert verdict(POLICY, [withdrawn], POLICY.people["alvarez"], HEALTH, NOW).why == (
        "health of Lucia Gomez was withdrawn from doctor on 2026-11-20 (grant_2026-11-20T09:00:00Z)"
    )


_NAMES = st.lists(st.sampled_from([*POLICY.people, "Rina", "doctor", "stranger"]), max_size=3).map(tuple)
_KINDS = st.lists(st.sampled_from(["health", "schedule", "all", ""]), max_size=3).map(tuple)


@given(kinds=_KINDS, about=_NAMES, audience=_NAMES, more=st.sampled_from(["health", "schedule"]))
def test_a_further_kind_never_shows_more(
    kinds: tuple[str, ...], about: tuple[str, ...], audience: tuple[str, ...], more: str
) -> None:
    mark = AccessMark(kinds, about, audience)
    assert allowed(mark._replace(kinds=(*kinds, more))) <= allowed(mark)


@given(kinds=_KINDS, about=_NAMES, speaker=st.sampled_from(["Rina", None]))
def test_nobody_but_the_speaker_sees_kinds_that_were_withdrawn_from_him(
    kinds: tuple[str, ...], about: tuple[str, ...], speaker: str | None
) -> None:
    mark = AccessMark(kinds, about, speaker=speaker)
    people = allowed(mark, *(grant(name, allows=False) for name in POLICY.people))
    assert people == (({"rina"} if speaker else set()) if kinds else EVERYBODY)


def test_a_message_has_its_own_mark_or_the_audience_that_its_source_names() -> None:
    message = Event("evt_1", NOW, "user", "Hello.", "Rina")
    assert not mark_of_event(message).restricts
    said = {"participants": ["Rina", "Clara"], "channel": "desk"}
    assert mark_of_event(message._replace(metadata=said)) == AccessMark(audience=("Rina", "Clara"), speaker="Rina")
    assert mark_of_event(message._replace(metadata={"channel": "#desk"})).audience == ("#desk",)
    copied = mark_of_event(message._replace(metadata={"channel": "#desk", "cc": ["Dr. Owens"]}))
    assert allowed(copied) == {"rina", "clara", "alvarez", "owens", "bot"}
    assert mark_of_event(message._replace(metadata={"cc": ["Clara"]})).audience == ("Clara",)
    own = message._replace(metadata={"access": {"kinds": "health", "about": ["lucia"]}, "to": ["Clara"]})
    assert mark_of_event(own) == AccessMark(("health",), ("lucia",), speaker="Rina")


@pytest.mark.parametrize("wrong", ["health", 3, None, ["health"], {"kind": "health"}])
def test_a_mark_of_the_wrong_form_is_for_nobody_but_its_speaker(wrong: object) -> None:
    assert allowed(mark_from(wrong, "Clara")) == {"clara", "bot"}


def test_the_last_mark_counts_and_a_model_only_adds() -> None:
    message = Event("evt_1", NOW, "user", "Hello.", "Rina")
    by_model = event_of_mark(message, HEALTH, "claude", by_reader=True)
    assert marked_by(by_model) == "evt_1" and by_model.recalled
    first = marked_again(None, by_model, message)
    assert mark_in(first) == HEALTH._replace(speaker="Rina")
    to_clara = mark_text(AccessMark(audience=("Clara",), speaker="Rina"))
    assert mark_in(marked_again(to_clara, by_model, message)) == AccessMark(
        ("health",), ("Lucia Gomez",), ("Clara",), "Rina"
    )
    by_person = event_of_mark(message, AccessMark(("schedule",)), None)
    assert mark_in(marked_again(first, by_person, message)).kinds == ("schedule",)
    assert mark_in(marked_again(marked_again(first, by_person, message), by_model, message)).kinds == ("schedule",)
    assert marked_again(first, event_of_mark(message, AccessMark(), None), message) == ""


def test_the_parts_of_a_mark_stand_in_the_message_and_loosen_no_mark_that_was_there() -> None:
    message = Event("evt_1", NOW, "user", "Lucia comes on Friday. It is asthma.", "Rina")
    parts: list[dict[str, object]] = [
        {"words": words, "kinds": []} for words in ("Lucia comes on Friday.", "It is flu.")
    ]
    record = {"kinds": ["health"], "parts": [*parts, {"words": "It is asthma."}, "Lucia"]}
    by_model = event_of_mark(message, mark_from(record), "claude", by_reader=True)
    part = AccessPart("Lucia comes on Friday.", ())
    assert mark_in(marked_again(None, by_model, message)).parts == (part,)
    to_clara = AccessMark(audience=("Clara",), speaker="Rina")
    marked = mark_in(marked_again(mark_text(to_clara), by_model, message))
    assert marked.of_part(part) == to_clara
    by_source = mark_text(AccessMark(("schedule",), speaker="Rina"))
    assert mark_in(marked_again(by_source, by_model, message)).parts == ()
    for hidden in (message._replace(text=f"{message.text} [redacted]"), message._replace(metadata={"withheld": 1})):
        assert mark_in(marked_again(None, by_model, hidden)).parts == ()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("people: [lucia]\n", "people"),
        ("people: {lucia: {age: 3}}\n", "people.lucia.age"),
        ("rules: [{role: doctor}]\n", "rules[0].may"),
        ("rules: [{role: doctor, may: health}]\n", "rules[0].may"),
        ("kinds: {health: ''}\n", "kinds.health"),
        ("rooms: {}\n", "rooms"),
        ("- lucia\n", "must be an object"),
    ],
)
def test_a_policy_of_the_wrong_form_is_refused_with_its_key(text: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem.replace("[", r"\[")):
        parse_policy(text.encode(), "governance/access.yaml", parse_yaml)


def test_an_empty_policy_and_a_log_of_grants_are_read() -> None:
    assert parse_policy(b"", "governance/access.yaml", parse_yaml) == Policy()
    line = b'{"id": "grant_1", "timestamp": "2026-11-20T09:00:00Z", "who": "rina", "may": "health"}\n'
    assert parse_grants(line, "governance/grants.jsonl", parse_yaml)[0].may == ("health",)
    with pytest.raises(Unreadable, match="jsonl:1 "):
        parse_grants(b'{"id": "grant_1"}\n', "governance/grants.jsonl", parse_yaml)


def test_names_that_the_policy_lacks_are_refused() -> None:
    check_known(POLICY, ["Rina"], ["health", "all"], "doctor")
    for people, kinds, who in ((["Eve"], [], None), ([], ["money"], None), ([], [], "Eve")):
        with pytest.raises(InvalidInput, match=r"governance/access\.yaml has no"):
            check_known(POLICY, people, kinds, who)


def test_what_is_withdrawn_as_a_whole_is_withdrawn_of_audiences_and_of_roles_that_see_all() -> None:
    channel, health = AccessMark(audience=("#desk",)), HEALTH
    gone, later = grant("bot", allows=False), grant("bot", at="2026-11-20T10:00:00Z")
    assert "bot" not in allowed(channel, gone) | allowed(health, gone) | allowed(health, grant("steward", allows=False))
    assert "bot" in allowed(channel, gone, later) & allowed(health, gone, later)
    person = POLICY.people["bot"]
    assert POLICY.sees_everything((), person, NOW) and POLICY.sees_everything((gone, later), person, NOW)
    for some in (gone, grant("bot", "health", of="lucia", allows=False)):
        assert not POLICY.sees_everything((some,), person, NOW)
    assert POLICY.sees_everything((gone._replace(until="2026-11-21T00:00:00Z"),), person, NOW)
    assert "clara" not in allowed(channel, grant("reception", allows=False))
    assert "clara" in allowed(
        channel, grant("clara", "schedule", allows=False), grant("clara", of="lucia", allows=False)
    )
    assert "rina" in allowed(channel, grant("rina")) and "rina" not in allowed(channel, grant("rina", of="lucia"))


def test_without_channels_in_the_policy_each_channel_is_for_everybody() -> None:
    policy, mark = POLICY._replace(channels={}), AccessMark(audience=("#elsewhere",))
    assert all(verdict(policy, (), person, mark, NOW).allowed for person in policy.people.values())
    assert (policy.unknown_in(mark.audience), POLICY.unknown_in(("#desk", *mark.audience, "Eve"))) == (
        [], ["#elsewhere", "Eve"],
    )  # fmt: skip


def test_a_name_is_found_as_it_is_written_and_a_title_is_no_first_name() -> None:
    names = {"will": "Will Smith", "chen": "Dr Chen", "weber": ["Frau Weber", "Prof. Weber"]}
    policy = policy_from({"people": {name: {"name": names[name]} for name in names}})
    for text, people in (
        ("The salary of Karl will be 90000.", []),
        ("Dr Moor and Frau Lenz earn it, and Prof. Lang.", []),
        ("Will earns it, and Dr Chen.", ["will", "chen"]),
        ("Prof. Weber earns it.", ["weber"]),
    ):
        found = [name for name, person in policy.people.items() if policy.pattern_of(person).search(text)]
        assert found == people, text
