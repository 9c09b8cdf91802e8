"""Protection: what a method makes of records, in the form that may be published, with figures that may be published."""
