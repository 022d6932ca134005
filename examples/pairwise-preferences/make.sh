#!/usr/bin/env bash
# Makes the example's project from its hand-written parts and raw/, with evh commands alone.
#
#   examples/pairwise-preferences/make.sh          into examples/pairwise-preferences/project
#   examples/pairwise-preferences/make.sh FOLDER   into an empty folder
#
# EVH names the command to use (default: evh). The clock is fixed, so the same version makes the same files, measured
# durations aside.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
name="Pairwise preferences"
day=2025-01-10
source "$here/../make-lib.sh"
example_start "$@"

people=(1 2 3)
judges=(gpt-3.5-turbo pandalm-7b)
plain=(longer_v1 always_second_v1)

# 1. The comparisons: two answers to one instruction.
step capture --as comparisons --from-file data/raw/items.jsonl
step dataset-from-capture --capture comparisons --dataset-id comparisons --task preference \
  --description "Two models' answers to one instruction: which is better?"

# 2. Three people, a sheet each. fill_sheet.py writes what they said where they would have written it.
for person in "${people[@]}"; do
  sheet=sheets/annotator_$person.csv
  step label-sheet --dataset-id comparisons --items all --blind --choices tie,first,second --out "$sheet"
  "$PYTHON" "$here/fill_sheet.py" "$sheet" data/raw/human_labels.csv "annotator$person"
  step label-import "$sheet" --dataset-id comparisons --set "annotator_$person" --by "annotator $person"
done

# 3. Two judges, as they answered. gpt-3.5-turbo gave 25 verdicts that could not be read: these items fail.
for judge in "${judges[@]}"; do
  step capture --as "judge_$judge" --from-file "data/raw/judge_$judge.jsonl"
done
# 25 of its verdicts cannot be read: those items fail, and the command ends with 3.
step arm-from-capture --dataset-id comparisons --capture judge_gpt-3.5-turbo --as gpt-3.5-turbo || (($? == 3))
step arm-from-capture --dataset-id comparisons --capture judge_pandalm-7b --as pandalm-7b

# 4. Two arms that read nothing, to beat.
for arm in "${plain[@]}"; do
  step run --config "$arm"
done

# 5. Every arm by each person's word.
for person in "${people[@]}"; do
  step rescore --dataset-id comparisons --labels "comparisons/annotator_$person"
done

# 6. Where all three people say the same, that is the reference.
step sql --csv "SELECT item_id FROM labels JOIN items USING (item_id) WHERE dataset_id = 'comparisons'
  GROUP BY item_id, position HAVING count(*) = 3 AND count(DISTINCT answer) = 1 ORDER BY position" |
  sed 1d > sheets/unanimous.txt
step reference-promote --dataset-id comparisons --labels annotator_1 --labels annotator_2 --labels annotator_3 \
  --items-from sheets/unanimous.txt --tier gold --name unanimous --by "the example" \
  --reason "Three people answered independently and all three said the same. These are the clearer comparisons: \
scores against them are higher than over all."
step rescore --dataset-id comparisons --reference gold/unanimous

step validate
step overview
