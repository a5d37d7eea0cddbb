"""Profiles of questions: files of one's own, what they take from others, and what is said of a faulty one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.config.questions import PROFILES
from kgeval.errors import ConfigError
from kgeval.llm.prompts import load_prompt
from kgeval.questions.kinds import all_kinds, question_profile
from kgeval.questions.profiles import PART
from kgeval.records import GenerationReport
from kgeval.reports.questions_text import terminal

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples" / "generation-report" / "valid"
OWN = """
extends = "law"
facts = ["which notice period a contract has"]
styles = ["short", "long", "rude"]
[[personas]]
name = "buyer"
about = "orders parts"
tasks = ["cancel an order", "compare"]
[[personas]]
name = "clerk"
about = "files contracts"
tasks = ["file it"]
[[personas]]
name = "judge"
about = "decides"
tasks = ["decide"]
[[examples]]
kinds = ["edge", "hops"]
question = "Until when?"
[[examples]]
question = "Whose?"
answer = "Hers"
"""


def own(folder: Path, text: str = OWN) -> str:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_file_replaces_what_it_names_and_takes_the_rest_from_what_it_extends(tmp_path: Path) -> None:
    profile, law = question_profile(own(tmp_path)), question_profile("law")
    assert profile.facts == ("which notice period a contract has",)
    assert profile.reasoning == law.reasoning and profile.creative == law.creative
    assert [persona.name for persona in profile.personas] == ["buyer", "clerk", "judge"]
    generic = question_profile(own(tmp_path, 'styles = ["short"]'))
    assert (generic.facts, generic.personas) == (question_profile("generic").facts, ())


def test_the_label_is_the_files_name_and_changes_with_its_content(tmp_path: Path) -> None:
    first, second = question_profile(own(tmp_path)).label, question_profile(own(tmp_path, OWN + "\n")).label
    assert first.startswith("mine@") and second.startswith("mine@") and first != second
    assert [question_profile(name).label for name in PROFILES] == list(PROFILES)


def test_every_persona_meets_every_style_equally_often_and_does_all_its_tasks(tmp_path: Path) -> None:
    profile = question_profile(own(tmp_path))
    chosen = [profile.asked_as(number) for number in range(18)]
    pairs = Counter((one["persona"], one["style"]) for one in chosen)
    assert len(pairs) == 9 and set(pairs.values()) == {2}, "3 personas and 3 styles, 18 questions"
    assert Counter(one["task"] for one in chosen if one["persona"] == "buyer") == {"cancel an order": 3, "compare": 3}


@pytest.mark.parametrize(("personas", "styles"), [(1, 2), (2, 3), (3, 2), (3, 4), (5, 3)])
def test_however_many_they_are_each_persona_meets_each_style(personas: int, styles: int, tmp_path: Path) -> None:
    people = "\n".join(f'[[personas]]\nname = "p{number}"\nabout = "x"\ntasks = ["t"]' for number in range(personas))
    profile = question_profile(own(tmp_path, f"styles = {[f's{number}' for number in range(styles)]}\n{people}"))
    pairs = Counter((one["persona"], one["style"]) for one in map(profile.asked_as, range(2 * personas * styles)))
    assert len(pairs) == personas * styles and set(pairs.values()) == {2}


def test_an_example_is_shown_for_its_kinds_and_those_of_its_groups(tmp_path: Path) -> None:
    profile = question_profile(own(tmp_path))
    shown = {kind: profile.slots(kind, 0)["examples"] for kind in all_kinds()}
    both = [{"question": "Until when?"}, {"question": "Whose?", "answer": "Hers"}]
    assert {kind for kind, examples in shown.items() if examples == both} == {"edge", "hop_1", "hop_2", "hop_3"}
    assert all(examples == both[1:] for kind, examples in shown.items() if kind not in ("edge", "hop_1", "hop_2", "hop_3"))


def test_a_profile_without_wishes_changes_no_prompt() -> None:
    assert all(question_profile(name).slots(kind, 3) == {} for name in ("generic", "narrative", "medical") for kind in all_kinds())
    assert set(load_prompt(f"ask-node+{PART}").slots) == {*question_profile("law").slots("node", 0), *load_prompt("ask-node").slots}


def test_examples_of_the_profiles_that_come_with_kgeval_name_kinds_that_exist() -> None:
    named = {kind for name in PROFILES for example in question_profile(name).examples for kind in example.kinds}
    assert named and named <= set(all_kinds())


FAULTY = """
extends = "lawful"
name = "x"
styl = ["x"]
facts = []
summaries = ["good", " "]
personas = [{name = "a", about = "x"}, {name = "b", about = "x", tasks = ["x"]}]
creative = [{name = "a", way = "verse", task = "x"}]
[[examples]]
kinds = ["edgy", "levels"]
question = "q?"
"""


def test_all_faults_of_a_file_are_said_at_once_with_file_field_and_way_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        question_profile(own(tmp_path, FAULTY))
    message = caught.value.message
    assert message.startswith(f"{tmp_path / 'mine.toml'}: ")
    faults = (
        "extends: there is no profile 'lawful' (did you mean law?)", "name: unknown key", "styl: unknown key (did you mean styles?)",
        "facts: ", "summaries.1: ", "personas.0.tasks: ", "creative.0.way: ", "'edgy' (did you mean edge?)",
    )
    assert [fault for fault in faults if fault not in message] == []
    assert "kgeval questions profiles law" in caught.value.fix
    assert run(["questions", "profiles", str(tmp_path / "mine.toml")]) == 2
    assert "styl: unknown key" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "fault"), [
    ("personas = [{name='a',about='x',tasks=['x']},{name='a',about='y',tasks=['y']}]", "personas: several are called a"),
    ("facts = ", "TOML"), ("examples = [" + "{question='q?'}," * 21 + "]", "examples: "), ("personas = 3", "personas: "),
])
def test_a_fault_alone(text: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        question_profile(own(tmp_path, text))
    assert fault in f"{caught.value.message} {caught.value.fix}"


def test_a_file_that_is_not_there_and_a_name_that_is_none(tmp_path: Path) -> None:
    for name in (str(tmp_path / "none.toml"), str(tmp_path)):
        with pytest.raises(ConfigError, match="no file of that name"):
            question_profile(name)


def test_the_name_of_a_file_steers_no_terminal(tmp_path: Path) -> None:
    file = tmp_path / "x\x1b[2J.toml"
    file.write_text('styles = ["short"]', encoding="utf-8")
    report = GenerationReport.model_validate_json(next(EXAMPLES.glob("*.json")).read_text(encoding="utf-8"))
    text = terminal(report.model_copy(update={"profile": question_profile(str(file)).label}))
    assert "profile x[U+001B][2J@" in text and "\x1b" not in text


def test_the_command_lists_prints_and_checks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["questions", "profiles"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(PROFILES)
    assert run(["questions", "profiles", "law"]) == 0
    copy = capsys.readouterr().out
    law, again = question_profile("law"), question_profile(own(tmp_path, copy))
    assert again.model_copy(update={"name": law.name, "label": law.label}) == law, "what is printed is a complete file"
    assert run(["questions", "profiles", own(tmp_path)]) == 0
    assert "3 personas, 3 styles, 2 examples" in capsys.readouterr().out
