"""Files people have beside CSV and Parquet: of statistics packages, spreadsheets, databases; and dialects of CSV."""
