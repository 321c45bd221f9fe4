"""From a proposition to a decision: gate, reconciliation, placement, review."""
