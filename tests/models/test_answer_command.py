"""Systems that are processes: whatever they do, each question ends as an answer or an error with its cause, and nothing is left running."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from answer_world import SIMPLE, script
from waiting import wait_until

from kgeval.errors import IncompleteError, UsageError
from kgeval.records import Answer
from kgeval.systems.outside.command import CommandSystem, argv_of, open_command
from kgeval.systems.system import Ask, Opening

# the head of a loop over requests. Who says hello is at work when a question comes, so that its time tells nothing of the machine's
GREETS = "for r in requests():\n    if 'hello' in r: say(hello={})\n"


def opened(folder: Path, body: str, **wanted: object) -> CommandSystem:
    own = {name: wanted.pop(name) for name in ("name", "hello_seconds", "said_after") if name in wanted}
    return open_command(script(folder, body), Opening(**{"timeout": 30.0, **wanted}), **own)  # type: ignore[arg-type]


def ask(name: str = "q1", **more: object) -> Ask:
    return Ask(name, f"Who is {name}?", **more)  # type: ignore[arg-type]


def one(folder: Path, body: str, **wanted: object) -> Answer:
    """The answer of a script to one question."""
    with opened(folder, body, **wanted) as system:
        return system.answer(ask())


def test_a_process_of_a_few_lines_is_a_system(tmp_path: Path) -> None:
    with opened(tmp_path, SIMPLE) as system:
        said = system.answer(ask())
        assert (system.name, system.adjusts, system.parallel) == ("mine", False, 1)
    assert said.answer == "It was Who is q1?" and said.error is None and said.latency_s is not None
    assert [context.text for context in said.contexts or ()] == ["one", "two"]
    assert said.contexts is not None and (said.contexts[1].chunk_id, said.contexts[1].document, said.contexts[1].score) == ("c2", "d", 0.5)
    assert said.signature == system.signature and said.signature.startswith("command:")


def test_contexts_may_be_a_text_a_list_or_nothing_and_nothing_is_not_none(tmp_path: Path) -> None:
    given = {"a": "one long text", "b": ["x", "y"], "c": [], "d": None, "e": {"text": "x"}}
    with opened(tmp_path, f'given = {given!r}\nfor r in requests():\n    say(id=r["id"], answer="A", contexts=given[r["id"]])') as system:
        said = {name: system.answer(ask(name)).contexts for name in given}
    texts = {name: None if found is None else [context.text for context in found] for name, found in said.items()}
    assert texts == {"a": ["one long text"], "b": ["x", "y"], "c": [], "d": None, "e": ["x"]}


def test_all_fields_of_an_answer_are_read_and_others_are_kept(tmp_path: Path) -> None:
    said = one(tmp_path, """
for r in requests():
    say(id=r["id"], answer="A", prompt_tokens=7, output_tokens=3, calls=2, cost=0.5, latency_s=1.5, stages={"retrieval": 0.25}, model="m",
        retrieved_nodes=["n1"], mood="good", system="not me", trial=9, signature="false", variant="x")
