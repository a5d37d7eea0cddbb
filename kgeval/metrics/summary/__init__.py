"""Scores of a run -> its report: means with intervals, groups, leaderboard, cost, reasoning, the join with an audit."""
