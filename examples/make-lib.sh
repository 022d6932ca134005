# What the examples' make.sh share: sourced, never run. It finds evh and python, prepares an empty project folder
# with the example's hand-written parts, and gives `step`, which runs one evh command at a fixed time.
#
# Expects: here (the example's folder), name (the project's name), day (of the fixed clock).

example_start() { # example_start [FOLDER]
  if (($# > 1)); then
    echo "usage: examples/$(basename -- "$here")/make.sh [FOLDER]" >&2
    exit 2
  fi
  EVH=${EVH:-evh}
  if ! EVH=$(command -v -- "$EVH"); then
    echo "make.sh: evh is not on the PATH; install it, or set EVH to the command" >&2
    exit 1
  fi
  case $EVH in
    /*) ;;
    *) EVH=$PWD/$EVH ;; # it must still be found after the change of folder
  esac
  PYTHON=${PYTHON:-$(command -v python3 || command -v python || true)}
  if [[ -z $PYTHON ]]; then
    echo "make.sh: python3 is not on the PATH; install it, or set PYTHON to the command" >&2
    exit 1
  fi
  # A variable that points at another project would make that one.
  unset EVAL_HOME EVAL_DATA_DIR EVAL_RUNS_DIR EVAL_GOALS_DIR

  target=${1:-$here/project}
  if [[ $# -eq 0 && -e $target ]]; then
    echo "removing $target, which an earlier make.sh made"
    rm -rf -- "$target"
  elif [[ -d $target && -n $(ls -A -- "$target") ]]; then
    echo "make.sh: $target is not empty; name an empty folder" >&2
    exit 1
  fi
  minute=0
  step init "$target" --name "$name"
  target=$(cd -- "$target" && pwd -P)
  cd -- "$target"
  cp -- "$here/evh.toml" evh.toml
  mkdir -p data/raw data/adapters data/configs sheets
  cp -- "$here"/raw/* data/raw/
  cp -- "$here"/adapters/*.py data/adapters/
  cp -- "$here"/configs/*.yaml data/configs/
  if [[ -d $here/goals ]]; then
    mkdir -p data/goals
    cp -- "$here"/goals/*.yaml data/goals/
  fi
}

step() { # one evh command; the clock moves on by one minute with each
  printf -v EVH_NOW '%sT%02d:%02d:00Z' "$day" $((minute / 60)) $((minute % 60))
  export EVH_NOW
  minute=$((minute + 1))
  printf '+ evh' >&2
  printf ' %q' "$@" >&2
  printf '\n' >&2
  "$EVH" "$@"
}
