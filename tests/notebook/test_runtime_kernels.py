"""The runtime in real kernels, with this test as their front end."""

import os
import shutil
import time
from pathlib import Path

import pytest

from ..cache import Unavailable
from ..kernels import ROOT, Kernel, kernel_names, running_kernel
from .conftest import load

WAITS = {"blocking": "runtime.wait({}, 10)", "await": "await runtime.settled({})"}

both_ways = pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())


def shown(kernel: Kernel, request: str) -> tuple[str, str]:
    """The comm ids of the text field and the button of a `Question` whose cell prints them first."""
    field, button = kernel.until(request, "\n").text.splitlines()[0].split()
    return field, button


ASK = """
question = Question()
print(question.field.comm.comm_id, question.button.comm.comm_id)
"""


def test_work_goes_on_between_cells(kernel: Kernel) -> None:
    kernel.run("""
        count = [0]
        async def counting():
            while True:
                count[0] += 1
                await asyncio.sleep(0.01)
        counter = runtime.submit(counting())
    """)
    before = kernel.value("count[0]")
    end = time.monotonic() + 10
    while kernel.value("count[0]") <= before:
        assert time.monotonic() < end
    kernel.run("counter.cancel()")


@both_ways
def test_a_widget_can_be_answered_in_the_cell_that_waits_for_it(kernel: Kernel, wait: str) -> None:
    request = kernel.send(ASK + f"print('answer', {wait.format('question.answer')})", cell="a")
    field, button = shown(kernel, request)
    # A front end holds a field's later values back until it hears that the kernel is done with the one before.
    for written in ("A", "Ad", "Ada"):
        message = kernel.comm(field, {"method": "update", "state": {"value": written}, "buffer_paths": []})
        kernel.until(message, lambda heard: heard.idle)
    kernel.click(button)
    outcome = kernel.outcome(request)
    assert outcome.status == "ok"
    assert outcome.text.endswith("answer Ada\n")


@both_ways
@pytest.mark.parametrize("meanwhile", ["time.sleep(0.5)", "await asyncio.sleep(0.5)"], ids=["computes", "awaits"])
def test_a_widget_that_was_answered_before_the_wait_began_is_answered(
    kernel: Kernel, wait: str, meanwhile: str
) -> None:
    if "await" in meanwhile and kernel.name in ("ipykernel70", "ipykernel71", "ipykernel72", "ipykernel73"):
        pytest.skip("from 7.0 to 7.3 the kernel itself holds such messages back until the cell has ended")
    request = kernel.send(ASK + f"{meanwhile}\nprint('answer', repr({wait.format('question.answer')}))")
    _, button = shown(kernel, request)
    kernel.click(button)
    assert kernel.outcome(request).text.endswith("answer ''\n")


def test_a_widget_can_be_answered_when_the_cell_has_ended(kernel: Kernel) -> None:
    request = kernel.send("""
        question = Question()
        async def work():
            return await asyncio.wrap_future(question.answer)
        future = runtime.submit(work())
        print(question.field.comm.comm_id, question.button.comm.comm_id)
    """)
    kernel.outcome(request)
    _, button = shown(kernel, request)
    kernel.outcome(request)
    assert kernel.value("future.done()") is False
    kernel.until(kernel.click(button), lambda heard: heard.idle)
    assert kernel.value("future.result(5)") == ""


@both_ways
def test_queued_cells_run_in_order_after_the_wait(kernel: Kernel, wait: str) -> None:
    kernel.run("order = []")
    request = kernel.send(ASK + f"{wait.format('question.answer')}; order.append('first')")
    _, button = shown(kernel, request)
    queued = [kernel.send(f"order.append({n}); print('cell', {n})") for n in range(4)]
    kernel.click(button)
    assert [kernel.outcome(cell).text for cell in queued] == [f"cell {n}\n" for n in range(4)]
    assert kernel.value("order") == ["first", 0, 1, 2, 3]


@both_ways
def test_output_after_a_widgets_message_belongs_to_the_cell(kernel: Kernel, wait: str) -> None:
    request = kernel.send(ASK + f"{wait.format('question.answer')}\nprint('printed')\ndisplay('displayed')\n'result'")
    _, button = shown(kernel, request)
    kernel.click(button)
    outcome = kernel.outcome(request)
    assert outcome.text.endswith("printed\n")
    assert [bundle["text/plain"] for bundle in outcome.data] == ["'displayed'", "'result'"]
    assert outcome.status == "ok"


