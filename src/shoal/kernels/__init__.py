"""Hot loops: numba over arrays, arrays in and arrays out, one job each.
Nothing here knows of users, files or options; every kernel has a slow twin in tests/reference.
"""
