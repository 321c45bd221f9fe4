"""Attribution: find out who says what in a message (quotations, reported speech, fiction, injected instructions)."""
