"""Exploration: many protections tried, one recommended."""
