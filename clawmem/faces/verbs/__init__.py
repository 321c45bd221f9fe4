"""The verbs: each module holds one, as `VERB`, and the table names them."""
