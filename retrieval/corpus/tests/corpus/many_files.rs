//! A corpus of very many files.

use std::path::Path;

use tabsegnet_corpus::{Change, files};

use crate::support::{open, settings, writer};

const FILES: usize = 20_000;
const OF_FOLDER: usize = 1000;

#[test]
fn very_many_files_are_taken_in_replaced_and_removed_and_what_opening_reads_stays_small() {
    let dir = tempfile::tempdir().unwrap();
    let (corpus, all) = (dir.path().join("corpus"), dir.path().join("in"));
    let folder = |number: usize| all.join((number / OF_FOLDER).to_string());
    let write = |number: usize, title: &str| {
        let line = format!("{{\"id\":\"t{number}\",\"title\":\"{title} {number}\",\"rows\":[[1]]}}\n");
        std::fs::write(folder(number).join(format!("{number}.jsonl")), line).unwrap();
    };
    for number in (0..FILES).step_by(OF_FOLDER) {
        std::fs::create_dir_all(folder(number)).unwrap();
    }
    // Files that were as they are, and the change.
    let index = || -> (usize, Change) {
        let (paths, problems) = files(std::slice::from_ref(&all));
        assert!(problems.is_empty() && paths.len() == FILES, "{problems:?}");
        let mut change = writer(&corpus, &settings(12)).unwrap();
        let mut unchanged = 0;
        for path in &paths {
            let of_file = change.add_file(path, &mut |_| ()).unwrap();
            assert!(of_file.problems.is_empty(), "{of_file:?}");
            unchanged += usize::from(of_file.unchanged);
        }
        (unchanged, change.commit(&mut |_| ()).unwrap())
    };
    (0..FILES).for_each(|number| write(number, "Season"));
    let (unchanged, made) = index();
    assert_eq!((unchanged, made.added, made.tables), (0, FILES, FILES));
    let read_at_opening = corpus.join("corpus.json").metadata().unwrap().len();
    assert!(read_at_opening < 20_000, "{read_at_opening} bytes");
    let list = || open(&corpus).unwrap().manifest().files(&corpus).unwrap();
    assert_eq!((index().0, list().len()), (FILES, FILES));

    (0..FILES).step_by(2).for_each(|number| write(number, "Games"));
    let (unchanged, changed) = index();
    assert_eq!((unchanged, changed.added, changed.removed, changed.tables), (FILES / 2, FILES / 2, FILES / 2, FILES));
    let opened = open(&corpus).unwrap();
    for (number, title) in [(6, "Games 6"), (7, "Season 7"), (FILES - 1, "Season 19999")] {
        let at = opened.find(&format!("t{number}")).unwrap();
        assert_eq!(opened.table(at).unwrap().title, title);
        assert!(Path::new(opened.source(at)).starts_with(folder(number)), "{}", opened.source(at));
    }

    let mut change = writer(&corpus, &settings(12)).unwrap();
    let below = folder(3 * OF_FOLDER);
    let gone: Vec<String> =
        change.files().filter(|file| Path::new(file).starts_with(&below)).map(str::to_owned).collect();
    assert_eq!(gone.iter().map(|file| change.remove(file)).sum::<usize>(), OF_FOLDER);
    assert_eq!(change.commit(&mut |_| ()).unwrap().tables, FILES - OF_FOLDER);
    assert_eq!(list().len(), FILES - OF_FOLDER);
    assert!(open(&corpus).unwrap().find("t3500").is_err());
}
