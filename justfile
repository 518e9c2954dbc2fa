# `just` lists the recipes.
default:
    @just --list

# Make reports, train on them, measure, show rankings; downloads nothing.
quickstart:
    cargo run --release --bin train -- --config configs/quickstart.toml

# Bring all-MiniLM-L6-v2 to encoders/all-MiniLM-L6-v2.
encoder:
    bash scripts/fetch_encoder.sh encoders/all-MiniLM-L6-v2

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
    cargo test --release --workspace

# The tests of the GPU kernels, on any GPU that wgpu finds, one of software too (mesa-vulkan-drivers).
test-gpu:
    cargo test --release --workspace --features wgpu --lib --test gpu

# Format, lints, licences and advisories.
lint:
    cargo fmt --all --check
    cargo clippy --release --workspace --all-targets -- -D warnings
    cargo clippy --release --workspace --all-targets --features wgpu,cuda -- -D warnings
    cargo deny --locked check
    cargo deny --locked --all-features check bans licenses sources

# Micro benchmarks, and the peers beside us where PEERS (a directory with their scripts) is set.
bench *arguments:
    cargo bench -p tabsegnet-benches
    python3 scripts/bench.py {{arguments}}
