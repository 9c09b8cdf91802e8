"""What comes in: documents (folders of texts, JSONL, CSV, Parquet), baskets, tables with a role for every column.
Everything here reads and checks; whatever cannot be used is named in an InputError, never silently lost.
"""
