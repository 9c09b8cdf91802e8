"""What methods are called in words, by their names on the command line."""

from __future__ import annotations

IN_WORDS = {
    "mdav": "microaggregation (MDAV)",
    "ranking": "microaggregation of each column on its own",
    "z-scores": "microaggregation along the sum of z-scores",
    "principal-component": "microaggregation along the first principal component",
    "rank-swap": "rank swapping",
    "noise": "added noise",
    "correlated-noise": "added noise that keeps correlations",
    "mixed": "microaggregation (MDAV) of numbers and labels together",
    "sa-mdav": "semantic adaptive microaggregation (SA-MDAV)",
}
