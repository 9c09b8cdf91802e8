"""Publishing: figures of a release that reveal no single record, and values on grids that no record decides."""
