"""Files below `.git/clawmem/`: access journal, heartbeat state, spending, local settings, maintenance."""
