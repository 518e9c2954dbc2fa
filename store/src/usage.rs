//! What a program refuses before it begins.

use std::fs;
use std::path::{Path, PathBuf};

/// The command line asks for something that does not go together. A program ends with [`USAGE`](crate::USAGE) then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Options that name files or folders, those that are given.
#[derive(Debug, Clone, Default)]
pub struct Paths<'a>(Vec<(&'static str, &'a Path)>);

impl<'a> Paths<'a> {
    /// With those of an option: none, one or several.
    #[must_use]
    pub fn and<P: AsRef<Path> + 'a>(mut self, option: &'static str, paths: impl IntoIterator<Item = &'a P>) -> Self {
        self.0.extend(paths.into_iter().map(|path| (option, path.as_ref())));
        self
    }
}

/// Refuses a file that is to be written where another option reads or writes it too, through whatever links, where it is a
/// folder, and where its folder is not there. What is no regular file, such as a pipe, may be named more than once.
///
/// # Errors
/// Names both options, or the folder.
pub fn check_written(written: &Paths<'_>, read: &Paths<'_>) -> Result<(), UsageError> {
    let refuse = |message: String| Err(UsageError(message));
    for (at, (option, path)) in written.0.iter().enumerate() {
        let (named, there) = (format!("{option} {}", path.display()), fs::metadata(path).ok());
        match &there {
            Some(there) if there.is_dir() => return refuse(format!("{named}: is a folder; expected a file to write")),
            Some(there) if !there.is_file() => continue,
            _ => {}
        }
        let Some(whole) = whole_path(path) else {
            let folder = path.parent().unwrap_or(path).display();
            return refuse(format!(
                "{named}: there is no folder {folder}; make it, or name a file in one that is there"
            ));
        };
        for (other, of) in written.0[..at].iter().chain(&read.0) {
            let of_other = whole_path(of);
            if of_other.as_ref() == Some(&whole) {
                let of = of.display();
                return refuse(format!(
                    "{named} and {other} {of} are one file, which would be overwritten; name another"
                ));
            }
            if there.is_some() && of.is_dir() && of_other.is_some_and(|folder| whole.starts_with(folder)) {
                let of = of.display();
                return refuse(format!("{named}: is a file of {other} {of}, which is read; name one outside of it"));
            }
        }
    }
    Ok(())
}

/// Refuses a folder that is to be written, or made, where a file has its name.
///
/// # Errors
/// Names the option and the file.
pub fn check_folder(option: &str, path: &Path) -> Result<(), UsageError> {
    match fs::metadata(path) {
        Ok(there) if !there.is_dir() => Err(UsageError(format!(
            "{option} {}: is a file; expected a folder, which is made where it is not there",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Where a path leads, through links; of a file that is not there its folder counts. Nothing where that is not there either.
fn whole_path(path: &Path) -> Option<PathBuf> {
    let of_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    fs::canonicalize(path).ok().or_else(of_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_by_one_option_and_read_by_none() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("read.json"), "x").unwrap();
        fs::create_dir(at("folder")).unwrap();
        fs::write(at("folder/part.csv"), "x").unwrap();
        let refused = |output: &str, graph: Option<&str>| {
            let (output, graph, read) = (at(output), graph.map(at), [at("read.json"), at("folder")]);
            let written = Paths::default().and("--output", [&output]).and("--graph", &graph);
            let checked = check_written(&written, &Paths::default().and("--document", &read));
            checked.err().map_or_else(String::new, |error| error.to_string())
        };
        let both = |said: String, other: &str| {
            assert!(said.contains("--output") && said.contains(other) && said.contains("one file"), "{said}");
        };
        both(refused("read.json", None), "--document");
        both(refused("folder/../read.json", None), "--document");
        both(refused("new", Some("folder/../new")), "--graph");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("read.json"), at("link")).unwrap();
            both(refused("link", None), "--document");
            assert_eq!(
                check_written(
                    &Paths::default().and("--output", ["/dev/null"].iter()).and("--graph", ["/dev/null"].iter()),
                    &Paths::default()
                ),
                Ok(())
            );
        }
        assert!(refused("folder/part.csv", None).contains("is a file of --document"));
        assert!(refused("folder", None).contains("is a folder"));
        assert!(refused("none/new", None).contains(&format!("there is no folder {}", at("none").display())));
        assert_eq!((refused("folder/new", Some("new")), refused("new", None)), (String::new(), String::new()));
        assert!(check_folder("--output", &at("read.json")).unwrap_err().to_string().contains("is a file"));
        assert_eq!((check_folder("--output", &at("folder")), check_folder("--output", &at("none"))), (Ok(()), Ok(())));
    }
}
