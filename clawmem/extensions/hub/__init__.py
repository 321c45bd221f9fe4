"""The hub: the organisation's tier in PostgreSQL or in a vault, and the interchange contract."""

from clawmem.extension import Extension

_HERE = "clawmem.extensions.hub"

EXTENSION = Extension(
    name="hub",
    verbs={verb: f"{_HERE}.verbs.{verb}" for verb in ("hub", "org", "publish")},
    answers={
        "beside": f"{_HERE}.organisation_search:asked_beside",
        "contract schema": f"{_HERE}.contract:SCHEMA",
        "contract export": f"{_HERE}.contract_export:export_contract",
    },
)
