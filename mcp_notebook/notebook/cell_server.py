"""`%%mcp server NAME`: a server whose tools are the functions of a cell."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..server import Server
from .brief import CommandError, brief
from .workspace import Workspace, target_of


@dataclass(frozen=True, slots=True)
class Served:
    """What came of the cell.

    Attributes:
        server: the server.
        again: whether it was there before.
        changes: which tools came and went, in words.
    """

    server: Server
    again: bool
    changes: str


def run_cell(workspace: Workspace, name: str, cell: str) -> Served:
    """Run a cell, and have a server offer its functions as tools.

    While the cell runs, its name stands for a new server, which decorators can use. Only if all goes well does the
    server that was there before take over what the new one offers; its clients hear of that once.

    Args:
        workspace: the connections.
        name: what the server is called, in the namespace and as a connection.
        cell: the code.

    Raises:
        MCPError: the name is taken, or a function cannot be a tool.
        Exception: what the cell raises.
    """
    shell = workspace.shell
    code = _Code(shell, cell)
    server = _before(workspace, name, code)
    namespace: dict[str, Any] = shell.user_ns
    with _restored_on_failure(namespace, name):
        namespace[name] = draft = Server(name)
        code.run()
        new = namespace.get(name)
        draft = new if isinstance(new, Server) else draft
        for tool in code.tools(name):
            _offer(draft, namespace[tool])
        draft.instructions = draft.instructions or ast.get_docstring(code.tree)
    if server is None:
        namespace[name] = server = draft
        changes, again = "", False
    else:
        namespace[name] = server
        changes, again = _compared(server.registry.tools, draft.registry.tools), True
        server.take_over(draft)
    workspace.wait(_connected(workspace, name, server))
    return Served(server, again, changes)


async def _connected(workspace: Workspace, name: str, server: Server) -> None:
    member = workspace.get(name)
    if member is None or not member.connected or member.client.destination.server is not server:
        await workspace.connect(name, target_of(server))


def _before(workspace: Workspace, name: str, code: _Code) -> Server | None:
    """The server that the cell made before; None at the first time. Raises CommandError."""
    if not name.isidentifier():
        raise CommandError(f"{name!r} is no name for a server in a cell: it is a Python name, too, such as demo.")
    if name in code.defined():
        raise CommandError(f"The cell defines {name!r}, which is the server's own name. Call one of them otherwise.")
    present = workspace.shell.user_ns.get(name)
    member = workspace.get(name)
    if present is not None and not isinstance(present, Server):
        raise CommandError(
            f"{name!r} is already the name of something else here, of type {type(present).__name__}. Choose another "
            f"name for the server, or `del {name}` first."
        )
    served = member.client.destination.server if member is not None else None
    if member is not None and served is None and member.connected:
        raise CommandError(
            f"{name!r} is already connected, to {member.target}. Choose another name, or %mcp disconnect {name}."
        )
    return served if isinstance(served, Server) and present in (None, served) else present


@contextmanager
def _restored_on_failure(namespace: dict[str, Any], name: str) -> Iterator[None]:
    missing = object()
    before = namespace.get(name, missing)
    try:
        yield
    except BaseException:
        if before is missing:
            namespace.pop(name, None)
        else:
            namespace[name] = before
        raise


class _Code:
    """The cell's code, compiled as IPython compiles a cell: magics work in it, and tracebacks show its lines.

    Raises:
        CommandError: it is no Python.
    """

    def __init__(self, shell: Any, cell: str) -> None:
        self._shell = shell
        source = shell.transform_cell(cell)
        self._file = shell.compile.cache(source, shell.execution_count, raw_code=cell)
        try:
            self.tree: ast.Module = shell.compile.ast_parse(source, filename=self._file)
        except SyntaxError as error:
            told = "".join(traceback.format_exception_only(error))
            lines = ["● this cell is no Python", *told.splitlines()]
            raise brief(CommandError(f"This cell is no Python: {told}"), lines) from None

    def run(self) -> None:
        """Run it in the notebook's namespace. What it raises is shown with its own lines only."""
        compiled = self._shell.compile(self._shell.transform_ast(self.tree), self._file, "exec")
        try:
            exec(compiled, self._shell.user_ns)
        except BaseException as error:
            own = error.__traceback__ and error.__traceback__.tb_next
            shown = self._shell.InteractiveTB.structured_traceback(type(error), error, own)
            raise brief(error, shown) from None

    def defined(self) -> list[str]:
        """The names of the functions and classes that it defines."""
        return [node.name for node in _definitions(self.tree.body)]

    def tools(self, server: str) -> list[str]:
        """The names of the functions that become tools: the public ones, but for those that the cell itself offers."""
        nodes = {node.name: node for node in _definitions(self.tree.body) if not isinstance(node, ast.ClassDef)}
        offered = {name for name, node in nodes.items() if any(_root(each) == server for each in node.decorator_list)}
        namespace = self._shell.user_ns
        return [
            name for name in nodes if not name.startswith("_") and name not in offered and callable(namespace.get(name))
        ]


_Definition: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef"


def _definitions(statements: Iterable[ast.stmt]) -> Iterator[_Definition]:
    """The functions and classes that a module defines, also under `if`, `with`, `try` or in a loop."""
    for statement in statements:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from _definitions(getattr(statement, field, []))
        for handler in getattr(statement, "handlers", []):
            yield from _definitions(handler.body)


def _root(decorator: ast.expr) -> str:
    """The first name of a decorator such as `demo.resource("x://{id}")`."""
    while isinstance(decorator, (ast.Call, ast.Attribute)):
        decorator = decorator.func if isinstance(decorator, ast.Call) else decorator.value
    return decorator.id if isinstance(decorator, ast.Name) else ""


def _offer(_server: Server, _function: Any) -> None:
    # Annotations are resolved with the names of the caller's frame: here there are none that a cell would use.
    _server.tool(_function)


def _compared(before: Iterable[str], now: Iterable[str]) -> str:
    """Which tools came, and which went."""
    old, new = list(before), list(now)
    came = [f"+{name}" for name in new if name not in old]
    went = [f"−{name}" for name in old if name not in new]
    return " ".join([*came, *went])
