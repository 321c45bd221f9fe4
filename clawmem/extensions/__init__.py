"""Extensions: features that the core knows only by name. Each folder can be deleted."""
