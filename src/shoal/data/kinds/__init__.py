"""What a column of a table is: a number, a date, a label, a code; recognised by its content, or given by its owner."""
