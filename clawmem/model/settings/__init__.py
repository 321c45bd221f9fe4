"""Settings of a vault and of this machine, schedules, permissions, and accepted authors."""
