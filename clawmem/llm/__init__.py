"""The only code that calls a model: which one, for how much, and whether its answer will do."""
