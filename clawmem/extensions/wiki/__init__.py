"""The wiki: pages of facts that pass the gates, what the curator finds there, the site, and the dashboard."""

from clawmem.extension import Extension

_HERE = "clawmem.extensions.wiki"

EXTENSION = Extension(
    name="wiki",
    verbs={verb: f"{_HERE}.verbs:{verb.upper()}" for verb in ("wiki", "dashboard")},
    steps=f"{_HERE}.steps:STEPS",
    answers={"wiki build": f"{_HERE}.compile:build_wiki"},
)
