"""Pages: plain data in, HTML out. No method is known here."""
