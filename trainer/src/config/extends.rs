//! A config over others: `extends` names files whose keys hold where it has none itself.

use std::path::{Path, PathBuf};

use tabsegnet_store::read_text;
use toml::{Table, Value};

use super::{Config, ConfigError, keys};

/// The keys of a file over those of the files that it extends. `open` are the files on the way to it.
pub(super) fn table(file: &Path, open: &mut Vec<PathBuf>) -> Result<Table, ConfigError> {
    let text = read_text(file)?;
    let place = file.display().to_string();
    let toml_error = |error: toml::de::Error| ConfigError::Toml { file: place.clone(), message: error.to_string() };
    let mut own: Table = toml::from_str(&text).map_err(toml_error)?;
    let bases = own.remove("extends");
    keys::name_symbols(&mut own);
    keys::check(&place, &own)?;
    // Types are checked on the text, where an error can show the line.
    let Config { extends, .. } = toml::from_str(&text).map_err(toml_error)?;
    if bases.is_none() {
        return Ok(own);
    }
    let here = file.parent().unwrap_or(Path::new(""));
    open.push(name_of(file));
    let mut all = Table::new();
    for base in extends {
        let failed = |message: String| ConfigError::Extends { file: place.clone(), base: base.clone(), message };
        let path = here.join(&base);
        if open.contains(&name_of(&path)) {
            return Err(failed("it extends that file in turn; leave one of the two out".into()));
        }
        if !path.is_file() {
            return Err(failed(format!("{} is no file; paths start at the directory of the config", path.display())));
        }
        lay_over(&mut all, table(&path, open)?);
    }
    open.pop();
    lay_over(&mut all, own);
    Ok(all)
}

/// One name for a file, however it is reached.
fn name_of(file: &Path) -> PathBuf {
    file.canonicalize().unwrap_or_else(|_| file.to_owned())
}

/// Sections are joined key by key; anything else is replaced, lists as a whole.
fn lay_over(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Loads the first of files `(name, text)`.
    fn load(files: &[(&str, &str)]) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let whole = dir.path().display().to_string();
        Config::load(&dir.path().join(files[0].0), &[]).map_err(|error| error.to_string().replace(&whole, "DIR"))
    }

    #[test]
    fn a_config_has_the_keys_of_those_it_extends_unless_it_has_them_itself() {
        let config = load(&[
            ("a.toml", "extends = [\"parts/b.toml\", \"parts/c.toml\"]\n[optimisation]\nepochs = 3\n"),
            ("parts/b.toml", "[optimisation]\nepochs = 5\nbatch_size = 7\n[data]\ntrain = [\"x\", \"y\"]\n"),
            ("parts/c.toml", "extends = [\"d.toml\"]\n[optimisation]\nbatch_size = 9\n[data]\ntrain = [\"z\"]\n"),
            ("parts/d.toml", "[task]\nseed = 4\n[optimisation]\nbatch_size = 11\n"),
        ])
        .unwrap();
        assert_eq!((config.optimisation.epochs, config.optimisation.batch_size, config.task.seed), (3, 9, 4));
        assert_eq!((config.data.train, config.extends.len()), (vec!["z".to_owned()], 0));
    }

    #[test]
    fn errors_name_the_file_that_they_are_in() {
        let of = |files: &[(&str, &str)]| load(files).unwrap_err();
        let missing = of(&[("a.toml", "extends = [\"b.toml\"]")]);
        assert!(missing.starts_with("DIR/a.toml: extends \"b.toml\": DIR/b.toml is no file"), "{missing}");
        let typo = of(&[("a.toml", "extends = [\"b.toml\"]"), ("b.toml", "[modle]\n")]);
        assert!(typo.starts_with("DIR/b.toml: unknown key modle"), "{typo}");
        let wrong = of(&[("a.toml", "extends = [\"b.toml\"]"), ("b.toml", "[task]\nseed = \"x\"\n")]);
        assert!(wrong.starts_with("DIR/b.toml:") && wrong.contains("line 2"), "{wrong}");
        let round = of(&[("a.toml", "extends = [\"b.toml\"]"), ("b.toml", "extends = [\"./a.toml\"]")]);
        assert!(
            round.starts_with("DIR/./b.toml: extends") || round.contains("b.toml: extends \"./a.toml\""),
            "{round}"
        );
        assert!(of(&[("a.toml", "extends = \"b.toml\"")]).contains("expected a sequence"));
        let typo = of(&[("a.toml", "extend = [\"b.toml\"]")]);
        assert!(typo.contains("unknown key extend; the nearest known key is extends"), "{typo}");
    }

    #[test]
    fn the_same_file_may_be_extended_twice_but_not_from_within_itself() {
        let twice = "extends = [\"b.toml\", \"c.toml\"]";
        let config = load(&[
            ("a.toml", twice),
            ("b.toml", "extends = [\"d.toml\"]"),
            ("c.toml", "extends = [\"d.toml\"]"),
            ("d.toml", "[task]\nseed = 2"),
        ]);
        assert_eq!(config.unwrap().task.seed, 2);
        assert!(load(&[("a.toml", "extends = [\"a.toml\"]")]).unwrap_err().contains("in turn"));
    }
}
