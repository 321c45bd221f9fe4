"""The heartbeat: the table of maintenance steps and the loop that runs them."""
