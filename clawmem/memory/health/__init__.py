"""Status, doctor, repair, settings."""
