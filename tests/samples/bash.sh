#!/usr/bin/env bash
set -euo pipefail

source ./base.sh
. "$HOME/other.sh"

UNIT=1

# Draws a circle: 形.
draw() {
  local radius=$1
  echo "ö $radius"
}

function grow {
  inner() { :; }
  inner
}

function ns::scale() (
  cd /tmp
)

if [[ -n ${UNIT} ]]; then
  conditional() {
    return 0
  }
fi

main "$@"
