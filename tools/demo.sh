#!/bin/sh
# The demo, all of it offline: audits the sample graph, makes questions from it, has three systems answer them without a model, and
# shows at which depth each gives way. usage: tools/demo.sh KGEVAL FOLDER
set -u
kgeval=$1
out=$2
home=$out/home
questions=$out/questions.jsonl
metrics=path_coverage,path_complete,id_recall,exact_match

step() {
  printf '\n== %s\n' "$1"
}

finish() {
  code=$?
  "$kgeval" server stop --home "$home"
  if [ "$code" -eq 0 ]; then
    printf '\nquestions: %s\nreport: %s\nreport: %s\n' "$(pwd)/$questions" "$(pwd)/$out/report.html" "$(pwd)/$out/scores.html"
  fi
  exit "$code"
}

mkdir -p "$out"
rm -rf "$out/answers"
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
