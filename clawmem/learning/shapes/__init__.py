"""What clauses say: one module for each way of saying it, `classify` to choose among them."""
