//! Folders of reports and spreadsheets, taken in.

use std::path::Path;
use std::sync::Arc;

use tabsegnet_corpus::{IndexConfig, Writer};
use tabsegnet_document::ReadOptions;
use tabsegnet_encoder::{Encoder, EncoderConfig, load};
use tabsegnet_tablerag::{ChunkSettings, Execution, Library, read_files};

fn write(folder: &Path, name: &str, text: &str) {
    let file = folder.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn report(text: &str, oslo: u32) -> String {
    format!("# Sales\n\n{text}\n\n| City | Sold |\n|---|---|\n| Oslo | {oslo} |\n| Rome | 50 |\n")
}

#[test]
fn a_folder_of_reports_and_spreadsheets_is_one_library() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| write(folder.path(), name, text);
    put("cities.csv", "City,Country,Population\nRome,Italy,\"2,800,000\"\nOslo,Norway,\"700,000\"\n");
    put("2023/report.md", &report("Sales rose in the north.", 30));
    put("2024/report.md", &report("Sales fell in the south.", 40));
    put("notes.txt", "Bergen lies at the sea.\n");
    let rows = "<tr><th>City</th><th>Staff</th></tr><tr><td>Oslo</td><td>7</td></tr>";
    put("page.html", &format!("<html><body><h1>Offices</h1><table>{rows}</table></body></html>"));
    put("old.pdf", "%PDF-1.4 of no use here");
    put(".hidden.csv", "a,b\n1,2\n");
    let read = read_files(&[folder.path().to_owned()], &ReadOptions::default()).unwrap();
    let of_pdf = |warning: &&String| warning.contains("old.pdf") && warning.contains("docling");
    assert_eq!(read.warnings.iter().filter(of_pdf).count(), 1, "{:?}", read.warnings);
    let name = |path: &Path| path.strip_prefix(folder.path()).unwrap().display().to_string();
    let names: Vec<String> = read.sources.iter().map(|source| name(&source.name)).collect();
    assert_eq!(names, ["2023/report.md", "2024/report.md", "cities.csv", "notes.txt", "page.html"]);

    let config = EncoderConfig::default();
    let encoder: Arc<dyn Encoder> = load(&config).unwrap().into();
    let library = Library::new(read.sources, &encoder, &config, ChunkSettings::default()).unwrap();
    let tables: Vec<&str> = library.tables().iter().map(|table| table.schema.table_name.as_str()).collect();
    assert_eq!(tables, ["_2023_report", "_2024_report", "cities", "page"]);
    for (document, file) in names.iter().enumerate() {
        assert!(library.chunks().iter().any(|chunk| chunk.document == document), "{file}");
    }
    // One statement over tables of four files, with the cells of each.
    let sql = "SELECT c.population, a.sold, b.sold, p.staff FROM cities c JOIN _2023_report a USING (city) \
               JOIN _2024_report b USING (city) JOIN page p USING (city)";
    let run = Execution::default().run(&library, sql).unwrap();
    assert_eq!(serde_json::to_string(&run.rows.rows).unwrap(), "[[700000,30,40,7]]");
    let cited: Vec<(String, &str)> =
        run.cited.iter().map(|cell| (name(Path::new(&cell.document)), cell.text.as_str())).collect();
    let expected = [("cities.csv", "700,000"), ("2023/report.md", "30"), ("2024/report.md", "40"), ("page.html", "7")];
    assert_eq!(cited, expected.map(|(file, text)| (file.to_owned(), text)));
}

#[test]
fn records_and_lines_of_tables_are_documents_too() {
    let folder = tempfile::tempdir().unwrap();
    let orders = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/records/tests/parquet/orders.parquet");
    std::fs::copy(orders, folder.path().join("orders.parquet")).unwrap();
    let put = |name: &str, text: &str| write(folder.path(), name, text);
    put("people.jsonl", "{\"customer\": \"Ann\", \"city\": \"Oslo\"}\n{\"customer\": \"Cy\", \"city\": \"Rome\"}\n");
    let table = |id: &str, sold: u32| {
        format!(
            "{{\"id\": \"{id}\", \"title\": \"Sales\", \"header\": [\"city\", \"sold\"], \"rows\": [[\"Oslo\", {sold}]]}}\n"
        )
    };
    put("sales.jsonl", &(table("a", 30) + &table("b", 40)));
    put("broken.parquet", "PAR1 no PAR1");
    put("broken.jsonl", "{\"a\": 1}\n[\n");
    let shops = rusqlite::Connection::open(folder.path().join("shops")).unwrap();
    shops
        .execute_batch(
            "CREATE TABLE shop (city TEXT, rent REAL); INSERT INTO shop VALUES ('Oslo', 0.5); CREATE TABLE staff (a)",
        )
        .unwrap();
    let read = read_files(&[folder.path().to_owned()], &ReadOptions::default()).unwrap();
    let told = |name: &str| read.warnings.iter().filter(|warning| warning.contains(name)).count();
    assert_eq!((told("broken.parquet"), told("broken.jsonl"), read.warnings.len()), (1, 1, 2), "{:?}", read.warnings);

    let config = EncoderConfig::default();
    let encoder: Arc<dyn Encoder> = load(&config).unwrap().into();
    let library = Library::new(read.sources, &encoder, &config, ChunkSettings::default()).unwrap();
    let tables: Vec<&str> = library.tables().iter().map(|table| table.schema.table_name.as_str()).collect();
    assert_eq!(tables, ["orders", "people", "sales_t0", "sales_t1", "shops_shop", "shops_staff"]);
    let sql = "SELECT o.amount, p.city, a.sold, b.sold, s.rent FROM orders o JOIN people p USING (customer) \
               JOIN sales_t0 a USING (city) JOIN sales_t1 b USING (city) JOIN shops_shop s USING (city) WHERE o.order_id = 2003";
    let run = Execution::default().run(&library, sql).unwrap();
    assert_eq!(serde_json::to_string(&run.rows.rows).unwrap(), "[[60.25,\"Oslo\",30,40,0.5]]");
    let cited: Vec<&str> = run.cited.iter().map(|cell| cell.text.as_str()).collect();
    assert_eq!(cited, ["60.25", "Oslo", "30", "40", "0.5"]);
    assert!(run.cited[0].document.ends_with("orders.parquet") && run.cited[0].node == "t0:r3c2", "{:?}", run.cited);
}

#[test]
fn what_cannot_be_read_is_said() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.csv", "a,b\n1,2\n");
    write(folder.path(), "old.pdf", "%PDF-1.4");
    let read = |paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| folder.path().join(path)).collect();
        read_files(&paths, &ReadOptions::default())
    };
    // A file and its folder: once.
    assert_eq!(read(&["", "a.csv", "./a.csv"]).unwrap().sources.len(), 1);
    // What is named itself must be read.
    for (paths, part) in [(&["a.csv", "old.pdf"][..], "docling"), (&["", "none.csv"], "none.csv")] {
        let error = read(paths).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    std::fs::remove_file(folder.path().join("a.csv")).unwrap();
    let error = read(&[""]).unwrap_err().to_string();
    assert!(error.contains("no document was found; expected ") && error.contains("docling"), "{error}");
    let (config, corpus) = (EncoderConfig::default(), folder.path().join("corpus"));
    let encoder = load(&config).unwrap();
    let writer = Writer::open(&corpus, encoder.as_ref(), &config, &IndexConfig::default()).unwrap();
    writer.commit(&mut |_| ()).unwrap();
    let error = read(&["corpus"]).unwrap_err().to_string();
    assert!(error.contains("give it as --corpus"), "{error}");
}
