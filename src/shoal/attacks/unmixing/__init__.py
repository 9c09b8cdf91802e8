"""Unmixing: a release of documents taken apart, from the published rows back to the members of each group."""