def test_a_wait_left_behind_by_one_cell_does_not_take_the_output_of_the_next(kernel: Kernel) -> None:
    if kernel.name == "ipykernel70":
        pytest.skip("7.0 has no way to ask for the request that was last set")
    first = kernel.send(ASK + "left_behind = asyncio.ensure_future(runtime.settled(question.answer))")
    field, button = shown(kernel, first)
    kernel.outcome(first)
    second = kernel.send("""
        print('begun')
        await asyncio.sleep(0.5)
        thread = threading.Thread(target=print, args=('from a thread',))
        thread.start()
        thread.join()
        print('end')
    """)
    kernel.until(second, "begun\n")
    kernel.comm(field, {"method": "update", "state": {"value": "A"}, "buffer_paths": []})
    assert kernel.outcome(second).text == "begun\nfrom a thread\nend\n"
    kernel.click(button)
    assert kernel.run("print(await left_behind)").text == "A\n"


def test_a_widgets_callback_can_wait_for_another_widget(kernel: Kernel) -> None:
    request = kernel.send("""
        first, second = Question(), Question()
        first.button.on_click(lambda _: print('inner', repr(runtime.wait(second.answer, 10))))
        print(first.button.comm.comm_id, second.button.comm.comm_id)
        runtime.wait(first.answer, 10)
        print('end')
    """)
    first, second = shown(kernel, request)
    clicks = [kernel.click(first), kernel.click(second)]
    assert kernel.outcome(request).text.endswith("end\n")
    assert kernel.until(clicks[0], lambda heard: heard.idle).text == "inner ''\n"
    assert kernel.run("print('next')").text == "next\n"


@both_ways
def test_many_jobs_for_the_main_thread_leave_widgets_their_turn(kernel: Kernel, wait: str) -> None:
    kernel.run("""
        async def asker(answer):
            while not answer.done():
                await on_main(lambda: time.sleep(0.005))
        async def flood(answer):
            await asyncio.gather(*[asker(answer) for _ in range(20)])
    """)
    request = kernel.send(ASK + wait.format("runtime.submit(flood(question.answer))"))
    _, button = shown(kernel, request)
    kernel.click(button)
    assert kernel.outcome(request).status == "ok"


@both_ways
def test_an_interrupt_cancels_the_work_and_queued_cells(kernel: Kernel, wait: str) -> None:
    request = kernel.send(f"cancelled.clear()\n{wait.format('runtime.submit(endless())')}")
    kernel.until(request, "waits\n")
    queued = kernel.send("1")
    kernel.interrupt()
    outcome = kernel.outcome(request)
    assert outcome.status == "error"
    assert outcome.error.split(":")[0] in ("KeyboardInterrupt", "CancelledError")
    assert kernel.outcome(queued).status == "aborted"
    assert kernel.value("cancelled.wait(5)") is True


def test_a_cell_that_comes_together_with_an_interrupt_is_not_lost(kernel: Kernel) -> None:
    kernel.run("""
        import signal
        socket = runtime._main.pump._stream.socket
        receive = socket.recv_multipart
        def receive_and_be_interrupted(*how, **more):
            frames = receive(*how, **more)
            socket.recv_multipart = receive
            signal.raise_signal(signal.SIGINT)
            return frames
    """)
    request = kernel.send("""
        cancelled.clear()
        socket.recv_multipart = receive_and_be_interrupted
        runtime.wait(runtime.submit(endless()), 10)
    """)
    kernel.until(request, "waits\n")
    queued = kernel.send("1")
    assert kernel.outcome(request).error.startswith("KeyboardInterrupt")
    assert kernel.outcome(queued).status == "aborted"
    assert kernel.value("cancelled.wait(5)") is True


def test_an_interrupt_gets_through_to_a_wait_that_blocks_an_async_cell(kernel: Kernel) -> None:
    request = kernel.send("await asyncio.sleep(0)\nruntime.wait(runtime.submit(endless()))")
    kernel.until(request, "waits\n")
    kernel.interrupt()
    assert kernel.outcome(request).error.startswith("KeyboardInterrupt")
    assert kernel.run("print('next')").text == "next\n"


@both_ways
def test_an_idle_kernel_survives_an_interrupt_after_a_wait(kernel: Kernel, wait: str) -> None:
    request = kernel.send(ASK + wait.format("question.answer"))
    _, button = shown(kernel, request)
    kernel.click(button)
    assert kernel.outcome(request).status == "ok"
    kernel.interrupt()
    assert kernel.run("print('alive')").text == "alive\n"


@both_ways
def test_a_question_can_be_put_by_input_while_the_cell_waits(kernel: Kernel, wait: str) -> None:
    outcome = kernel.run(f"print({wait.format('runtime.submit(asking())')})", answers=["Ada"])
    assert outcome.text == "hello Ada\n"


