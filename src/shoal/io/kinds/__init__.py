"""What a column of a table is: a number, a date, a label, a code; recognised by what it holds, or as its owner says."""
