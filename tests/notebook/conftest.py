from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from mcp_notebook.notebook.runtime import Runtime

from ..cache import Unavailable
from ..kernels import Kernel, kernel_names, running_kernel
from .cells import Cells, ipython


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


class started:
    """A running kernel with the test extension; the test is skipped where there can be none."""

    def __init__(self, name: str) -> None:
        self._running = running_kernel(name)

    def __enter__(self) -> Kernel:
        try:
            kernel = self._running.__enter__()
        except Unavailable as why:
            pytest.skip(str(why))
        load(kernel)
        return kernel

    def __exit__(self, *what: object) -> None:
        self._running.__exit__(*what)  # pyright: ignore[reportArgumentType]


def load(kernel: Kernel) -> None:
    loaded = kernel.run("import asyncio, threading, time\n%load_ext tests.waits")
    assert loaded.status == "ok", loaded