""")
    assert (said.input_tokens, said.output_tokens, said.calls, said.cost, said.latency_s, said.model) == (7, 3, 2, 0.5, 1.5, "m")
    assert said.stages is not None and said.stages.retrieval == 0.25 and said.retrieved_nodes == ["n1"] and said.extra == {"mood": "good"}
    assert (said.system, said.trial, said.variant) == ("mine", None, None) and said.signature != "false"


REPLIES = [
    ('id=r["id"]', "bad_reply: answer: missing"),
    ('id=r["id"], answer=None', "bad_reply: answer: null"),
    ('id=r["id"], answer=["a"]', "bad_reply: answer or extra: a text expected, found a list"),
    ('id=r["id"], answer="A", latency_s=-1', "bad_reply: latency_s: a number of 0 or more"),
    ('id=r["id"], answer="A", contexts=[3]', "bad_reply: contexts: a list of texts"),
    ('id=r["id"], answer="A", stages={"sleep": 3}', "bad_reply: stages.sleep"),
    ('id=r["id"], answer="\\ud800"', "bad_reply: answer: holds half a surrogate pair"),
    ('id=r["id"], error="no index"', "system_error: no index"),
    ('id=r["id"], error="key sk-abcdef was refused", answer="A"', "system_error: key *** was refused"),
    ('answer="A"', "bad_reply: the reply has no id"),
]


def test_a_reply_that_does_not_fit_is_an_error_never_a_made_up_value(tmp_path: Path) -> None:
    body = "".join(f"    if r.get('id') == '{at}': say({reply})\n" for at, (reply, _) in enumerate(REPLIES))
    with opened(tmp_path, f"for r in requests():\n{body}", hello_seconds=0.1) as system:
        for at, (reply, error) in enumerate(REPLIES):
            said = system.answer(ask(str(at)))
            assert said.answer == "" and said.error is not None and said.error.startswith(error), (reply, said.error)


def test_a_command_that_ignores_the_hello_is_waited_for_aloud(tmp_path: Path) -> None:
    said: list[str] = []
    body = "for r in requests():\n    if 'id' in r: say(id=r['id'], answer='A')"
    with opened(tmp_path, body, hello_seconds=0.3, said_after=0.1, say=said.append) as system:
        assert system.answer(ask("1")).answer == "A"
    assert ["no reply to the hello yet; waiting for it up to 0.3 s" in said[0], "did not say hello within 0.3 s" in said[1]] == [True, True]
    said.clear()
    with opened(tmp_path, "for r in requests():\n    if 'hello' in r: say(hello={})", say=said.append):
        assert said == []


def test_an_empty_answer_is_an_answer(tmp_path: Path) -> None:
    said = one(tmp_path, 'for r in requests():\n    say(id=r["id"], answer="")')
    assert said.answer == "" and said.error is None


def test_garbage_before_a_good_reply_is_passed_over_and_noted(tmp_path: Path) -> None:
    with opened(tmp_path, """
for r in requests():
    if "id" not in r: continue
    print("Loading 42 %")
    print('{"level": "info"}')
    print("[1, 2]")
    print('{"cut": ')
    sys.stdout.buffer.write(bytes([255, 254, 10])); sys.stdout.flush()
    say(id=r["id"], answer="A")
""", hello_seconds=0.1) as system:
        assert system.answer(ask()).answer == "A"
        assert system.notes == ["mine: lines on stdout that are no reply, passed over: 5 (the first: 'Loading 42 %')"]


@pytest.mark.long
def test_garbage_alone_is_a_timeout_that_shows_it(tmp_path: Path) -> None:
    said = one(tmp_path, GREETS + '    else: print("I am sorry", flush=True)', timeout=1.0)
    assert said.error == "timeout: no reply in 1 s; on stdout instead: 'I am sorry'"


@pytest.mark.long
def test_a_system_that_hangs_is_killed_with_all_that_it_started_and_the_next_question_gets_a_new_one(tmp_path: Path) -> None:
    with opened(tmp_path, """
import subprocess
for r in requests():
    if r["id"] == "slow":
        child = subprocess.Popen(["sleep", "60"])
        open(mark, "w").write(str(child.pid))
        time.sleep(60)
    say(id=r["id"], answer=str(os.getpid()))
""", timeout=3.0) as system:
        first = system.answer(ask("q1")).answer
        assert system.answer(ask("slow")).error == "timeout: no reply in 3 s"
        assert system.answer(ask("q2")).answer != first
    wait_until(lambda: ended(int((tmp_path / "mine.mark").read_text())))


def ended(pid: int) -> bool:
    """Whether a process is over."""
    try:
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        os.kill(pid, 0)
    except (ProcessLookupError, FileNotFoundError):
        return True
    return False


def test_a_crash_is_one_question_asked_again_in_a_new_process(tmp_path: Path) -> None:
    with opened(tmp_path, """
for r in requests():
    if r["id"] == "q2" and not os.path.exists(mark):
        open(mark, "w"); sys.exit("out of memory")
    say(id=r["id"], answer="A")
""") as system:
        assert [system.answer(ask(f"q{n}")).answer for n in (1, 2, 3)] == ["A", "A", "A"]
        assert system.notes == ["mine: processes that ended during a question: 1"]


def test_a_question_that_always_crashes_says_how_and_the_others_are_answered(tmp_path: Path) -> None:
    with opened(tmp_path, """
for r in requests():
    if r["id"] == "bad":
        print("half a li", end="", flush=True); sys.stderr.write("KeyError: 'bad'\\n"); sys.exit(3)
    say(id=r["id"], answer="A")
