"""Acts on facts: remember, revise, revoke, redact, decay."""
