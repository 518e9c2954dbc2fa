//! Files by their paths, and those below folders.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use tabsegnet_store::FileError;

/// The files of paths, those of folders with all below them, each once and by name, and what of them cannot be read, each
/// in words. Below folders hidden ones are passed over, and files that are to be `left_out`.
pub fn files_below(paths: &[PathBuf], left_out: impl Fn(&Path) -> bool) -> (Vec<PathBuf>, Vec<String>) {
    let (mut found, mut problems) = (BTreeSet::new(), Vec::new());
    let unread = |path: &Path, error| FileError::at(path, "read")(error).to_string();
    for path in paths {
        let path = plain_path(path);
        match std::fs::metadata(&path) {
            Ok(about) if about.is_dir() => {}
            Ok(about) => {
                match about.is_file() {
                    true => drop(found.insert(path)),
                    false => problems.push(no_file(&path)),
                }
                continue;
            }
            Err(error) => {
                problems.push(unread(&path, error));
                continue;
            }
        }
        let mut folders = vec![path];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    problems.push(unread(&folder, error));
                    continue;
                }
            };
            for entry in entries {
                let of_entry = entry.and_then(|entry| Ok((entry.file_type()?, entry)));
                let (kind, entry) = match of_entry {
                    Ok(of_entry) => of_entry,
                    Err(error) => {
                        problems.push(unread(&folder, error));
                        continue;
                    }
                };
                if entry.file_name().to_string_lossy().starts_with('.') {
                    continue;
                }
                let path = entry.path();
                // A link that leads nowhere is said when it is read.
                match std::fs::metadata(&path) {
                    Ok(about) if about.is_dir() && !kind.is_symlink() => folders.push(path),
                    Ok(about) if about.is_dir() => problems.push(not_followed(&path)),
                    Ok(about) if !about.is_file() => problems.push(no_file(&path)),
                    _ if left_out(&path) => {}
                    _ => {
                        found.insert(path);
                    }
                }
            }
        }
    }
    // Of paths that lie in each other each is told once.
    let mut told = BTreeSet::new();
    problems.retain(|problem| told.insert(problem.clone()));
    (found.into_iter().collect(), problems)
}

/// The names of the folders in which a file lies below the outermost of the folders that were given, with `/` between: `2023`
/// of `reports/2023/sales.csv` below `reports`. Where several folders were given, and where one is called by a year, its own
/// name counts too; a file that was given itself lies below none.
pub fn folders_below(given: &[PathBuf], file: &Path) -> String {
    let plain: Vec<PathBuf> = given.iter().map(|path| plain_path(path)).collect();
    let roots: Vec<&PathBuf> = plain.iter().filter(|path| path.as_path() != file && !path.is_file()).collect();
    let below =
        roots.iter().filter_map(|root| Some((*root, file.strip_prefix(root).ok().or_else(|| is_here(root, file))?)));
    let outermost = below.max_by_key(|(_, below)| below.components().count());
    let names = |path: &Path| -> Vec<String> {
        let named = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        });
        named.collect()
    };
    let Some((root, below)) = outermost else { return String::new() };
    let own = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let has_year = |name: &String| name.split(|c: char| !c.is_ascii_digit()).any(|part| part.len() == 4);
    let own = own.filter(|name| roots.len() > 1 || has_year(name));
    own.into_iter().chain(below.parent().map(names).unwrap_or_default()).collect::<Vec<String>>().join("/")
}

/// Of a file below the folder in which the program runs, where that was given, its path.
fn is_here<'f>(root: &Path, file: &'f Path) -> Option<&'f Path> {
    (root == Path::new(".") && file.is_relative()).then_some(file)
}

/// Reading a pipe could wait for ever, and what came would be gone the next time.
fn no_file(path: &Path) -> String {
    format!("{}: is no file, such as a pipe or device; write it into a file first", path.display())
}

/// A link may lead in a circle.
fn not_followed(path: &Path) -> String {
    format!("{}: is a link to a folder, which is not followed; give that folder too", path.display())
}

/// A path without what leads nowhere: `a` for `./a`, `a/b/..` and `a/`.
pub fn plain_path(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            // Of a link `..` is the folder that it leads to, not the one that it stands in.
            Component::ParentDir if ends_in_folder(&plain) => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    if plain.as_os_str().is_empty() { PathBuf::from(".") } else { plain }
}

fn ends_in_folder(path: &Path) -> bool {
    let named = matches!(path.components().next_back(), Some(Component::Normal(_)));
    named && std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_lies_in_the_folders_below_what_was_given() {
        for (given, file, folders) in [
            (&["reports"][..], "reports/2023/q1/sales.csv", "2023/q1"),
            (&["reports/"], "reports/sales.csv", ""),
            (&["/a/b/reports"], "/a/b/reports/2023/sales.csv", "2023"),
            (&["reports/2022", "reports/2023"], "reports/2023/sales.csv", "2023"),
            (&["a", "b"], "b/2023/sales.csv", "b/2023"),
            (&["/a/2023"], "/a/2023/sales.csv", "2023"),
            (&["reports/2023", "reports"], "reports/2023/sales.csv", "reports/2023"),
            (&["2022/sales.csv", "2023/sales.csv"], "2023/sales.csv", ""),
            (&["/a/2023/sales.csv"], "/a/2023/sales.csv", ""),
            (&["."], "2023/sales.csv", "2023"),
            (&["."], "./2023/sales.csv", "2023"),
        ] {
            let given: Vec<PathBuf> = given.iter().map(PathBuf::from).collect();
            assert_eq!(folders_below(&given, Path::new(file)), folders, "{given:?} {file}");
        }
    }
}
