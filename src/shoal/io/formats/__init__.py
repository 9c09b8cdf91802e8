"""Files people have beside CSV and Parquet: of statistics packages, spreadsheets, databases; and dialects of CSV."""

from shoal.io.formats.sources import Query, TableFile, format_of

__all__ = ["Query", "TableFile", "format_of"]
