"""The plan of a file: what its pages show and change, kept beside it, and carried out by jobs."""
