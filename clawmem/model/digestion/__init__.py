"""Pure parts of digestion: choosing claims from a text, comparing them with facts, and the queue."""
