"""A table of a release once more, in the format that came in: a copy that follows from the rows to the last byte."""