@both_ways
def test_an_interrupt_at_input_ends_the_cell(kernel: Kernel, wait: str) -> None:
    kernel.run("asks = lambda: on_main(lambda: (print('asks', flush=True), time.sleep(30)))")
    request = kernel.send(wait.format("runtime.submit(asks())"), answers=[])
    kernel.until(request, "asks\n")
    kernel.interrupt()
    assert kernel.outcome(request).error.split(":")[0] in ("KeyboardInterrupt", "CancelledError")
    assert kernel.run("print('next')").text == "next\n"


def test_a_front_end_without_stdin_refuses_input(kernel: Kernel) -> None:
    assert kernel.run("runtime.wait(runtime.submit(asking()))").error.startswith("StdinNotImplementedError")


def test_the_front_end_is_told_by_the_request(kernel: Kernel) -> None:
    ask = "print(runtime.frontend().kind)"
    assert kernel.run(ask, cell="a", answers=[]).text == "lab\n"
    assert kernel.run(ask, answers=[]).text == "console\n"
    assert kernel.run(ask).text == "headless\n"


@both_ways
def test_a_waiting_kernel_is_idle(kernel: Kernel, wait: str) -> None:
    outcome = kernel.run(f"""
begin = time.process_time()
{wait.format("runtime.submit(asyncio.sleep(2))")}
print(time.process_time() - begin)""")
    assert float(outcome.text) < 0.1, "of 2 seconds"


def test_work_survives_reset_and_loading_again(own_kernel: Kernel) -> None:
    own_kernel.run("get_ipython()._kept = (runtime, runtime.submit(asyncio.sleep(60)))")
    for line in ("%reset -f", "%load_ext tests.waits", "%reload_ext tests.waits"):
        assert own_kernel.run(line).status == "ok"
        own_kernel.run("from mcp_notebook.notebook.runtime import Runtime")
        assert own_kernel.value("Runtime.of(get_ipython()) is get_ipython()._kept[0]") is True
        assert own_kernel.value("get_ipython()._kept[1].done()") is False


def test_unloading_closes_the_runtime(own_kernel: Kernel, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    own_kernel.run(f"trace_closing({str(trace)!r})")
    own_kernel.run("%unload_ext tests.waits")
    assert own_kernel.value("runtime.alive") is False
    assert trace.read_text() == "closed "
    load(own_kernel)
    assert own_kernel.value("runtime.wait(runtime.submit(asyncio.sleep(0, 'anew')))") == "anew"


@pytest.mark.parametrize("name", kernel_names())
def test_work_survives_autoreload(name: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "mcp_notebook", tmp_path / "mcp_notebook")
    try:
        with running_kernel(name, tmp_path) as kernel:
            load(kernel)
            kernel.run("%load_ext autoreload\n%autoreload 2\nfuture = runtime.submit(asyncio.sleep(60))")
            for file in ("home.py", "notebook/runtime.py", "notebook/waiting.py", "notebook/pump.py"):
                with (tmp_path / "mcp_notebook" / file).open("a") as source:
                    source.write("\nRELOADED = True\n")
            kernel.run("import mcp_notebook.home as home, mcp_notebook.notebook.runtime as module")
            assert kernel.value("module.RELOADED and home.RELOADED") is True
            assert kernel.value("module.Runtime.of(get_ipython()) is runtime") is True
            assert kernel.value("home.current_home() is runtime") is True
            assert kernel.value("future.done()") is False
            assert kernel.value("runtime.wait(runtime.submit(asyncio.sleep(0, 'works')), 5)") == "works"
    except Unavailable as why:
        pytest.skip(str(why))


def test_shutdown_and_restart_await_the_closers(own_kernel: Kernel, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    own_kernel.run(f"trace_closing({str(trace)!r})")
    own_kernel.restart()
    assert trace.read_text() == "closed "
    load(own_kernel)
    own_kernel.run(f"trace_closing({str(trace)!r})")
    own_kernel.shut_down()
    assert trace.read_text() == "closed closed "


def test_a_closer_that_never_ends_does_not_hold_up_the_shutdown(own_kernel: Kernel) -> None:
    own_kernel.run("runtime.add_closer(lambda: asyncio.sleep(60))")
    begin = time.monotonic()
    own_kernel.shut_down()
    assert time.monotonic() - begin < 4, "Jupyter had to kill it"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_makes_its_own_runtime(kernel: Kernel) -> None:
    outcome = kernel.run("""
        import os
        from mcp_notebook.notebook.runtime import Runtime
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            try:
                forked = Runtime.of(get_ipython())
                alive = (runtime.alive, forked.alive, forked.submit(asyncio.sleep(0, 'forked')).result(5))
                os.write(writer, repr(alive).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        print(os.read(reader, 100).decode())
    """)
    assert outcome.text == "(False, True, 'forked')\n", outcome
