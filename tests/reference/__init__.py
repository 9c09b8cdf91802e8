"""Slow, obviously right twins of the kernels: plain Python, one loop a line of the definition.
They are what the kernels are compared with, and share no code with them.
"""
