use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::facts::{FactPlace, Period};
use crate::model::{Block, CellRole, Table};
use crate::{HeaderOverride, Limits, ReadDocument, ReadOptions, read_bytes};

fn read_with(text: &str, options: &ReadOptions) -> ReadDocument {
    read_bytes(Path::new("page.html"), text.into(), options).unwrap()
}

fn read(text: &str) -> ReadDocument {
    read_with(text, &ReadOptions::default())
}

fn table(read: &ReadDocument) -> &Table {
    read.document.tables().next().unwrap()
}

/// Row path, column path and text of a cell.
fn cell(table: &Table, row: usize, col: usize) -> (String, String, &str) {
    let cell = table.cell_at(row, col).unwrap();
    (table.path(&table.row_headers_of(cell)), table.path(&table.column_headers_of(cell)), cell.text.as_str())
}

fn passages(read: &ReadDocument) -> Vec<&str> {
    read.document.passages().collect()
}

#[test]
fn regression_none_is_a_sentence_and_no_bullet() {
    let page = "<p><b>Item 1B. Unresolved Staff Comments</b></p><p>None.</p><p><b>Item 1C. Cybersecurity</b></p><p>It is safe.</p>\
        <p>(iv)</p><p>A fourth thing.</p>";
    assert_eq!(passages(&read(page)), ["None.", "It is safe.", "(iv) A fourth thing."]);
}

#[test]
fn regression_a_header_over_the_whole_table_below_those_of_columns_names_rows() {
    let page = "<table><thead><tr><th>Treatment</th><th>2022</th><th>2023</th></tr></thead><tbody>\
        <tr><th colspan=3>Ekeby</th></tr><tr><td>Rye</td><td>4.2</td><td>3.7</td></tr>\
        <tr><th colspan=3>Lindby</th></tr><tr><td>Rye</td><td>3.5</td><td>3.1</td></tr></tbody></table>";
    let read = read(page);
    let table = table(&read);
    assert_eq!(table.num_header_rows(), 1);
    assert_eq!((table.row_parent(2), table.row_parent(4)), (Some(1), Some(3)));
}

#[test]
fn marked_headers_of_two_levels_become_paths() {
    let page = "<h2>Sales</h2><p>We sold &amp; bought. A lot.</p><table><thead><tr><th rowspan=2></th><th colspan=2>Year</th></tr>\
        <tr><th>2023</th><th>2024</th></tr></thead><tbody><tr><th>Cloud</th><td>1</td><td>2</td></tr></tbody></table>";
    let read = read(page);
    assert_eq!(passages(&read), ["We sold & bought.", "A lot."]);
    let table = table(&read);
    assert_eq!((table.num_header_rows(), table.num_header_cols(), table.caption()), (2, 1, "Sales"));
    assert_eq!(cell(table, 2, 2), ("Cloud".into(), "Year > 2024".into(), "2"));
    assert!(read.tables[0].why.contains("marked"), "{}", read.tables[0].why);
}

#[test]
fn paragraphs_and_headings_keep_their_passages() {
    let page = "<h3>Sales</h3><p>We sold. We bought.</p><div><b>Outlook</b></div><table><tr><th>a</th><th>b</th></tr>\
        <tr><td>x</td><td>1</td></tr></table><hr><p>We hope.</p>";
    let read = read(page);
    assert_eq!(read.layout.paragraphs, [0..2, 2..3]);
    assert_eq!(passages(&read), ["We sold.", "We bought.", "We hope."]);
    let headings: Vec<_> = read.document.headings().map(|heading| (heading.level, heading.text.as_str())).collect();
    assert_eq!(headings, [(3, "Sales"), (4, "Outlook")]);
    assert!(matches!(&read.document.blocks[3..], [Block::Heading(_), Block::Table(_), Block::Passage(_)]));
}

