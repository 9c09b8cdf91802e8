"""The page Protect: what a file holds, what is chosen about it, the command that protects it, and what came of it."""
