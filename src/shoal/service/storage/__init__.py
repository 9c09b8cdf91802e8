"""The database and what keeps it and the index in memory in step. The database is the truth."""