/// A balance sheet as filings write it: no `th`, spacer columns, signs in cells of their own.
const FILING: &str = r##"<div><b>Consolidated Balance Sheets</b></div><div>(In millions)</div><table>
  <tr><td></td><td></td><td colspan="3">2024</td><td></td><td colspan="3">2023</td></tr>
  <tr><td>Current assets:</td></tr>
  <tr><td style="padding-left:9pt">Cash</td><td></td><td>$</td><td>1,234</td><td></td><td></td><td>$</td><td>5</td><td></td></tr>
  <tr><td style="padding-left:9pt">Tax<sup>(1)</sup></td><td></td><td></td><td>(7</td><td>)</td><td></td><td></td><td>&#8212;</td><td></td></tr>
  <tr><td>Total assets</td><td></td><td>$</td><td>1,227</td><td></td><td></td><td>$</td><td>5</td><td></td></tr>
</table><p>(1) See note.</p>"##;

#[test]
fn numbers_spread_over_cells_become_one() {
    let read = read(FILING);
    let table = table(&read);
    assert_eq!((table.rows(), table.cols()), (5, 3));
    assert_eq!(table.caption(), "Consolidated Balance Sheets (In millions)");
    assert_eq!(cell(table, 2, 1), ("Current assets: > Cash".into(), "2024".into(), "$ 1,234"));
    assert_eq!(cell(table, 3, 1), ("Current assets: > Tax".into(), "2024".into(), "(7)"));
    assert_eq!(cell(table, 4, 2), ("Total assets".into(), "2023".into(), "$ 5"));
}

