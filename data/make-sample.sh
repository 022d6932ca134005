#!/usr/bin/env bash
# Makes the sample project from its hand-written parts and the raw records, with evh commands alone.
#
#   data/make-sample.sh          in the project that holds this script
#   data/make-sample.sh FOLDER   in another folder: the hand-written parts are copied there first
#
# EVH names the command to use (default: evh). The clock is fixed and each command moves it on by one minute, so the
# same version of evh makes the same files, measured durations aside.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
if (($# > 1)); then
  echo "usage: data/make-sample.sh [FOLDER]" >&2
  exit 2
fi
EVH=${EVH:-evh}
if ! EVH=$(command -v -- "$EVH"); then
  echo "make-sample: evh is not on the PATH; install it, or set EVH to the command" >&2
  exit 1
fi
case $EVH in
  /*) ;;
  *) EVH=$PWD/$EVH ;; # it must still be found after the change of folder
esac

# A variable that points at another project would make that one.
unset EVAL_HOME EVAL_DATA_DIR EVAL_RUNS_DIR EVAL_GOALS_DIR

minute=0
step() {
  printf -v EVH_NOW '2024-10-25T%02d:%02d:00Z' $((minute / 60)) $((minute % 60))
  export EVH_NOW
  minute=$((minute + 1))
  printf '+ evh'
  printf ' %q' "$@"
  printf '\n'
  "$EVH" "$@"
}

older=cve_2024_h1
newer=cve_2024_07_08
arms=(keyword_v1 cvss_v1 bayes_v1 always_active_v1 always_none_v1)
hand_written=(.gitattributes README.md make-sample.sh adapters goals guidelines raw rules)

if (($# == 1)); then
  if [[ -e $1/data && ! -e $1/data/make-sample.sh ]]; then
    echo "make-sample: $1 holds another project; name an empty folder" >&2
    exit 1
  fi
  mkdir -p -- "$1"
  target=$(cd -- "$1" && pwd -P)
else
  target=$here
fi
cd -- "$target"

# What people added must not be lost with what the commands made.
shopt -s nullglob
theirs=()
for path in data/captures/* data/datasets/*.json data/labels/*/* data/references/*/* data/baselines/* data/picks.json[l]; do
  case $path in
    data/captures/cve_2024 | data/captures/"$older" | data/captures/"$newer") ;;
    data/datasets/"$older".json | data/datasets/"$newer".json) ;;
    data/labels/"$older"/known_exploited | data/labels/"$newer"/known_exploited) ;;
    data/labels/"$older"/cisa | data/labels/"$newer"/cisa) ;;
    data/labels/"$older"/*_severity | data/labels/"$newer"/*_severity) ;;
    data/baselines/exploited.json) ;;
    data/references/silver/"$older"_known_exploited | data/references/silver/"$newer"_known_exploited) ;;
    *) theirs+=("$path") ;;
  esac
done
if ((${#theirs[@]})); then
  echo "make-sample: this script did not make these, and would remove them:" >&2
  printf '  %s\n' "${theirs[@]}" >&2
  echo "Name an empty folder to make the sample in, or move them away first." >&2
  exit 1
fi

made=(data/captures data/datasets data/sources data/labels data/references data/runs data/runs-* data/baselines
  data/configs/production_v1.yaml)
for path in "${made[@]}"; do
  if [[ -e $path ]]; then
    echo "removing $path, which evh commands made"
    rm -rf -- "$path"
  fi
done

if [[ $target != "$here" ]]; then
  mkdir -p data/configs
  for part in "${hand_written[@]}"; do
    rm -rf -- "data/$part"
    cp -R -- "$here/data/$part" "data/$part"
  done
  for arm in "${arms[@]}"; do
    cp -- "$here/data/configs/$arm.yaml" data/configs/
  done
  # In the package the settings lie beside data/, as they do here.
  cp -- "$here/evh.toml" evh.toml
  find data/adapters -name __pycache__ -prune -exec rm -rf -- {} +
fi

# 1. The records, as they were taken.
step capture --as cve_2024 --from-file data/raw/cve-triage.jsonl --adapter data/adapters/cve.py

# 2. An older half to learn from and a newer half to judge by. The 20 rejected records go to neither.
step split --capture cve_2024 --at 2024-07-01T00:00:00Z --into "$older,$newer"
step dataset-from-capture --capture "$older" --dataset-id "$older" --governed --task exploitation
step dataset-from-capture --capture "$newer" --dataset-id "$newer" --task exploitation

# 3. What the outcomes and CISA's decisions say, as labels. Before the arms: bayes_v1 is fitted on them.
for half in "$older" "$newer"; do
  for set in known_exploited cisa; do
    step label-from-capture --dataset-id "$half" --capture "$half" --map "data/rules/$set.yaml" --set "$set"
  done
  for set in vendor_severity cisa_severity; do
    step label-from-capture --dataset-id "$half" --capture "$half" --map "data/rules/$set.yaml" --set "$set" \
      --task severity
  done
done

# 4. Production as an arm: from the unsplit capture, so that one config serves both halves.
step arm-from-capture --dataset-id "$older" --capture cve_2024 --as production_v1
step run --config production_v1 --dataset-id "$newer"

# 5. The candidates, none of which needs a network.
for half in "$older" "$newer"; do
  for arm in "${arms[@]}"; do
    step run --config "$arm" --dataset-id "$half"
  done
done

# 6. Every arm against each set of its task, from the stored outputs.
for half in "$older" "$newer"; do
  for set in known_exploited cisa; do
    step rescore --dataset-id "$half" --labels "$half/$set"
  done
done

# 7. The outcome becomes the reference. Silver: not being on a list is weak evidence of not being exploited.
for half in "$older" "$newer"; do
  step reference-promote --dataset-id "$half" --labels known_exploited --tier silver \
    --name "${half}_known_exploited" --by sample \
    --reason "What time told: the list of known exploited vulnerabilities at least 54 days after each decision."
  step rescore --dataset-id "$half" --reference "silver/${half}_known_exploited"
done

# 8. The goal: production's people lead, and there is nothing of them to deploy. The best of the rest is promoted, and
#    nothing on record says what production ran: people decided.
promoted=
for run in data/runs/bayes_v1_*; do
  if grep -q "\"dataset_id\": \"$newer\"" "$run/metrics.json"; then promoted=${run##*/}; fi
done
step promote --run "$promoted" --goal exploited \
  --reason "The best arm that can be deployed: production's people find more, and they are no model."
step goals
step deploy-sheet --config bayes_v1 --capture "$newer"

step validate
step overview
