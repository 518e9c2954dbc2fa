//! The programs under test, as the build left them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use toml::Table;

/// The programs and the folders of their packages.
const PROGRAMS: [(&str, &str); 6] = [
    ("train", "trainer"),
    ("evaluate", "trainer"),
    ("infer", "infer"),
    ("index", "infer"),
    ("ask", "agent"),
    ("query", "sql"),
];

/// A program in the target directory that this test runs in.
///
/// `cargo test --workspace`, and nextest as well, build the programs before any test runs, since the packages they
/// belong to have tests that run them (`tests/program.rs` of each). A build of this package alone does not.
///
/// # Panics
/// Where the program is missing or older than a file that it is compiled from.
pub fn path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test has a path");
    // target/PROFILE/deps/test
    let directory = test.ancestors().nth(2).expect("the test runs in a target directory");
    let program = directory.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if let Err(what) = check(directory, name, &program) {
        let features = if cfg!(feature = "wgpu") { " --features wgpu" } else { "" };
        panic!(
            "{}: {what}; build it as the tests are built: `cargo test --no-run --workspace{features}`, with --release \
             where the tests have it",
            program.display()
        );
    }
    program
}

fn check(directory: &Path, name: &str, program: &Path) -> Result<(), String> {
    let built =
        fs::metadata(program).and_then(|data| data.modified()).map_err(|error| format!("is not there ({error})"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a folder of the workspace");
    let (_, package) = PROGRAMS.iter().find(|(program, _)| *program == name).ok_or("is no program of this project")?;
    let mut crates = BTreeSet::new();
    collect(root, &root.join(package), &manifest(&root.join("Cargo.toml")), &mut crates);
    for (name, is_library) in crates.iter().map(|name| (name.as_str(), true)).chain([(name, false)]) {
        for source in sources(&directory.join("deps"), name, is_library) {
            let source = root.join(source);
            // One that is gone was left by an earlier state of the sources.
            let Ok(changed) = fs::metadata(&source).and_then(|data| data.modified()) else { continue };
            if changed > built {
                return Err(format!("is older than {}", source.display()));
            }
        }
    }
    Ok(())
}

fn manifest(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The library crates of a package and of those of the workspace that it links.
fn collect(root: &Path, package: &Path, workspace: &Table, crates: &mut BTreeSet<String>) {
    let manifest = manifest(&package.join("Cargo.toml"));
    if package.join("src/lib.rs").is_file() {
        let name = manifest["package"]["name"].as_str().expect("a package has a name");
        if !crates.insert(name.replace('-', "_")) {
            return;
        }
    }
    let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
    for name in dependencies.into_iter().flatten().map(|(name, _)| name) {
        let path = workspace["workspace"]["dependencies"].get(name).and_then(|entry| entry.get("path"));
        if let Some(path) = path.and_then(|path| path.as_str()) {
            collect(root, &root.join(path), workspace, crates);
        }
    }
}

/// The files that a crate is compiled from, those that it includes too: rustc lists them beside what it built. Of
/// several builds of a library the newest counts, of a program the newest that is no test of it.
fn sources(deps: &Path, name: &str, is_library: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(deps).unwrap_or_else(|error| panic!("{}: {error}", deps.display()));
    let mut newest: Option<(SystemTime, String)> = None;
    for entry in entries.filter_map(Result::ok) {
        let file = entry.file_name().to_string_lossy().into_owned();
        let Some(stem) = file.strip_suffix(".d").filter(|stem| stem.strip_prefix(name).is_some_and(is_hash)) else {
            continue;
        };
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        let built = entry.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        if (!is_library || text.contains(&format!("lib{stem}.rlib")))
            && newest.as_ref().is_none_or(|(time, _)| *time < built)
        {
            newest = Some((built, text));
        }
    }
    // `FILE:` on a line of its own for each, blanks with a backslash before them.
    let text = newest.map_or_else(String::new, |(_, text)| text);
    text.lines().filter_map(|line| line.strip_suffix(':')).map(|file| file.replace("\\ ", " ").into()).collect()
}

/// What follows a crate's name in the names of the files it is built into: `-0123456789abcdef`.
fn is_hash(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|hash| hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit()))
}
