"""The heartbeat: a table of steps that keep a memory alive, and the loop that runs them, for cron and for people."""
