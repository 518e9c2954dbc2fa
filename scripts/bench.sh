#!/usr/bin/env bash
# Benchmarks, as `just bench`. Without peers ours alone; with them side by side in one alternating run:
#   PEERS=DIR      with pyg_tabsegnet.py and st_encode.py
#   PYTHON=FILE    a Python that has their packages and those of scripts/onnxruntime_peer.py
#   ENCODER=DIR    all-MiniLM-L6-v2          TEXTS=FILE  one text a line
set -euo pipefail
cd "$(dirname "$0")/.."
peer() { [ -n "${PEERS:-}" ] && echo "--peer $PEERS/$1 --python ${PYTHON:-python3}" || true; }
# shellcheck disable=SC2046 # the words are options
python3 scripts/bench_step.py $(peer pyg_tabsegnet.py)
if [ -n "${ENCODER:-}" ] && [ -n "${TEXTS:-}" ]; then
    # shellcheck disable=SC2046
    python3 scripts/bench_encode.py --encoder "$ENCODER" --texts "$TEXTS" $(peer st_encode.py) \
        ${PEERS:+--onnxruntime}
else
    echo "ENCODER or TEXTS is not set: encoding is not measured"
fi
