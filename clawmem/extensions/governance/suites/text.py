"""A suite as the text of its file."""

from __future__ import annotations

from clawmem.extensions.governance.suites.suite import Suite, suite_to_mapping


def suite_text(suite: Suite) -> str:
    """Return a suite as YAML that clawmem and promptfoo read."""
    import yaml  # slow to import

    return str(yaml.safe_dump(suite_to_mapping(suite), sort_keys=False, allow_unicode=True, width=118))
