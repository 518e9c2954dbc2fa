//! Rows and columns that a sheet does not show: they are read as the others are, and told.

use std::collections::HashMap;
use std::io::{BufReader, Cursor};

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};

/// The last column that a sheet may have: what is hidden as far as that is the rest of it.
const LAST_COLUMN: usize = 16_384;

type Archive<'w> = zip::ZipArchive<Cursor<&'w [u8]>>;

/// What is hidden of each visible sheet, in words. Nothing of a workbook that cannot be read: reading its cells tells why.
pub(super) fn warnings(workbook: &[u8]) -> Vec<String> {
    found(workbook).unwrap_or_default()
}

fn found(workbook: &[u8]) -> Option<Vec<String>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook)).ok()?;
    let mut targets = HashMap::new();
    each_tag(&mut archive, "xl/_rels/workbook.xml.rels", |tag| {
        if tag.local_name().as_ref() == "Relationship" {
            targets.extend(attribute(tag, "Id").zip(attribute(tag, "Target")));
        }
    })?;
    let mut sheets = Vec::new();
    each_tag(&mut archive, "xl/workbook.xml", |tag| {
        let is_shown = || attribute(tag, "state").is_none_or(|state| state == "visible");
        if tag.local_name().as_ref() == "sheet" && is_shown() {
            sheets.extend(attribute(tag, "name").zip(attribute(tag, "id")));
        }
    })?;
    let of_sheet = |(name, id): (String, String)| {
        let target = targets.get(&id)?;
        let part = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
        let (rows, columns) = hidden(&mut archive, &part)?;
        let count = |of: usize, what: &str| (of > 0).then(|| format!("{of} {what}{}", if of == 1 { "" } else { "s" }));
        let told: Vec<String> = [count(rows, "row"), count(columns, "column")].into_iter().flatten().collect();
        let are = if rows + columns == 1 { "is" } else { "are" };
        (!told.is_empty())
            .then(|| format!("sheet {name:?}: {} {are} hidden, and read as the others are", told.join(" and ")))
    };
    Some(sheets.into_iter().filter_map(of_sheet).collect())
}

/// Rows with cells, and columns, that are hidden in a sheet.
fn hidden(archive: &mut Archive<'_>, part: &str) -> Option<(usize, usize)> {
    let (mut rows, mut columns, mut in_hidden) = (0, 0, false);
    each_tag(archive, part, |tag| match tag.local_name().as_ref() {
        "col" if is_hidden(tag) => {
            let number = |name: &str| attribute(tag, name).and_then(|number| number.parse::<usize>().ok());
            let between = number("min").zip(number("max")).filter(|(_, last)| *last < LAST_COLUMN);
            columns += between.map_or(0, |(first, last)| (last + 1).saturating_sub(first));
        }
        "row" => in_hidden = is_hidden(tag),
        "c" if in_hidden => {
            rows += 1;
            in_hidden = false;
        }
        _ => {}
    })?;
    Some((rows, columns))
}

fn is_hidden(tag: &BytesStart<'_>) -> bool {
    attribute(tag, "hidden").is_some_and(|hidden| ["1", "true"].contains(&hidden.as_str()))
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let found =
        attributes.with_checks(false).flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(unescape(&found.value).ok()?.into_owned())
}

/// Calls `each` with the tags that open in a part of the workbook.
fn each_tag(archive: &mut Archive<'_>, part: &str, mut each: impl FnMut(&BytesStart<'_>)) -> Option<()> {
    let mut reader = Reader::from_reader(BufReader::new(archive.by_name(part).ok()?));
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).ok()? {
            Event::Start(tag) | Event::Empty(tag) => each(&tag),
            Event::Eof => return Some(()),
            _ => {}
        }
        buffer.clear();
    }
}