/// As spreadsheets are filed: what is merged away stays as a cell that is not displayed.
#[test]
fn cells_that_are_not_displayed_take_no_column() {
    let head = |shown: &str| {
        let gone = r#"<td colspan="3" style="display:none"></td>"#.repeat(6);
        format!("<tr><td></td>{gone}{shown}</tr>")
    };
    let page = format!(
        "<table>{}{}<tr style='display: none'><td>Hidden</td><td>9</td></tr>\
         <tr><td>Charges</td><td>386</td><td>75</td><td>541</td><td hidden>0</td><td>447</td></tr></table>",
        head(r#"<td colspan="2">Fiscal 2025</td><td colspan="2">Fiscal 2024</td>"#),
        head("<td>Workforce</td><td>Offices</td><td>Workforce</td><td>Offices</td>"),
    );
    let read = read(&page);
    let table = table(&read);
    assert_eq!((table.rows(), table.cols()), (3, 5));
    let header = |column| cell(table, 2, column);
    assert_eq!(header(2), ("Charges".into(), "Fiscal 2025 > Offices".into(), "75"));
    assert_eq!(header(3), ("Charges".into(), "Fiscal 2024 > Workforce".into(), "541"));
    assert_eq!(header(4), ("Charges".into(), "Fiscal 2024 > Offices".into(), "447"));
}

#[test]
fn what_was_inferred_can_be_overridden() {
    let all = read_with(FILING, &ReadOptions { header_rows: Some(0), ..Default::default() });
    assert_eq!(table(&all).num_header_rows(), 0);
    let own = HeaderOverride { header_rows: Some(2), header_cols: Some(99) };
    let one = read_with(FILING, &ReadOptions { tables: [(0, own)].into(), header_rows: Some(0), ..Default::default() });
    assert_eq!((table(&one).num_header_rows(), table(&one).num_header_cols()), (2, 3));
}

#[test]
fn facts_keep_their_place_and_what_they_refer_to() {
    let page = r#"<?xml version="1.0"?><html><body><div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:DocumentFiscalYearFocus" contextRef="c1">2024</ix:nonNumeric></ix:hidden><ix:resources>
        <xbrli:context id="c1"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">0000000007</xbrli:identifier><xbrli:segment><xbrldi:explicitMember dimension="us:Axis">us:Member</xbrldi:explicitMember></xbrli:segment></xbrli:entity>
        <xbrli:period><xbrli:startDate>2024-01-01</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate></xbrli:period></xbrli:context>
        <xbrli:unit id="u"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unitNumerator>
        <xbrli:unitDenominator><xbrli:measure>shares</xbrli:measure></xbrli:unitDenominator></xbrli:divide></xbrli:unit></ix:resources></ix:header></div>
        <p>It rose. To <ix:nonFraction name="us:A" contextRef="c1" unitRef="u" scale="6" decimals="-5">1.5</ix:nonFraction> million. End.</p>
        <table><tr><td/><td>2024</td></tr><tr><td>Loss</td><td>(<ix:nonFraction name="us:B" contextRef="c1" sign="-" format="ixt:num-dot-decimal">1,200</ix:nonFraction>)</td></tr></table>
        </body></html>"#;
    let read = read(page);
    let [a, b] = &read.facts.numbers[..] else { panic!("{:?}", read.facts.numbers) };
    assert_eq!((a.value(), a.place, a.in_table), (Some(1_500_000.0), FactPlace::Passage(1), false));
    assert_eq!((b.value(), b.place, b.in_table), (Some(-1200.0), FactPlace::Cell { table: 0, row: 1, col: 1 }, true));
    let context = &read.facts.contexts["c1"];
    assert_eq!(context.period, Period::Duration { start: "2024-01-01".into(), end: "2024-12-31".into() });
    assert_eq!((context.dimensions[0].member.as_str(), context.entity.as_str()), ("us:Member", "0000000007"));
    let about = &read.facts.about[0];
    assert_eq!((about.name.as_str(), about.text.as_str()), ("dei:DocumentFiscalYearFocus", "2024"));
    assert_eq!((&read.facts.units["u"].measures[0][..], &read.facts.units["u"].per[0][..]), ("iso4217:USD", "shares"));
    assert_eq!(cell(table(&read), 1, 1).2, "(1,200)");
}

#[test]
fn what_is_only_laid_out_as_a_table_is_text() {
    let bullets = "<table><tr><td>&#8226;</td><td>First thing. Second thing.</td></tr></table>";
    assert_eq!(passages(&read(bullets)), ["• First thing.", "Second thing."]);
    let contents = "<p>Contents of it</p><table><tr><td><a href='#a'>Item 1</a></td><td>Business</td><td>4</td></tr>\
        <tr><td><a href='#b'>Item 2</a></td><td>Risks</td><td>9</td></tr><tr><td><a href='#c'>Item 3</a></td><td>Law</td><td>12</td></tr></table>";
    assert_eq!(read(contents).tables.len(), 0);
    let frame = "<table><tr><td><p>Left text.</p></td><td><table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr></table></td></tr></table>";
    let read = read(frame);
    assert_eq!((passages(&read), read.tables.len()), (vec!["Left text."], 1));
}

#[test]
fn nested_tables_follow_the_one_they_stand_in() {
    let page = "<table><tr><th>a</th><th>b</th></tr><tr><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr>\
        <tr><td>z</td><td>3<table><tr><th>c</th><th>d</th></tr><tr><td>u</td><td>4</td></tr></table></td></tr></table>";
    let read = read(page);
    let sizes: Vec<_> = read.document.tables().map(|table| (table.rows(), table.cols())).collect();
    assert_eq!(sizes, [(4, 2), (2, 2)]);
    assert_eq!(cell(table(&read), 3, 1).2, "3");
}

#[test]
fn names_that_hold_for_several_rows_reach_over_them() {
    let row = |a: &str, b: &str, n: &str| format!("<tr><td>{a}</td><td>{b}</td><td>{n}</td></tr>");
    let page = format!(
        "<table>{}{}{}{}{}</table>",
        row("", "", "2024"),
        row("Humira", "United States", "7"),
        row("", "International", "1"),
        row("Skyrizi", "United States", "3"),
        row("", "International", "2")
    );
    let read = read(&page);
    assert_eq!(cell(table(&read), 4, 2).0, "Skyrizi > International");
}

#[test]
fn hidden_texts_scripts_and_page_numbers_are_left_out() {
    let page = "<script>var x = 1;</script><p style='display: none'>no</p><div hidden>no</div><p>yes</p><div>53</div>\
        <p><a href='#toc'>Table of Contents</a></p><p>It is 10<sup>2</sup> m<sup>2</sup>.</p>";
    assert_eq!(passages(&read(page)), ["yes", "It is 10^2 m2."]);
}

#[test]
fn a_huge_span_is_cut_to_the_table() {
    let page = "<table><tr><th colspan=1000000000>a</th></tr><tr><td rowspan=1000000000>b</td><td>1</td></tr><tr><td>2</td></tr></table>";
    let read = read(page);
    assert!(table(&read).rows() * table(&read).cols() <= 6, "{:?}", table(&read));
}

#[test]
fn a_hundred_thousand_nested_tags_are_read_in_bounded_time() {
    let start = Instant::now();
    for tag in ["div", "b", "table><tr><td", "span", "p><font", "ul><li", "a href=x"] {
        let page =
            format!("<p>before</p>{}deep{}<p>after</p>", format!("<{tag}>").repeat(100_000), "</div>".repeat(1000));
        let read = read(&page);
        assert!(passages(&read).concat().contains("before"), "{tag}");
    }
    let attributes: String = (0..30_000).map(|n| format!("<p><font color={n}>")).collect();
    read(&format!("<p>before</p>{attributes}"));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn wide_tables_of_shifted_cells_are_read_in_bounded_time() {
    let start = Instant::now();
    let row = |shift: usize| format!("<tr>{}{}</tr>", "<td>x</td>".repeat(shift), "<td colspan=2>1</td>".repeat(400));
    let rows: String = (0..1000).map(|index| row(index % 2)).collect();
    assert_eq!(read(&format!("<table>{rows}</table>")).tables.len(), 1);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

#[test]
fn a_table_beyond_the_limit_is_cut_with_a_warning() {
    let page = format!("<table><tr><th>a</th><th>b</th></tr>{}</table>", "<tr><td>x</td><td>1</td></tr>".repeat(1000));
    let limits = Limits { max_cells_per_table: 100, ..Limits::default() };
    let read = read_with(&page, &ReadOptions { limits, ..Default::default() });
    assert_eq!(table(&read).rows(), 50);
    assert!(read.warnings[0].contains("cut off after 100 cells"), "{:?}", read.warnings);
    assert_eq!(read.cuts.iter().map(|cut| (cut.rows, cut.of)).collect::<Vec<_>>(), [(50, Some(1001))]);
}

#[test]
fn headings_of_levels_that_html_does_not_have_are_counted() {
    let read = read("<h6>Six</h6><p>It rose.</p><h7>Seven</h7><p>It fell.</p><h12>Twelve</h12><hr><header>x</header>");
    assert_eq!(read.document.headings().map(|heading| heading.text.as_str()).collect::<Vec<_>>(), ["Six"]);
    assert!(passages(&read).contains(&"Seven"), "{:?}", passages(&read));
    assert_eq!(read.warnings.len(), 1);
    assert!(read.warnings[0].starts_with("2 headings are marked h7 or deeper"), "{:?}", read.warnings);
}

#[test]
fn the_title_is_that_of_the_head_and_no_part_of_the_document() {
    let page = "<html><head><title> Lakes of\n Europe </title></head><body><svg><title>Icon</title></svg><p>Deep.</p></body></html>";
    let titled = read(page);
    assert_eq!((titled.title.as_deref(), passages(&titled)), (Some("Lakes of Europe"), vec!["Deep."]));
    for none in ["<p>Deep.</p>", "<title> </title><p>Deep.</p>", "<svg><title>Icon</title></svg><p>Deep.</p>"] {
        assert_eq!(read(none).title, None, "{none}");
    }
    assert_eq!(read(&page.repeat(2)).title, None);
    let filing = "<html><head><title>x-20250126</title></head><body><p><ix:nonNumeric name=\"dei:DocumentType\" contextRef=\"c\">10-K</ix:nonNumeric> of \
                  <ix:nonNumeric name=\"dei:EntityRegistrantName\" contextRef=\"c\">Lakes Inc.</ix:nonNumeric></p></body></html>";
    assert_eq!(read(filing).title.as_deref(), Some("Lakes Inc., 10-K"));
}

/// Tags and texts as they come.
fn soup() -> impl Strategy<Value = String> {
    let tags = prop::sample::select(vec![
        "<table>",
        "</table>",
        "<tr>",
        "</tr>",
        "<td>",
        "<th>",
        "</td>",
        "<td colspan=3>",
        "<td rowspan=4>",
        "<td rowspan=0>",
        "<thead>",
        "<tbody>",
        "<caption>",
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<i>",
        "</i>",
        "<a href='#x'>",
        "</a>",
        "<ix:nonFraction name=a contextRef=c scale=3>",
        "</ix:nonFraction>",
        "<sup>",
        "</sup>",
        "<br>",
        "$",
        "(",
        ")",
        "%",
        "1,234",
        "2024",
        "Total",
        " words ",
        "&nbsp;",
        "•",
        "<select>",
        "<template>",
        "<svg>",
        "</svg>",
        "<script>",
        "</script>",
        "<!--",
        "-->",
        "<div style='display:none'>",
        "<h1>",
        "</h1>",
        "<form>",
        "<frameset>",
        "é",
    ]);
    prop::collection::vec(tags, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the page, nothing panics, no tagged number is lost, and each says a place that is there.
    #[test]
    fn any_page_is_read(page in soup()) {
        let page = format!("<p>start</p>{page}");
        let Ok(read) = read_bytes(Path::new("page.html"), page.into(), &ReadOptions::default()) else { return Ok(()) };
        let tables: Vec<&Table> = read.document.tables().collect();
        prop_assert_eq!(tables.len(), read.tables.len());
        for fact in &read.facts.numbers {
            match fact.place {
                FactPlace::Cell { table, row, col } => {
                    let cell = tables[table].cell_at(row, col).unwrap();
                    prop_assert_eq!((cell.row, cell.col), (row, col));
                }
                FactPlace::Passage(passage) => prop_assert!(passage < read.document.passages().count()),
                FactPlace::Caption(table) => prop_assert!(table < tables.len()),
                FactPlace::Hidden => {}
            }
        }
        for block in &read.document.blocks {
            if let Block::Table(table) = block {
                prop_assert!(table.cells().iter().all(|cell| table.role(cell) != CellRole::Data || cell.row >= table.num_header_rows()));
            }
        }
    }

    #[test]
    fn any_bytes_are_a_document_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), name in "[a-z]{1,3}\\.(html|md|csv|tsv|txt|json|xlsx|bin)") {
        let _ = read_bytes(Path::new(&name), bytes, &ReadOptions::default());
    }
}

#[test]
fn running_heads_end_no_section() {
    let page = |number: usize, body: &str| {
        format!(
            "<div><a href=\"#contents\">Table of Contents</a></div><div><b>ACME INC.</b></div><div><b>NOTES</b></div>\
             <div>{body}</div><div>{number}</div><hr style=\"page-break-after:always\"/>"
        )
    };
    let note = page(1, "<div><b>Note 7. Debt</b></div>We owe.");
    let pages: String = (2..7).map(|number| page(number, &format!("{} is of the note.", "o".repeat(number)))).collect();
    let read = read(&format!(
        "<hr style=\"page-break-after:always\"/>{note}{pages}<div><b>NOTE 7. DEBT (Continued)</b></div>End."
    ));
    let headings: Vec<_> = read.document.headings().map(|heading| heading.text.as_str()).collect();
    assert_eq!(headings, ["ACME INC.", "NOTES", "Note 7. Debt"]);
    assert_eq!(passages(&read).len(), 7, "{:?}", passages(&read));
}

#[test]
fn a_heading_below_a_running_head_of_its_words_is_one() {
    let page = |heading: &str, body: &str| {
        format!(
            "<div>PART II</div><div>ITEM 7. DISCUSSION</div>{heading}<div>{body}</div>\
             <hr style=\"page-break-after:always\"/>"
        )
    };
    let first = page("<div style=\"font-size:18pt\">Item 7. Discussion</div>", "We sold more.");
    let pages: String = (2..7).map(|number| page("", &format!("{} is of it.", "o".repeat(number)))).collect();
    let read = read(&format!("<hr style=\"page-break-after:always\"/>{first}{pages}"));
    let headings: Vec<_> = read.document.headings().map(|heading| heading.text.as_str()).collect();
    assert_eq!(headings, ["Item 7. Discussion"]);
    // The first of the small heads stays, as it may say what nothing else says.
    assert_eq!(passages(&read)[..4], ["PART II", "ITEM 7.", "DISCUSSION", "We sold more."]);
    assert_eq!(passages(&read).len(), 9, "{:?}", passages(&read));
}

#[test]
fn statements_stand_under_their_titles() {
    let row = |cells: [&str; 3]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let rows = [row(["", "2024", "2023"]), row(["Revenue", "9", "8"]), row(["Cash", "4", "3"])].concat();
    let report = "<div><b>Report of Independent Registered Public Accounting Firm</b></div><div><b>Rebates</b></div>";
    let titled = format!("<table>{}{rows}</table>", row(["Consolidated Statements of Operations", "", ""]));
    let contents = "<div><b>Page</b></div><div><a href=\"#a\"><b>Consolidated Balance Sheets 4</b></a> <b>5</b></div>";
    let sheet = format!("<div><b>CONSOLIDATED BALANCE SHEETS</b></div><table>{rows}</table>");
    let read = read(&format!("{contents}{report}We looked at them.{titled}{sheet}"));
    let headings: Vec<_> = read.document.headings().map(|of| (of.text.as_str(), of.level)).collect();
    let expected = [
        ("Report of Independent Registered Public Accounting Firm", 3),
        ("Rebates", 3),
        ("Consolidated Statements of Operations", 3),
        ("CONSOLIDATED BALANCE SHEETS", 3),
    ];
    assert_eq!(headings, expected);
}

#[test]
fn terms_in_years_are_no_headers() {
    let row = |cells: [&str; 3]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    for terms in [["7 years", "3 years"], ["11.5 years", "6.2 years"]] {
        let over = "<tr><td></td><td colspan=\"2\">As of January 31,</td></tr>";
        let rows = [
            row(["", "2025", "2024"]),
            row(["Weighted average remaining lease term", "", ""]),
            row(["Operating leases", terms[0], terms[1]]),
            row(["Finance leases", "3 years", "4 years"]),
            row(["Weighted average discount rate", "3.2 %", "3.1 %"]),
        ];
        let read = read(&format!("<table>{over}{}</table>", rows.concat()));
        let table = table(&read);
        assert_eq!(table.num_header_rows(), 2, "{}", read.tables[0].why);
    }
}

#[test]
fn a_heading_that_begins_a_few_pages_is_one() {
    let page = "<div><b>Costs</b></div><div>They rose.</div><hr style=\"page-break-after:always\"/>";
    let read = read(&page.repeat(3));
    assert_eq!((read.document.headings().count(), passages(&read).len()), (3, 3));
}

#[test]
fn rows_of_a_group_stand_under_its_name_alone() {
    let row = |cells: [&str; 4]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let group =
        |name: &str| [[name, "Home", "4", "3"], ["", "Abroad", "2", "2"], ["", "Total", "6", "5"]].map(row).concat();
    let head = row(["", "", "2024", "2023"]);
    let read = read(&format!("<table>{head}{}{}{}</table>", group("Humira"), group("Skyrizi"), group("Rinvoq")));
    let table = table(&read);
    assert_eq!(table.num_header_cols(), 2, "{}", read.tables[0].why);
    let paths: Vec<String> = (1..7).map(|row| cell(table, row, 2).0).collect();
    assert_eq!(paths[..3], ["Humira > Home", "Humira > Abroad", "Humira > Total"]);
    assert_eq!(paths[3..], ["Skyrizi > Home", "Skyrizi > Abroad", "Skyrizi > Total"]);
}

/// Pages with their text, a foot with their number, and a break after each.
fn printed(pages: &[&str], foot: &str) -> String {
    let page = |(number, text): (usize, &&str)| {
        format!("{text}<div>{}</div><hr style=\"page-break-after:always\"/>", foot.replace('#', &number.to_string()))
    };
    pages.iter().enumerate().map(page).collect()
}

#[test]
fn running_feet_are_left_out_and_sentences_go_on_overleaf() {
    let pages = [
        "<p>One.</p><p>Two.</p><p>Three.</p><p>A charge of $1.0 billion ($1.3 billion before</p>",
        "<p>tax) was made. It fell.</p><p>Four.</p><p>Five.</p><p>Products of our</p>",
        "<p>Services fell.</p><p>Six.</p><p>Seven.</p><p>Eight.</p>",
        "<p>Nine.</p><p>Ten.</p><p>We owe</p><h2>Leases</h2><p>and rent.</p>",
        "<p>costs</p><p>Eleven.</p><p>Twelve.</p><p>Last.</p>",
    ];
    let read = read(&printed(&pages, "#. Table of Contents Acme Inc."));
    let passages: Vec<&str> = read.document.passages().collect();
    let wanted = [
        "One.",
        "Two.",
        "Three.",
        "A charge of $1.0 billion ($1.3 billion before tax) was made.",
        "It fell.",
        "Four.",
        "Five.",
        "Products of our",
        "Services fell.",
        "Six.",
        "Seven.",
        "Eight.",
        "Nine.",
        "Ten.",
        "We owe",
        "and rent.",
        "costs",
        "Eleven.",
        "Twelve.",
        "Last.",
    ];
    assert_eq!(passages, wanted);
    // A page's number may stand beside the name at its head.
    let page = |number: usize| format!("<p>The Acme Company {number}</p><p>{} of it.</p>", "O".repeat(number));
    let heads: Vec<String> = (1..8).map(page).collect();
    let read = self::read(&printed(&heads.iter().map(String::as_str).collect::<Vec<_>>(), ""));
    assert_eq!(read.document.passages().filter(|text| text.starts_with("The Acme")).count(), 2);
    // On four pages it may be anything.
    assert!(read_foot(4) == 4 && read_foot(5) == 0);
}

/// How many feet are left of so many pages.
fn read_foot(pages: usize) -> usize {
    let page =
        |number: usize| "abc".chars().map(|c| format!("<p>{}</p>", c.to_string().repeat(number))).collect::<String>();
    let texts: Vec<String> = (1..=pages).map(page).collect();
    let read = read(&printed(&texts.iter().map(String::as_str).collect::<Vec<_>>(), "Acme Inc. | #"));
    read.document.passages().filter(|text| text.starts_with("Acme")).count()
}

#[test]
fn a_unit_in_the_feet_is_that_of_tables_without_one() {
    let table = |head: &str| {
        format!("<table><tr><td>{head}</td><td>2024</td></tr><tr><td>Sales</td><td>812</td></tr></table><p>Below.</p>")
    };
    let (without, with) = (table(""), table("(in thousands)"));
    let pages = [&without, &with, &without, &without, &without].map(String::as_str);
    let read = read(&printed(&pages, "Amounts in millions of dollars"));
    let captions: Vec<&str> = read.document.tables().map(|table| table.caption()).take(3).collect();
    assert_eq!(captions, ["Amounts in millions of dollars", "(in thousands)", "Amounts in millions of dollars"]);
}

#[test]
fn regression_raised_numbers_are_marks_or_exponents() {
    for (html, text) in [
        ("<p>rose to 45<sup>4</sup>.</p>", "rose to 45."),
        ("<p>$12.5 million<sup>3</sup> of it</p>", "$12.5 million of it"),
        ("<p>10<sup>6</sup> units</p>", "10^6 units"),
        ("<p>6 x 10<sup>23</sup> and 210<sup>2</sup></p>", "6 x 10^23 and 210"),
        ("<p>the 21<sup>st</sup> of May, 30 m<sup>2</sup>, R<sup>2</sup></p>", "the 21st of May, 30 m2, R2"),
        ("<p><sup>(1)</sup> In part.</p>", "(1) In part."),
    ] {
        assert_eq!(read(html).document.passages().collect::<Vec<_>>(), [text]);
        let table = format!(
            "<table><tr><td>a</td><td>b</td></tr><tr><td>{}</td><td>1</td></tr></table>",
            &html[3..html.len() - 4]
        );
        let read = read(&table);
        assert_eq!(read.document.tables().next().unwrap().cell_at(1, 0).unwrap().text, text);
    }
}

#[test]
fn long_names_of_items_are_headings_and_larger_letters_close_smaller() {
    let item =
        "Item 12. Security Ownership of Certain Beneficial Owners and Management and Related Stockholder Matters.";
    let style = |size: u8, text: &str| format!("<div style=\"font-weight:700;font-size:{size}pt\">{text}</div>");
    let page = format!(
        "<div>Item 12. <span style=\"text-decoration:underline\">{}</span></div>{}{}{}<p>It fell.</p>",
        &item[9..],
        style(10, "Results"),
        style(9, "Income taxes"),
        style(10, "Liquidity")
    );
    let read = read(&page);
    let headings: Vec<(u8, &str)> = read.document.headings().map(|it| (it.level, it.text.as_str())).collect();
    assert_eq!(headings, [(2, item), (3, "Results"), (4, "Income taxes"), (3, "Liquidity")]);
}
