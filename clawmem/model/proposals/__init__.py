"""Propositions from extractors, proposals for a person, promotion and quarantine."""
