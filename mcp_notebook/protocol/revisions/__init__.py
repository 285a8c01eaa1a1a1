"""The registry of revisions. Adding one: a file here, a row below, a row in the tests' matrix."""

from ..revision import Revision
from . import v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28

ALL: dict[str, Revision] = {
    module.REVISION.name: module.REVISION
    for module in (v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28)
}
"""Every revision that is spoken, oldest first."""

LATEST_HANDSHAKE: Revision = v2025_11_25.REVISION
"""What a client proposes in `initialize`, and a server answers where it does not know the client's."""

MODERN: dict[str, Revision] = {name: revision for name, revision in ALL.items() if revision.era == "modern"}
"""The modern revisions, oldest first."""

LATEST_MODERN: Revision = v2026_07_28.REVISION
"""What a client speaks first to a server it does not know."""
