"""Acts on facts, entities, notes and history."""
