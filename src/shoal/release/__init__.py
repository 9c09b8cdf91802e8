"""Releases: what is handed out, the certificate that says what it promises, and the check of it by counting.
`protect` is where methods and measures meet; `verify` knows none of them.
"""
