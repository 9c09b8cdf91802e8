"""Commands about what a release is worth: who vouches for it, and whether its promises hold."""

from shoal.cli.trust.sign import sign
from shoal.cli.trust.verify import verify

__all__ = ["sign", "verify"]
