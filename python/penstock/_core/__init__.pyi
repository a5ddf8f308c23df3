"""The compiled core. Private: only ``penstock.runtime`` imports it."""

from penstock._core import columnar as columnar
from penstock._core import operators as operators
from penstock._core import record as record
from penstock._core import snapshot as snapshot
from penstock._core import source as source
from penstock._core import state as state
from penstock._core import task as task

__version__: str
