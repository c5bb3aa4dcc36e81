"""What the fifty conversations promise: a paraphrase can't be found by its words, nor by the shape of the question."""

from __future__ import annotations

from collections import Counter

import pytest

from memory_rag.text.analyzer import Analyzer
from tests.eval_sets.fifty_talks import FOLDER, LANGUAGES, Talk, lines_of, read_questions, read_talks

pytestmark = pytest.mark.parametrize("language", LANGUAGES)


def stems_of(talk: Talk, *, analyzer: Analyzer) -> set[str]:
    return {stem for _, text in talk.turns for stem in analyzer.terms(text)}


def test_each_language_has_fifty_conversations_of_four_to_eight_turns(language: str) -> None:
    talks = read_talks(language)
    assert len(talks) == 50
    for talk in talks.values():
        roles = [role for role, _ in talk.turns]
        assert 4 <= len(roles) <= 8, talk.talk_id
        assert roles == (["user", "assistant"] * 4)[: len(roles)], talk.talk_id
        assert all(text == text.strip() and text for _, text in talk.turns), talk.talk_id
        assert 3 <= len(talk.subject_words) <= 6, talk.talk_id


def test_no_turn_is_said_twice(language: str) -> None:
    said = Counter(text for talk in read_talks(language).values() for _, text in talk.turns)
    assert [text for text, times in said.items() if times > 1] == []


def test_each_conversation_is_asked_for_once_in_its_words_and_once_in_others(language: str) -> None:
    talks = list(read_talks(language))
    for kind in ("same_words", "paraphrase"):
        questions = read_questions(language, kind=kind)
        assert [question.talk_id for question in questions] == talks
        assert len({question.text for question in questions}) == 50


def test_a_paraphrase_shares_no_content_stem_with_its_conversation(language: str) -> None:
    talks, analyzer = read_talks(language), Analyzer((language,))
    for question in read_questions(language, kind="paraphrase"):
        asked = set(analyzer.terms(question.text))
        assert asked, question.question_id
        assert asked & stems_of(talks[question.talk_id], analyzer=analyzer) == set(), question.question_id


def test_a_paraphrase_shares_no_content_stem_with_the_subject_words(language: str) -> None:
    talks, analyzer = read_talks(language), Analyzer((language,))
    for question in read_questions(language, kind="paraphrase"):
        words = analyzer.terms(" ".join(talks[question.talk_id].subject_words))
        assert set(analyzer.terms(question.text)) & set(words) == set(), question.question_id


def test_a_question_in_the_same_words_shares_most_of_its_content_stems(language: str) -> None:
    talks, analyzer = read_talks(language), Analyzer((language,))
    for question in read_questions(language, kind="same_words"):
        asked = set(analyzer.terms(question.text))
        shared = asked & stems_of(talks[question.talk_id], analyzer=analyzer)
        assert len(shared) >= 2, question.question_id
        assert len(shared) > len(asked) / 2, question.question_id


def test_two_distractors_are_asked_for_in_the_same_frame(language: str) -> None:
    questions = {question.talk_id: question for question in read_questions(language, kind="paraphrase")}
    for question in questions.values():
        assert question.text.startswith(f"{question.frame} "), question.question_id
        assert len(set(question.distractors) - {question.talk_id}) == 2, question.question_id
        for distractor in question.distractors:
            assert questions[distractor].text.startswith(f"{question.frame} "), (question.question_id, distractor)


def test_the_questions_have_ten_frames(language: str) -> None:
    frames = Counter(question.frame for question in read_questions(language, kind="paraphrase"))
    assert len(frames) == 10
    assert min(frames.values()) >= 3


def test_the_five_are_the_conversation_its_two_distractors_and_two_of_other_frames(language: str) -> None:
    frames = {question.talk_id: question.frame for question in read_questions(language, kind="paraphrase")}
    same_words = {question.talk_id: question for question in read_questions(language, kind="same_words")}
    for question in read_questions(language, kind="paraphrase"):
        five = set(question.among_five)
        assert len(five) == len(question.among_five) == 5, question.question_id
        others = five - {question.talk_id, *question.distractors}
        assert len(others) == 2, question.question_id
        assert all(frames[other] != question.frame for other in others), question.question_id
        assert same_words[question.talk_id].among_five == question.among_five


def test_the_known_weak_spot_is_among_them(language: str) -> None:
    talks = read_talks(language)
    asked = {question.text: question.talk_id for question in read_questions(language, kind="paraphrase")}
    text = {"sv": "Hur går det med matten?", "nb": "Hvordan går det med matten?"}[language]
    said = " ".join(words for _, words in talks[asked[text]].turns)
    for word in {"sv": ("kedjeregeln", "prov i derivator"), "nb": ("brøk", "fellesnevner")}[language]:
        assert word in said


def test_a_name_is_told_before_three_other_questions(language: str) -> None:
    scripts = [row for row in lines_of(FOLDER / "name.jsonl") if row["language"] in (language, "en")]
    assert len(scripts) == 4
    for script in scripts:
        asked = [turn["text"] for turn in script["turns"] if turn["role"] == "user"]
        assert len(asked) == 4, script["id"]
        assert [turn for turn in range(8) if script["answer"] in script["turns"][turn]["text"]] == script["evidence"]
        assert script["answer"] not in script["question"]


def test_last_time_is_the_session_before_the_question(language: str) -> None:
    scripts = [row for row in lines_of(FOLDER / "last-time.jsonl") if row["language"] in (language, "en")]
    assert len(scripts) == 4
    for script in scripts:
        said = [" ".join(turn["text"] for turn in session["turns"]).casefold() for session in script["sessions"]]
        assert script["expected_session"] == len(said) - 1
        for word in script["mentions"]:
            assert word.casefold() in said[-1], (script["id"], word)
            assert not any(word.casefold() in earlier for earlier in said[:-1]), (script["id"], word)
        last = script["sessions"][-1]["turns"]
        assert all(last[place]["role"] == "user" for place in script["evidence"])
