#!/usr/bin/env bash
# Makes results, figures, tables and reports with one version of shadowprobe, for scripts/compare_numbers.py.
# Usage: make_outputs.sh COMMAND OUT, where COMMAND is the shadowprobe of that version and OUT a new directory.
set -euo pipefail
if [ $# -ne 2 ]; then
  echo "usage: $0 COMMAND OUT" >&2
  exit 2
fi
command=$(realpath -s "$(command -v "$1")")
mkdir "$2"
python3 "$(dirname "$0")/make_output_inputs.py" "$2"
# Relative paths from here on: some outputs name the run directories.
cd "$2"

shadowprobe() {
  if ! "$command" "$@" >>commands.log 2>&1; then
    echo "failed: shadowprobe $*; $PWD/commands.log says why" >&2
    exit 1
  fi
}

# plot_all NAME FIGURE...: the figures of the current runs.
plot_all() {
  local name=$1
  shift
  for figure in "$@"; do
    for width in one two; do
      shadowprobe plot "$figure" "${runs[@]}" --width "$width" --out "figures/$name-$figure-$width.svg"
    done
  done
}

for dataset in mini places; do
  runs=()
  for linker in prior random bm25 tfidf blend; do
    also=()
    if [ "$linker-$dataset" = blend-mini ]; then also=(--also context_length --also masked_mention); fi
    shadowprobe run --linker "$linker" --dataset "$dataset" --gerbil-threshold "${also[@]}"
    runs+=("runs/$linker-$dataset")
  done
  plot_all "$dataset" overshadowing confidence outcomes calibration stability
  for format in latex csv markdown; do
    for number in 3 4; do
      shadowprobe table "$number" "${runs[@]}" --format "$format" --out "tables/$dataset-table-$number.$format"
    done
    shadowprobe compare "${runs[@]}" --format "$format" --out "tables/$dataset-compare.$format"
  done
  shadowprobe report "${runs[@]}" --out "reports/$dataset.html"
done
# They need the commonness of entities, which `mini` does not have.
plot_all places commonness popularity-gap buckets

for collection in namesakes popular; do
  runs=()
  for retriever in tfidf bm25; do
    shadowprobe retrieve --retriever "$retriever" --collection "$collection"
    runs+=("runs/$retriever-$collection")
  done
  plot_all "$collection" head-tail confusion questions
  shadowprobe report "${runs[@]}" --published --out "reports/$collection.html"
done
# They need the popularity of entities, which `namesakes` does not have.
plot_all popular retrieval-gap question-buckets

runs=()
for model in first all unnamed none; do
  shadowprobe answer --predictions "$model.jsonl" --name "$model"
  runs+=("runs/$model-namesakes")
done
plot_all namesakes answer-categories
shadowprobe report "${runs[@]}" --out reports/namesakes-answers.html
echo "written to $PWD"
