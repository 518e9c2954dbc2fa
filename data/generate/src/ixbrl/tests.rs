use std::fs;

use tabsegnet_graph::Graph;

use super::*;

/// A fact as a page tags it.
fn tag(concept: &str, context: &str, text: &str) -> String {
    format!(
        r#"<ix:nonFraction name="{concept}" contextRef="{context}" unitRef="usd" scale="6">{text}</ix:nonFraction>"#
    )
}

fn context(id: &str, company: &str, member: &str, period: &str) -> String {
    let segment = match member {
        "" => String::new(),
        member => format!(
            r#"<xbrli:segment><xbrldi:explicitMember dimension="us-gaap:StatementBusinessSegmentsAxis">{member}</xbrldi:explicitMember></xbrli:segment>"#
        ),
    };
    let period = match period.split_once('/') {
        Some((start, end)) => {
            format!("<xbrli:startDate>{start}</xbrli:startDate><xbrli:endDate>{end}</xbrli:endDate>")
        }
        None => format!("<xbrli:instant>{period}</xbrli:instant>"),
    };
    format!(
        r#"<xbrli:context id="{id}"><xbrli:entity><xbrli:identifier scheme="http://www.sec.gov/CIK">{company}</xbrli:identifier>{segment}</xbrli:entity><xbrli:period>{period}</xbrli:period></xbrli:context>"#
    )
}

const YEARS: [(&str, &str); 3] =
    [("y24", "2023-07-01/2024-06-30"), ("y23", "2022-07-01/2023-06-30"), ("y22", "2021-07-01/2022-06-30")];

fn row(label: &str, cells: &[String]) -> String {
    format!("<tr><td>{label}</td><td>{}</td></tr>", cells.join("</td><td>"))
}

/// A filing of a company whose fiscal years end in June: a statement of income, its segments, and
/// a table without tags that shows the same revenue.
fn page(company: &str) -> String {
    let mut contexts = String::new();
    for (id, period) in YEARS {
        contexts += &context(id, company, "", period);
        contexts += &context(&format!("{id}-north"), company, "acme:NorthSegmentMember", period);
        contexts += &context(&format!("{id}-south"), company, "acme:SouthSegmentMember", period);
    }
    let years = |suffix: &str, concept: &str, amounts: [&str; 3]| -> Vec<String> {
        let years = YEARS.iter().zip(amounts);
        years.map(|((id, _), amount)| tag(concept, &format!("{id}{suffix}"), amount)).collect()
    };
    let head = row("(in millions)", &["2024".into(), "2023".into(), "2022".into()]);
    let revenue = "us-gaap:Revenues";
    let income = [
        row("Revenues", &years("", revenue, ["9,100", "8,200", "7,300"])),
        row(
            "Research and development",
            &years("", "us-gaap:ResearchAndDevelopmentExpense", ["2,410", "2,320", "2,230"]),
        ),
        row("Net income", &years("", "us-gaap:NetIncomeLoss", ["1,110", "1,020", "—"])),
        row("Par value", &years("", "us-gaap:CommonStockParOrStatedValuePerShare", ["111", "111", "111"])),
    ];
    let segments = [
        row("North", &years("-north", revenue, ["6,100", "5,200", "4,300"])),
        row("South", &years("-south", revenue, ["3,000", "3,000", "3,000"])),
        row("Total", &years("", revenue, ["9,100", "8,200", "7,300"])),
    ];
    let talk = row("Revenues", &["9,100".into(), "8,200".into(), "7,300".into()]);
    format!(
        r#"<html><body><div style="display:none"><ix:header><ix:hidden><ix:nonNumeric name="dei:DocumentFiscalYearFocus" contextRef="y24">2024</ix:nonNumeric></ix:hidden>
        <ix:resources>{contexts}<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit></ix:resources></ix:header></div>
        <p>We sell things. Revenues were $9,100 million, more than ever. We also talk.</p>
        <p><b>Discussion</b></p><table>{head}{talk}{}</table>
        <p>The statements follow.</p><p><b>Statements of Income</b></p><table>{head}{}</table>
        <p>Revenues rose to {} million. Prices rose.</p><p><b>Segments</b></p><table>{head}{}</table><p>The end.</p></body></html>"#,
        row("Employees", &["12".into(), "11".into(), "10".into()]),
        income.concat(),
        tag(revenue, "y24", "9,100"),
        segments.concat()
    )
}