""") as system:
        assert system.answer(ask("q1")).answer == "A"
        said = system.answer(ask("bad"))
        assert system.answer(ask("q2")).answer == "A"
    assert said.error == "crashed: the process ended with exit code 3; its last line is cut: 'half a li'; stderr: KeyError: 'bad'"


SEVERAL = """
import threading
lock = threading.Lock()
def reply(r):
    time.sleep(0.2)
    with lock: say(id=r["id"], answer=r["id"])
for r in requests():
    if "hello" in r: say(hello={"parallel": 8})
    elif r["id"] != "q3": threading.Thread(target=reply, args=(r,)).start()
    else: END
"""


@pytest.mark.long
@pytest.mark.parametrize(("end", "error"), [("sys.exit(3)", "crashed: the process ended with exit code 3"), ("pass", "timeout: no reply")])
def test_a_question_that_ends_a_process_takes_no_neighbour_with_it(end: str, error: str, tmp_path: Path) -> None:
    with opened(tmp_path, SEVERAL.replace("END", end), timeout=3.0) as system, ThreadPoolExecutor(8) as threads:
        said = list(threads.map(system.answer, [ask(f"q{n}") for n in range(12)]))
    assert [answer.answer for answer in said if answer.question_id != "q3"] == [f"q{n}" for n in range(12) if n != 3]
    assert (said[3].error or "").startswith(error)
    assert [note.rpartition(" ")[2] for note in system.notes] == (["2"] if "exit" in end else []), "a process counts once"


def test_a_hello_that_comes_too_late_is_told(tmp_path: Path) -> None:
    body = 'time.sleep(0.5)\nfor r in requests():\n    say(hello={"name": "late"}) if "hello" in r else say(id=r["id"], answer="A")'
    with opened(tmp_path, body, hello_seconds=0.1) as system:
        assert system.answer(ask()).answer == "A" and system.name == "mine"
        assert system.notes == ["mine: hellos that came too late, passed over: its name, version and settings are not known: 1"]


def test_a_process_that_is_killed_from_outside_names_the_signal(tmp_path: Path) -> None:
    said = one(tmp_path, "for r in requests():\n    if 'id' in r: os.kill(os.getpid(), signal.SIGKILL)", hello_seconds=0.1)
    assert said.error == "crashed: the process was ended by signal 9; its stdout is closed"


@pytest.mark.long
def test_processes_that_never_answer_end_the_run(tmp_path: Path) -> None:
    never = pytest.raises(IncompleteError, match=r"6 times in a row.*no licence")
    with opened(tmp_path, "sys.exit('no licence')") as system, never as told:
        for n in range(10):
            assert (system.answer(ask(f"q{n}")).error or "").startswith("crashed")
    assert "kgeval help system-protocol" in told.value.fix


@pytest.mark.long
def test_a_system_that_closes_its_stdout_and_goes_on_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgeval.systems.outside.process.GRACE_SECONDS", 0.3)
    said = one(tmp_path, "for r in requests():\n    if 'id' in r:\n        os.close(1)\n        time.sleep(60)", hello_seconds=0.1)
    assert (said.error or "").startswith("crashed: the process closed its pipes")


def test_answers_in_another_order_twice_and_to_nobody_are_matched_by_id(tmp_path: Path) -> None:
    with opened(tmp_path, """
waiting = []
for r in requests():
    if "hello" in r:
        say(hello={"name": "odd", "parallel": 3, "version": "7"})
        continue
    waiting.append(r)
    if len(waiting) == 3:
        for w in reversed(waiting):
            say(id="nobody", answer="?")
            say(id=w["id"], answer=w["id"].upper())
            say(id=w["id"], answer="a second thought")
        waiting = []
""") as system:
        assert (system.name, system.parallel) == ("odd", 3)
        with ThreadPoolExecutor(3) as threads:
            said = list(threads.map(system.answer, [ask(f"q{n}") for n in range(6)]))
        assert [answer.answer for answer in said] == ["Q0", "Q1", "Q2", "Q3", "Q4", "Q5"]
    assert {note.partition(" (")[0] for note in system.notes} == {
        "odd: replies to an id that was not asked, passed over: 6", "odd: replies to an id that was answered already, passed over: 6",
    }


def test_an_id_comes_back_as_a_number_too(tmp_path: Path) -> None:
    with opened(tmp_path, 'for r in requests():\n    say(id=int(r["id"]), answer="A")') as system:
        assert system.answer(ask("17")).answer == "A"


def test_several_processes_work_at_the_same_time_and_end_together(tmp_path: Path) -> None:
    body = """
