"""Results that cross folders: small frozen values, each a measured thing with what it is measured against."""
