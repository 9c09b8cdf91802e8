"""How each file of a release must look, to the last byte. Part of verification: knows no method and no writer."""
