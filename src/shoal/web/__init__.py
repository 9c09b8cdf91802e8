"""The workbench: every job of the command line in the browser, on the owner's own machine.

A page translates what was chosen into a command, a job runs that command, and the page shows what it made.
"""

from shoal.web.app import workbench

__all__ = ["workbench"]
