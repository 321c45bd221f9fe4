"""Facts: their fields, identifiers, validity, trust, and the form on disk."""
