"""put: documents are counted, placed and encrypted here, and sent several at a time, each of them once."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

import numpy as np
import scipy.sparse as sp
