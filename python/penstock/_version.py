"""The version of Penstock; the build reads it from here."""

__version__ = "0.1.0"
