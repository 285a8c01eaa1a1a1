"""The registry of revisions. Adding one: a file here, a row below, a row in the tests' matrix."""

from ..revision import Revision
from . import v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25

ALL: dict[str, Revision] = {
    module.REVISION.name: module.REVISION for module in (v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25)
}
"""Every revision that is spoken, oldest first."""

LATEST_HANDSHAKE: Revision = v2025_11_25.REVISION
"""What a client proposes in `initialize`, and a server answers where it does not know the client's."""
