"""Every algorithm once more, slow and literal: dense float64 NumPy, sharing nothing with the library."""
