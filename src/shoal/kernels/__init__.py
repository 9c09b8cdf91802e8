"""Hot loops: numba over arrays, arrays in and arrays out, one job each.
Nothing here knows of users, files or options; every kernel has a slow twin in tests/reference.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[Any]  # whole numbers of any size, and truth values