/// Filings of some companies.
fn filings(companies: &[&str], wanted: Companies, seed: u64) -> (tempfile::TempDir, Filings) {
    let dir = tempfile::tempdir().unwrap();
    let files = companies.iter().map(|company| {
        let file = dir.path().join(format!("{company} 10-K.html"));
        fs::write(&file, page(company)).unwrap();
        file
    });
    let files = files.collect();
    (dir, Filings { files, companies: wanted, config: IxbrlConfig::default(), seed })
}

fn generated(seed: u64) -> Samples {
    let (_dir, filings) = filings(&["7"], Companies::All, seed);
    read(&filings).unwrap()
}

#[test]
fn questions_have_gold_cells_and_a_segment_for_each_fact() {
    let mut wordings = String::new();
    for seed in 0..20 {
        let samples = generated(seed);
        let sample = &samples.samples[0];
        assert_eq!((sample.document.id.as_str(), samples.left_out.len()), ("7_10-K", 0));
        let graph = Graph::of(&sample.document);
        let text =
            |id: &String| graph.nodes().iter().find(|node| node.id == *id).map(|node| node.text.clone()).unwrap();
        assert!(!sample.questions.is_empty());
        for question in &sample.questions {
            wordings += &format!("{}\n", question.text);
            assert!((1..=3).contains(&question.segments.len()), "{question:?}");
            for segment in &question.segments {
                wordings += &format!("{}\n", segment.text);
                assert!(!segment.nodes.is_empty() && segment.nodes.iter().all(|node| question.gold.contains(node)));
                if segment.text.contains("2024")
                    && !segment.text.contains("segment")
                    && segment.text.contains("revenue")
                {
                    // In both tables with tags, in the sentence with one, and where it is stated without.
                    assert_eq!(segment.nodes, ["t1:r1c1", "t2:r3c1", "p4", "p1", "t0:r1c1"], "{segment:?}");
                    let texts: Vec<String> = segment.nodes.iter().map(text).collect();
                    assert_eq!(texts[3], "Revenues were $9,100 million, more than ever.");
                }
            }
        }
        assert!(!wordings.contains("par or stated"));
    }
    for wording in
        ["net income in fiscal 2024", "of the North segment", "fiscal year ended June 30, 2023", "research and"]
    {
        assert!(wordings.contains(wording), "{wording} in\n{wordings}");
    }
    // The dash is no net income.
    assert!(!wordings.contains("net income in fiscal 2022"), "{wordings}");
}

#[test]
fn a_third_of_the_questions_need_two_tables() {
    for seed in 0..20 {
        for sample in generated(seed).samples {
            let table = |node: &String| node.split_once(':').map(|(table, _)| table.to_owned());
            let needs_two = |question: &&tabsegnet_datasets::sample::Question| {
                let tables = question.segments.iter().map(|s| s.nodes.iter().filter_map(table).collect());
                let common = tables.reduce(|a: BTreeSet<String>, b| a.intersection(&b).cloned().collect());
                common.is_some_and(|common| common.is_empty())
            };
            let two = sample.questions.iter().filter(needs_two).count();
            assert!(3 * two >= sample.questions.len(), "{:?}", sample.questions);
        }
    }
}

