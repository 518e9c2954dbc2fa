#!/bin/sh
# A RUSTC_WRAPPER that counts edges for libFuzzer in the project's own crates and in the parsers under them, and
# leaves all others as they are: burn and polars build as ever, in minutes rather than hours, and cost no time per run.
set -eu
rustc=$1
shift
name=
previous=
for argument in "$@"; do
    [ "$previous" = --crate-name ] && name=$argument
    previous=$argument
done
case "$name" in
build_script_*) exec "$rustc" "$@" ;;
tabsegnet_* | config | manifest | reranker | weights | toml* | winnow | serde_json | safetensors)
    exec "$rustc" "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
        -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions=on -Coverflow-checks=on
    ;;
*) exec "$rustc" "$@" ;;
esac
