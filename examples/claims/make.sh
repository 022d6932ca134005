#!/usr/bin/env bash
# Makes the example's project from its hand-written parts and raw/, with evh commands alone.
#
#   examples/claims/make.sh          into examples/claims/project
#   examples/claims/make.sh FOLDER   into an empty folder
#
# EVH names the command to use (default: evh). The clock is fixed, so the same version makes the same files, measured
# durations aside.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
name="Claims"
day=2025-01-11
source "$here/../make-lib.sh"
example_start "$@"

models=(alpaca_7B chatgpt claude2 davinci001 falcon_40B_instruct gpt4 llama2_70b_chat)
checkers=(consensus_v1 always_entailment_v1)

# 1. The claims of the best model, gpt4, one by one, and what people said of each: a task for claim checkers.
"$PYTHON" "$here/claims_of.py" items sheets/gpt4_claims.jsonl data/raw/gpt4.jsonl
step dataset-create --dataset-id gpt4_claims --from-file sheets/gpt4_claims.jsonl --field question --task claims \
  --description "The 300 claims in gpt4's answers: does a source bear each out?"
step label-sheet --dataset-id gpt4_claims --items all --blind --choices entailment,neutral,contradiction \
  --out sheets/gpt4_claims.csv
"$PYTHON" "$here/claims_of.py" fill sheets/gpt4_claims.csv data/raw/gpt4.jsonl
step label-import sheets/gpt4_claims.csv --dataset-id gpt4_claims --set people --by "RefChecker's annotators"

# 2. Two checkers by the people's word.
for checker in "${checkers[@]}"; do
  step run --config "$checker" --labels gpt4_claims/people
done

# 3. The questions. The data has their ids and no text, so an item is its id; every model answered all of them.
step dataset-create --dataset-id answers --from-file data/raw/gpt4.jsonl --id-field item --text-field item \
  --task answers --description "100 questions of Natural Questions, by id: the source has no question's text."

# 4. What people said of every claim in every answer: a label a question, a claim a line.
"$PYTHON" "$here/claims_of.py" answers sheets/answers data/raw/*.jsonl
step label-import sheets/answers --dataset-id answers --set people --by "RefChecker's annotators"

# 5. The seven models, as they answered, by the people's word.
for model in "${models[@]}"; do
  step capture --as "$model" --from-file "data/raw/$model.jsonl"
  step arm-from-capture --dataset-id answers --capture "$model" --as "$model"
done
step rescore --dataset-id answers --labels answers/people

# 6. Which of them makes things up least, with how sure that is.
step goals --goal least_made_up
step leaderboard --dataset-id answers --metric contradicted

# 7. A reference to hold checkers to. Silver: one label a claim is published, so nobody can tell how sure people are.
step reference-promote --dataset-id gpt4_claims --labels people --tier silver --by "the example" \
  --reason "People read each claim beside a source. One label a claim is published: how far people agree is not known."
step rescore --dataset-id gpt4_claims --reference silver/gpt4_claims

step validate
step overview