import glob
for r in requests():
    open(mark + str(os.getpid()), "w").close()
    while len(glob.glob(mark + "*")) < 4 and "id" in r: time.sleep(0.01)
    say(id=r["id"], answer=str(os.getpid()))
"""
    with opened(tmp_path, body, processes=4) as system:
        with ThreadPoolExecutor(4) as threads:
            pids = {answer.answer for answer in threads.map(system.answer, [ask(f"q{n}") for n in range(8)])}
        assert system.parallel == 4 and len(pids) == 4
    wait_until(lambda: all(ended(int(pid)) for pid in pids))


def test_a_line_of_a_hundred_megabytes_is_refused_and_a_large_one_is_read(tmp_path: Path) -> None:
    with opened(tmp_path, """
for r in requests():
    if r["id"] == "huge":
        for _ in range(100):
            sys.stdout.write("x" * 2**20)
    say(id=r["id"], answer="y" * 3_000_000)
""", timeout=20) as system:
        assert len(system.answer(ask()).answer) == 3_000_000
        said = system.answer(ask("huge"))
    assert said.error is not None and "a line of its stdout is longer than 64 MB" in said.error


def test_a_process_that_does_not_read_holds_nobody_up(tmp_path: Path) -> None:
    with opened(tmp_path, "time.sleep(600)", timeout=1.0, hello_seconds=0.1) as system:
        said = system.answer(Ask("q1", "long " * 100_000))
    assert said.error == "timeout: no reply in 1 s"


def test_a_flood_on_stderr_blocks_nothing(tmp_path: Path) -> None:
    body = 'for r in requests():\n    sys.stderr.write("warning\\n" * 100_000)\n    say(id=r["id"], answer="A")'
    assert one(tmp_path, body).answer == "A"


HELLO = """
for r in requests():
    if "hello" in r:
        say(hello={"name": "polite", "version": "2", "adjusts": True, "card": {"k": r["settings"].get("k", 5)}})
    else:
        say(id=r["id"], answer=" ".join(["word"] * (r.get("target_words") or 3)), extra={"asked": sorted(r)})
"""


def test_a_hello_declares_name_length_hook_and_card_and_takes_settings(tmp_path: Path) -> None:
    with opened(tmp_path, HELLO) as usual, opened(tmp_path, HELLO, settings={"k": 9}, variant="k=9") as other:
        assert (usual.name, usual.adjusts, usual.card, other.name, other.card) == ("polite", True, {"k": 5}, "polite@k=9", {"k": 9})
        assert usual.signature != other.signature
        said = usual.answer(ask("q1", trial=2, target_words=7, attempt=3, previous="too long"))
    assert len(said.answer.split()) == 7 and said.trial == 2
    assert said.extra["asked"] == ["attempt", "id", "previous", "question", "question_id", "target_words", "trial"]


def test_settings_for_a_process_that_does_not_say_hello_are_refused(tmp_path: Path) -> None:
    for body in (SIMPLE, "for r in requests():\n    pass"):
        with pytest.raises(UsageError, match=r"was given settings"):
            opened(tmp_path, body, settings={"k": 9}, timeout=1.0)
    for said, fault in (('"parallel": 1000', "parallel is not between 1 and 64"), ('"name": "a\\x1b[31m"', "cannot be printed")):
        with pytest.raises(UsageError, match=fault):
            opened(tmp_path, f"for r in requests():\n    say(hello={{{said}}})")


def test_a_command_that_cannot_be_started_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such-program: cannot be started: No such file or directory"):
        open_command(argv_of("no-such-program --x"), Opening())
    (tmp_path / "text.txt").write_text("no program")
    with pytest.raises(UsageError, match="Permission denied"):
        open_command((str(tmp_path / "text.txt"),), Opening())
    with pytest.raises(UsageError, match="No closing quotation"):
        argv_of("python 'x.py")
    with open_command(("no-such-program",), Opening(dry=True)) as dry:
        assert dry.name == "no-such-program"


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    assert argv_of("python x.py '; rm -rf a' $HOME `id`") == ("python", "x.py", "; rm -rf a", "$HOME", "`id`")
