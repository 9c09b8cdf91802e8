"""Commands that look at the columns of a table before it is protected."""

from shoal.cli.columns.inspecting import inspect
from shoal.cli.columns.mapping import map_values

__all__ = ["inspect", "map_values"]
