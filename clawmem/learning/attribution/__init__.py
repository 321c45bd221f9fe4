"""Whose words a text is: quotations, reported speech, fiction, orders, the speaker."""