#[test]
fn computed_answers_follow_from_the_gold_cells() {
    let mut kinds = BTreeSet::new();
    for seed in 0..10 {
        let (_dir, mut filings) = filings(&["7"], Companies::All, seed);
        filings.config = IxbrlConfig {
            questions_per_filing: 0,
            prose_per_filing: 0,
            computed_per_filing: 60,
            ..IxbrlConfig::default()
        };
        let samples = read(&filings).unwrap();
        let graph = Graph::of(&samples.samples[0].document);
        let amount = |node: &String| -> Option<f64> {
            let node = graph.nodes().iter().find(|of| of.id == *node)?;
            Some(node.text.replace(',', "").parse::<f64>().ok()? * 1e6)
        };
        for question in &samples.samples[0].questions {
            let Some(answer) = &question.answer else {
                assert_eq!(question.segments.len(), 1, "{question:?}");
                continue;
            };
            let expected: f64 = answer.values[0].parse().unwrap();
            let of: Vec<f64> = question.segments.iter().filter_map(|s| s.nodes.iter().find_map(amount)).collect();
            let ways: Vec<(&str, f64)> = match of[..] {
                [a, b] => vec![
                    ("later", b - a),
                    ("growth", (b - a) / a),
                    ("ratio", a / b),
                    ("difference", a - b),
                    ("sum", a + b),
                ],
                [a, b, c] => vec![("mean", (a + b + c) / 3.0)],
                _ => panic!("{question:?}"),
            };
            let way = ways.iter().find(|(_, value)| (value - expected).abs() <= 1e-9 * expected.abs());
            kinds.insert(way.unwrap_or_else(|| panic!("{question:?}: {of:?}")).0);
        }
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}

#[test]
fn the_same_seed_makes_the_same_questions_and_none_twice() {
    assert_eq!(generated(3), generated(3));
    assert_ne!(generated(3), generated(4));
    let samples = generated(3);
    let texts: Vec<&str> = samples.samples.iter().flat_map(|s| &s.questions).map(|q| q.text.as_str()).collect();
    assert_eq!(texts.len(), texts.iter().collect::<BTreeSet<_>>().len(), "{texts:?}");
}

#[test]
fn no_company_is_in_both_parts() {
    let companies = ["1", "2", "3", "4", "5", "6", "7", "8"];
    let part = |part, seed| {
        let (_dir, mut filings) = filings(&companies, Companies::Of(part), seed);
        filings.config.dev_share = 0.5;
        read(&filings)
    };
    let names = |samples: Samples| -> BTreeSet<String> {
        samples.samples.iter().map(|sample| sample.document.id.split('_').next().unwrap().to_owned()).collect()
    };
    let (train, dev) = (names(part(Part::Train, 1).unwrap()), names(part(Part::Dev, 1).unwrap()));
    assert!(train.is_disjoint(&dev) && !train.is_empty() && !dev.is_empty());
    assert_eq!(train.union(&dev).count(), companies.len());
}

#[test]
fn what_is_wrong_with_the_files_is_said_with_a_way_out() {
    let error = |filings: &Filings| read(filings).unwrap_err().to_string();
    let (_dir, one) = filings(&["7"], Companies::Of(Part::Train), 0);
    let message = error(&one);
    assert!(message.contains("none of 1 companies is of the") && message.contains("data.dev"), "{message}");

    let (dir, mut apart) = filings(&["7", "8"], Companies::All, 0);
    apart.companies = Companies::Apart(vec![dir.path().join("8 10-K.html")]);
    assert!(error(&apart).contains("both have filings of the company with key 8"));

    fs::write(dir.path().join("letter.html"), "<p>Dear shareholders.</p>").unwrap();
    let letter = Filings { files: vec![dir.path().join("letter.html")], companies: Companies::All, ..apart.clone() };
    assert!(error(&letter).contains("none of the files is a filing with inline XBRL"));
    let mut both = Filings { companies: Companies::All, ..apart };
    both.files.push(dir.path().join("letter.html"));
    assert_eq!(read(&both).unwrap().left_out[0].reason, NO_COMPANY);

    both.config.dev_share = 1.5;
    assert!(error(&both).contains("data.ixbrl.dev_share"));
}

#[test]
fn a_row_is_labelled_by_its_header_unless_that_is_a_members() {
    let (_dir, filings) = filings(&["007"], Companies::All, 0);
    let found = labels(&filings.files[0]).unwrap();
    assert_eq!(found.company.as_deref(), Some("7"));
    let of = |concept: &str| -> Vec<&str> {
        let concept = format!("us-gaap:{concept}");
        found.labels.iter().filter(|label| label.concept == concept).map(|label| label.text.as_str()).collect()
    };
    assert_eq!(of("Revenues"), ["Revenues", "Total"]);
    assert_eq!(of("ResearchAndDevelopmentExpense"), ["Research and development"]);
    assert!(found.labels.iter().all(|label| !["North", "South"].contains(&label.text.as_str())));
}

#[test]
fn a_header_that_two_concepts_share_is_said_with_those_above_it() {
    let tagged = |concept: &str, text: &str| tag(&format!("us-gaap:{concept}"), "y24", text);
    let rows = [
        row("", &["2024".into(), "2023".into()]),
        row("Earnings per share:", &[String::new(), String::new()]),
        row("Basic", &[tagged("EarningsPerShareBasic", "1.10"), "1.00".into()]),
        row("Weighted-average shares:", &[String::new(), String::new()]),
        row("Basic", &[tagged("WeightedAverageNumberOfSharesOutstandingBasic", "2,500"), "2,400".into()]),
    ]
    .concat()
    .replace("<td>Basic", "<td style=\"padding-left:12pt\">Basic");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.html");
    let page =
        page("7").replace("<p>The end.</p>", &format!("<p><b>Shares</b></p><table>{rows}</table><p>The end.</p>"));
    fs::write(&file, page).unwrap();
    let texts: Vec<String> = labels(&file).unwrap().labels.into_iter().map(|label| label.text).collect();
    for text in ["Earnings per share > Basic", "Weighted-average shares > Basic"] {
        assert!(texts.contains(&text.to_owned()), "{texts:?}");
    }
    assert!(!texts.contains(&"Basic".to_owned()), "{texts:?}");
}
