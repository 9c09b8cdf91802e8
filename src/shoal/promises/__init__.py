"""Promises: what is asked of every group, of its size, its confidential values and its people."""
