#!/bin/sh
# The demo, all of it offline: audits the sample graph, makes questions from it, has three systems answer them without a model, shows at
# which depth each gives way, compares two of them with a made-up judge, and puts everything into one report.
# usage: tools/demo.sh KGEVAL FOLDER
set -u
kgeval=$1
out=$2
home=$out/home
questions=$out/questions.jsonl
metrics=path_coverage,path_complete,id_recall,exact_match
judge=

step() {
  printf '\n== %s\n' "$1"
}

finish() {
  code=$?
  if [ -n "$judge" ]; then
    kill "$judge" 2>/dev/null
    wait "$judge" 2>/dev/null
  fi
  "$kgeval" server stop --home "$home"
  if [ "$code" -eq 0 ]; then
    printf '\nquestions: %s\n' "$(pwd)/$questions"
    for page in report scores comparison all; do
      printf 'report: %s\n' "$(pwd)/$out/$page.html"
    done
  fi
  exit "$code"
}

# What cannot be decided is exit code 3: so it is with a judge that is made up.
undecided() {
  code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 3 ] || exit "$code"
}

mkdir -p "$out"
rm -rf "$out/answers" "$out/all.html"
"$kgeval" server start --home "$home" || exit $?
trap finish EXIT
trap 'exit 130' INT TERM

"$kgeval" import --home "$home" --replace --graph sample kgeval/sample/graph.json || exit $?

step "What is wrong with this graph?"
"$kgeval" audit --home "$home" --graph sample -o "$out/report.html" -o "$out/report.json" || exit $?

step "Questions that the graph proves: one, two and three hops, and some without an answer"
"$kgeval" questions generate --home "$home" --graph sample --kind hops=10,negative=4 --template --seed 3 -o "$questions" || exit $?

step "Three systems answer them: passages; entities with one hop around them; with two hops"
"$kgeval" answer "$questions" --home "$home" --graph sample --system vector --system graph --ablate graph:hops=2 --extractive \
  -o "$out/answers/" || exit $?

step "Where does each of them fail?"
"$kgeval" score "$out/answers/vector.jsonl" "$out/answers/graph.jsonl" "$out/answers/graph@hops=2.jsonl" --questions "$questions" \
  --metrics "$metrics" -o "$out/scores.html" || exit $?

step "How would a judge compare two of them? (this judge is made up: its points say NOTHING, so nothing is decided)"
"$(dirname "$kgeval")/python" -m kgeval.llm.fake --seed 1 > "$out/judge.url" &
judge=$!
tries=0
while [ ! -s "$out/judge.url" ] && [ "$tries" -lt 300 ]; do
  sleep 0.2
  tries=$((tries + 1))
done
"$kgeval" compare "$out/answers/vector.jsonl" "$out/answers/graph@hops=2.jsonl" --questions "$questions" --model made-up-judge \
  --base-url "$(cat "$out/judge.url")" --trials 3 --wordings 3 --baseline-biased --journal "$out/journal.sqlite" --no-progress \
  -o "$out/comparison.html" || undecided

step "Everything in one report"
"$kgeval" report "$out/report.json" "$out/scores.html" "$out/comparison.html" "$out/answers" -o "$out/all.html" || undecided
