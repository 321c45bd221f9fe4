"""Files below .git/clawmem: journal, heartbeat state, spending, upkeep."""
