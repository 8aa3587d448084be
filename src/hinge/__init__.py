"""Online learning when the answer is a ranking, an interval, k answers with one loss, a sequence or a list."""
