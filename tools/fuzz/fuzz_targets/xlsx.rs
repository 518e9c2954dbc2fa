//! Bytes that begin as an archive are read as they are; others are the XML of a sheet, which is
//! put into a workbook, since a fuzzer seldom gets past an archive's checksums.
#![no_main]

use std::io::{Cursor, Write as _};

use libfuzzer_sys::fuzz_target;
use tabsegnet_document::Format;
use zip::write::SimpleFileOptions;

fuzz_target!(|bytes: &[u8]| {
    if bytes.starts_with(b"PK") {
        tabsegnet_fuzz::read("x.xlsx", Format::Xlsx, bytes);
    } else if let Ok(book) = workbook(bytes) {
        tabsegnet_fuzz::read("x.xlsx", Format::Xlsx, &book);
    }
});

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

fn workbook(sheet: &[u8]) -> zip::result::ZipResult<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut add = |name: &str, parts: &[&[u8]]| -> zip::result::ZipResult<()> {
        archive.start_file(name, stored)?;
        for part in parts {
            archive.write_all(part)?;
        }
        Ok(())
    };
    add("[Content_Types].xml", &[b"<Types/>"])?;
    let root = format!(
        "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"r\" Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    add("_rels/.rels", &[root.as_bytes()])?;
    let book = format!(
        "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets><sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    add("xl/workbook.xml", &[book.as_bytes()])?;
    let targets = format!(
        "<Relationships xmlns=\"{PACKAGE}\"><Relationship Id=\"r1\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
         <Relationship Id=\"s\" Type=\"{RELATIONS}/styles\" Target=\"styles.xml\"/></Relationships>"
    );
    add("xl/_rels/workbook.xml.rels", &[targets.as_bytes()])?;
    let styles = format!(
        "<styleSheet xmlns=\"{MAIN}\"><numFmts count=\"1\"><numFmt numFmtId=\"164\" formatCode=\"#,##0_);(#,##0)\"/></numFmts>\
         <fonts><font/></fonts><fills><fill/></fills><borders><border/></borders>\
         <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"10\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>"
    );
    add("xl/styles.xml", &[styles.as_bytes()])?;
    let open = format!("<worksheet xmlns=\"{MAIN}\">");
    add("xl/worksheets/sheet1.xml", &[open.as_bytes(), sheet, b"</worksheet>"])?;
    Ok(archive.finish()?.into_inner())
}
