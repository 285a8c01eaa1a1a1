from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import SimpleNamespace

import pytest

from mcp_notebook.notebook.runtime import Runtime

from ..kernels import Kernel, kernel_names
from .cells import Cells, ipython
from .working import prepared


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    """A runtime of a shell without a kernel, in this process."""
    runtime = Runtime.of(SimpleNamespace())
    yield runtime
    runtime.close()


@pytest.fixture
def cells() -> Iterator[Cells]:
    """An IPython shell of this process, with `%mcp` loaded."""
    with ipython() as cells:
        yield cells


@pytest.fixture(scope="module", params=kernel_names())
def kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    """A kernel of each kind, shared by the tests of a module, with `tests.waits` loaded."""
    with started(request.param) as kernel:
        yield kernel


@pytest.fixture(params=kernel_names())
def own_kernel(request: pytest.FixtureRequest) -> Iterator[Kernel]:
    """A kernel of each kind for one test, which may end it."""
    with started(request.param) as kernel:
        yield kernel


LOADED = "import asyncio, threading, time\n%load_ext tests.waits"


def started(name: str) -> AbstractContextManager[Kernel]:
    """A running kernel with the test extension; the test is skipped where there can be none."""
    return prepared(name, LOADED)


def load(kernel: Kernel) -> None:
    loaded = kernel.run(LOADED)
    assert loaded.status == "ok", loaded
