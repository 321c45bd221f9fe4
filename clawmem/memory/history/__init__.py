"""The history of the vault, of an entity, and of a fact."""
