"""Statistics on scores and verdicts that people bring from their own judge: files -> arrays -> StatsReport. Pure."""
