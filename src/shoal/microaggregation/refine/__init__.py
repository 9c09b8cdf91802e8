"""Refinement: from any partition to a better one."""
