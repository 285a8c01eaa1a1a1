"""What servers ask for and tools take, as fields that a person can fill in. Pure: no widgets, no terminal."""

from __future__ import annotations

from .choices import Choice, Choices
from .entries import Entry, Group, Leaf, List, Union, written
from .field import NOTHING, Field
from .form import Form

__all__ = ["NOTHING", "Choice", "Choices", "Entry", "Field", "Form", "Group", "Leaf", "List", "Union", "written"]
