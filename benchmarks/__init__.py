"""Benchmarks: one script a claim, side by side with a peer on the same data in one run. See README.md."""
