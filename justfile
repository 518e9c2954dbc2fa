# `just` lists the recipes.
default:
    @just --list

# Generate reports, train on them, measure, show rankings; downloads nothing.
quickstart:
    cargo run --release --bin train -- --config configs/quickstart.toml

# Bring all-MiniLM-L6-v2 to encoders/all-MiniLM-L6-v2.
encoder:
    bash tools/scripts/fetch_encoder.sh encoders/all-MiniLM-L6-v2

# Train, as in `just train configs/finqa.toml --set data.root=/path/to/finqa`.
train config *arguments:
    cargo run --release --bin train -- --config {{config}} {{arguments}}

# Measure checkpoints and baselines on the dev part of a config.
evaluate config *arguments:
    cargo run --release --bin evaluate -- --config {{config}} {{arguments}}

# Rank a document's nodes, as in `just infer --checkpoint DIR --document FILE --question TEXT`.
infer *arguments:
    cargo run --release --bin infer -- {{arguments}}

# All tests.
test:
    cargo test --release --workspace --features polars

# The tests of the GPU kernels, on any GPU that wgpu finds, one of software too (mesa-vulkan-drivers).
test-gpu:
    cargo test --release --workspace --features wgpu --lib --test gpu --test program

# Format, lints, licences and advisories.
lint:
    cargo fmt --all --check
    cargo clippy --release --workspace --all-targets -- -D warnings
    cargo clippy --release --workspace --all-targets --features wgpu,cuda,polars -- -D warnings
    cargo deny --locked check
    cargo deny --locked --all-features check bans licenses sources

# Micro benchmarks, then what tools/scripts/bench.py measures beside peers: its options (--python, --peers, --encoder, --texts,
# --finqa) say which.
bench *arguments:
    cargo bench --workspace --bench kernels --bench documents
    python3 tools/scripts/bench.py {{arguments}}

# Measure on a GPU: `just gpu build`, carry gpu.local there, `bash gpu.local/tools/scripts/gpu.sh run` (docs/gpu.md).
gpu *arguments:
    bash tools/scripts/gpu.sh {{arguments}}

# Fuzz a reader, as in `just fuzz html`; targets are the files of tools/fuzz/fuzz_targets. Needs cargo-fuzz. What is found
# stays in tools/fuzz/found and, where it is a bug, in tools/fuzz/artifacts.
fuzz target seconds="600":
    mkdir -p tools/fuzz/found/{{target}}
    RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir tools/fuzz {{target}} tools/fuzz/found/{{target}} tools/fuzz/corpus/{{target}} -- \
        -max_total_time={{seconds}} -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        $(test -f tools/fuzz/dictionaries/{{target}}.dict && echo -dict=tools/fuzz/dictionaries/{{target}}.dict)

# The same for what is built on burn and polars (config, manifest, weights, reranker), of which only the project's own crates and
# the parsers under them are instrumented: a quarter of an hour of building, no sanitizer, no cargo-fuzz.
fuzz-heavy target seconds="600":
    mkdir -p tools/fuzz/heavy/found/{{target}}
    RUSTC_WRAPPER="$PWD/tools/scripts/instrument.sh" cargo build --release --manifest-path tools/fuzz/heavy/Cargo.toml --target-dir tools/fuzz/heavy/target
    tools/fuzz/heavy/target/release/{{target}} tools/fuzz/heavy/found/{{target}} tools/fuzz/heavy/corpus/{{target}} \
        -max_total_time={{seconds}} -timeout=20 -rss_limit_mb=2048
