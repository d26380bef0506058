"""Data frames of what fslab, the laboratory for file systems, measured.

    import fslab

    with fslab.open("fslab.db") as store:
        phases = store.phases(metric="headline")
        ratios = store.compare("last", pair={"ext4": "xfs"})

Every figure, unit, direction and interval comes from the program ``fslab``, which this package
starts; it computes no statistics. The program is the one that the environment variable ``FSLAB``
names, otherwise ``fslab`` in ``PATH``.
"""

from ._frames import Frame
from ._histogram import Bucket, decode_histogram
from ._program import FslabError, FslabWarning, ProgramError, ProgramNotFound
from ._store import Store
from ._store import open_store as open

__all__ = [
    "Bucket",
    "Frame",
    "FslabError",
    "FslabWarning",
    "ProgramError",
    "ProgramNotFound",
    "Store",
    "decode_histogram",
    "open",
]
__version__ = "0.1.0"
