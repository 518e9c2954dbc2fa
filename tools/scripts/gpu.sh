#!/usr/bin/env bash
# All that is to be measured on a GPU, in one go: tests, scores beside the CPU's, steps and encoding beside PyTorch, half
# precision, out of memory, a whole training; one table.
#
#   tools/scripts/gpu.sh build [--finqa DIR] [--encoder DIR]   where Rust is: programs and data into gpu.local
#   tools/scripts/gpu.sh run [--output gpu.json]               where the GPU is: bash, Python 3.9 and PyTorch
#   tools/scripts/gpu.sh page gpu.json                         the results into docs/gpu.md
#
# gpu.local is all that has to be carried there; it holds this script. `--help` of each shows its options.
set -euo pipefail
command -v python3 >/dev/null || { echo "gpu.sh needs python3"; exit 2; }
exec python3 "$(dirname "$0")/gpu.py" "$@"
