"""Routes: one file per page. Each translates, calls one function, and shows what came back."""
