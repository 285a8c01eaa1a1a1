"""Mechanisms beside the revisions, one file each."""

from collections.abc import Mapping

from ..resuming import Dialect
from ..tasks import TaskForm
from . import extension_tasks, receiver_tasks, requestor_tasks, resumable_requests, resumable_streams

RESUMING: tuple[Dialect, ...] = (resumable_requests.DIALECT, resumable_streams.DIALECT)
"""The drafts for going on after a drop; where a client offers several, the first is used."""

TASKS: Mapping[str, TaskForm] = {
    form.name: form for form in (requestor_tasks.FORM, receiver_tasks.FORM, extension_tasks.FORM)
}
"""The forms of tasks, by the names under which `Revision.tasks` has them."""
