"""Mechanisms beside the revisions, one file each."""

from ..resuming import Dialect
from . import resumable_requests, resumable_streams

RESUMING: tuple[Dialect, ...] = (resumable_requests.DIALECT, resumable_streams.DIALECT)
"""The drafts for going on after a drop; where a client offers several, the first is used."""
