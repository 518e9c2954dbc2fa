//! The page in a real browser: Chromium, named in TABSEGNET_CHROMIUM or on the path.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tabsegnet_page::{Move, Page, PathStep, Reply};

#[path = "chromium/mod.rs"]
mod chromium;
#[path = "../examples/sample/mod.rs"]
mod sample;

use chromium::Browser;

/// Whether an element is in the window and nothing lies over its middle.
const IN_VIEW: &str = "const inView = (node) => {
    const box = node.getBoundingClientRect();
    const x = box.left + Math.min(box.width / 2, 40), y = box.top + Math.min(box.height / 2, 12);
    const top = document.elementFromPoint(x, y);
    return box.top >= 0 && y < innerHeight && box.left >= 0 && x < innerWidth && (node.contains(top) || top.contains(node));
};";

/// The page of the made-up report, short or of about so many nodes.
fn page(directory: &tempfile::TempDir, nodes: Option<usize>) -> PathBuf {
    let read = sample::document(nodes.map(|nodes| (nodes, 24)), 1).unwrap();
    let answers = sample::answers(&read.document, 10, 1);
    let layout = Some(&read.layout);
    let page = Page { title: "Kingsford", about: &[], document: &read.document, layout, answers: &answers };
    let file = directory.path().join("page.html");
    std::fs::write(&file, page.html().unwrap()).unwrap();
    file
}

/// The page in a browser; `None`, with a warning, where there is no browser.
fn opened(test: &str, nodes: Option<usize>, width: u32, scripts: bool) -> Option<(Browser, tempfile::TempDir)> {
    let Some(program) = chromium::find() else {
        let because = "there is no Chromium; install one (apt-get install chromium) or name it in TABSEGNET_CHROMIUM";
        tabsegnet_test_support::skipped(test, because);
        return None;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = page(&directory, nodes);
    let mut browser = Browser::start(&program);
    browser.open(&file, width, if width < 600 { 844 } else { 768 }, scripts);
    if scripts {
        settle(&mut browser);
    }
    Some((browser, directory))
}

/// Waits until the page has brought its node into view, which takes a few frames.
fn settle(browser: &mut Browser) {
    browser.value(
        "(async () => { for (let frame = 0; frame < 4; frame++) await new Promise((next) => requestAnimationFrame(next)); })()",
    );
}

/// The chosen node is marked, in view, and the one that the expression gives.
fn assert_chosen(browser: &mut Browser, node: &str) {
    browser.wait(&format!(
        "(() => {{ {IN_VIEW} const all = document.querySelectorAll('#document [aria-current=true]');
         return all.length === 1 && all[0] === ({node}) && inView(all[0]); }})()"
    ));
}

/// Nothing failed in the page, and it requested nothing but itself.
fn assert_quiet(browser: &mut Browser) {
    // What is late shows up before the answer; with scripts switched off a page cannot wait itself.
    std::thread::sleep(Duration::from_millis(300));
    browser.value("0");
    for event in &browser.events {
        let method = event["method"].as_str().unwrap_or_default();
        assert!(
            !["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"].contains(&method),
            "{event}"
        );
        if method == "Network.requestWillBeSent" {
            let url = event["params"]["request"]["url"].as_str().unwrap();
            assert!(url.starts_with("file://") && url.ends_with("/page.html"), "{url}");
        }
    }
}

const LAST_RANK: &str = "[...document.querySelectorAll('.answer:not([hidden]) .ranks a')].pop()";

#[test]
fn a_click_on_a_rank_brings_its_cell_into_view_and_explains_it() {
    let Some((mut browser, _files)) = opened("a_click_on_a_rank", Some(10_000), 1366, true) else { return };
    // The furthest of the ranked nodes: most of what lies before it has never been laid out.
    let furthest = "[...document.querySelectorAll('.answer:not([hidden]) .ranks a')].sort((a, b) => a.hash.slice(2) - b.hash.slice(2)).pop()";
    browser.value(&format!("window.link = {furthest}; link.scrollIntoView()"));
    assert_eq!(browser.value(&format!("{IN_VIEW} inView(document.querySelector(link.hash))")), false);
    browser.click("link");
    assert_chosen(&mut browser, "document.querySelector(link.hash)");
    assert_eq!(browser.value("link.getAttribute('aria-current')"), "true");
    let status = browser.value("document.querySelector('#status').textContent");
    assert!(status.as_str().unwrap().starts_with("Rank "), "{status}");
    // Its explanation, what its score is without neighbours and what it owes to each, makes the score.
    let numbers = "(text) => Number(text.replace('\u{2212}', '-'))";
    let [alone, adds, score] = [
        "number(document.querySelector('#node-body p:nth-of-type(4)').textContent.split(': ')[1])",
        "[...document.querySelectorAll('.effects tbody td:last-child')].reduce((sum, cell) => sum + number(cell.textContent), 0)",
        "number(link.querySelector('.score').lastChild.data)",
    ]
    .map(|expression| browser.value(&format!("{{ const number = {numbers}; {expression} }}")).as_f64().unwrap());
    assert!((alone + adds - score).abs() < 0.01, "{alone} + {adds} = {score}");
    // From there to a neighbour.
    browser.value("window.neighbour = document.querySelector('.effects button')");
    let id = browser.value("neighbour.title.split(' ')[0]");
    browser.click("neighbour");
    browser.wait(&format!("document.querySelector('#node-title').textContent === {id}"));
    assert_chosen(&mut browser, "document.activeElement");
    assert_quiet(&mut browser);
}

#[test]
fn a_question_is_opened_at_its_best_node() {
    let Some((mut browser, _files)) = opened("a_question_is_opened_at_its_best_node", Some(10_000), 1366, true) else {
        return;
    };
    let best = "document.querySelector(document.querySelector('.answer:not([hidden]) .ranks a').hash)";
    let in_view = format!("(() => {{ {IN_VIEW} return inView({best}); }})()");
    assert_eq!(browser.value(&in_view), true);
    assert_eq!(
        browser.value("scrollY > innerHeight"),
        true,
        "the best node stands on the first screen: choose another"
    );
    // Nothing is chosen by that, and the panel shows all ranks.
    assert_eq!(browser.value("document.querySelectorAll('#document [aria-current]').length"), 0);
    browser.value(&format!("{LAST_RANK}.click()"));
    assert_eq!(browser.value("document.querySelector('#node').hidden"), false);
    let switch = "{ const select = document.querySelector('#question'); select.value = '1'; select.dispatchEvent(new Event('change')) }";
    browser.value(switch);
    settle(&mut browser);
    assert_eq!(browser.value(&in_view), true);
    assert_eq!(browser.value("document.querySelector('#node').hidden"), true);
    assert_quiet(&mut browser);
}

#[test]
fn keys_alone_reach_every_place() {
    let Some((mut browser, _files)) = opened("keys_alone", Some(3_000), 1366, true) else { return };
    let focused = "document.activeElement";
    // Skip link, theme, switch of questions, then what the segments cover, then the ranks.
    browser.press(&["Tab"]);
    assert_eq!(browser.value("document.activeElement.className"), "skip");
    for _ in 0..40 {
        if browser.value("!!document.activeElement.closest('.ranks')") == true {
            break;
        }
        browser.press(&["Tab"]);
    }
    browser.value("window.first = document.activeElement");
    assert_eq!(browser.value("!!first.closest('.ranks li:first-child')"), true);
    // Arrows look at one rank after the other, Enter goes there.
    browser.press(&["ArrowDown", "ArrowDown"]);
    let third = "document.querySelector('.ranks li:nth-child(3) a')";
    assert_eq!(browser.value(&format!("{focused} === {third}")), true);
    assert_chosen(&mut browser, &format!("document.querySelector({third}.hash)"));
    browser.press(&["Enter"]);
    browser.wait(&format!("{focused} === document.querySelector({third}.hash)"));
    // From cell to cell and back to the rank.
    browser.value("window.place = document.activeElement");
    browser.press(&["ArrowRight"]);
    assert_eq!(browser.value("document.activeElement !== place"), true);
    assert_chosen(&mut browser, focused);
    browser.press(&["ArrowLeft", "Escape"]);
    assert_eq!(browser.value(&format!("{focused} === {third}")), true);
    browser.press(&["Escape"]);
    assert_eq!(browser.value("document.querySelectorAll('#document [aria-current]').length"), 0);
    assert_eq!(browser.value("document.querySelector('#node').hidden"), true);
    assert_quiet(&mut browser);
}

#[test]
fn arrows_keep_to_the_column() {
    let Some((mut browser, _files)) = opened("arrows_keep_to_the_column", None, 1366, true) else { return };
    let chosen = "document.querySelector('#node-title').textContent";
    browser.value("window.cell = [...document.querySelectorAll('td')].find((cell) => cell.textContent.includes('701.9')); cell.scrollIntoView({block: 'center'})");
    browser.click("cell");
    assert_eq!(browser.value(chosen), "t0:r3c2");
    browser.press(&["ArrowUp"]);
    assert_eq!(browser.value(chosen), "t0:r2c2");
    browser.press(&["ArrowUp"]);
    assert_eq!(browser.value(chosen), "t0:h1c2");
    browser.press(&["ArrowUp"]);
    // The merged header "Net revenue".
    assert_eq!(browser.value(chosen), "t0:h0c1");
    browser.press(&["ArrowUp"]);
    assert_eq!(browser.value(chosen), "t0");
}

#[test]
fn another_question_takes_other_marks_and_the_first_comes_back() {
    let Some((mut browser, _files)) = opened("another_question", None, 1366, true) else { return };
    let marks = "JSON.stringify([...document.querySelectorAll('#document :is(.s,caption,th,td)')].map((node) => \
        [[...node.classList].sort(), node.innerHTML, node.id]))";
    let switch = |position: usize| {
        format!(
            "{{ const select = document.querySelector('#question'); select.value = '{position}'; select.dispatchEvent(new Event('change')) }}"
        )
    };
    let ranks = "document.querySelectorAll('#document .b').length";
    let first = browser.value(marks);
    browser.value(&switch(1));
    assert_ne!(browser.value(marks), first);
    assert_eq!(browser.value(ranks), 10);
    assert_eq!(browser.value("document.querySelectorAll('.answer:not([hidden])').length"), 1);
    browser.value(&format!("window.link = {LAST_RANK}; link.scrollIntoView()"));
    browser.click("link");
    assert_chosen(&mut browser, "document.querySelector(link.hash)");
    browser.value(&switch(0));
    assert_eq!(browser.value(marks), first);
    assert_quiet(&mut browser);
}

#[test]
fn a_telephone_shows_the_place_and_no_page_is_wider_than_the_window() {
    let Some((mut browser, _files)) = opened("a_telephone", None, 390, true) else { return };
    let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(overflow), 0);
    browser.value(&format!("window.link = {LAST_RANK}; link.scrollIntoView()"));
    browser.click("link");
    // In view means above the sheet with the explanation.
    assert_chosen(&mut browser, "document.querySelector(link.hash)");
    assert_eq!(browser.value(&format!("{IN_VIEW} inView(document.querySelector('#node-title'))")), true);
    browser.click("document.querySelector('#previous')");
    assert_chosen(
        &mut browser,
        "document.querySelector(link.parentElement.previousElementSibling.firstElementChild.hash)",
    );
    assert_eq!(browser.value(overflow), 0);
    assert_quiet(&mut browser);
}

#[test]
fn without_scripts_the_first_answer_is_marked_and_ranks_are_links() {
    let Some((mut browser, _files)) = opened("without_scripts", None, 1366, false) else { return };
    let shown: Vec<Value> = ["#document .b", "#document .l5", ".answer:not([hidden])", "#question:not([hidden])"]
        .iter()
        .map(|what| {
            browser
                .value(&format!("[...document.querySelectorAll('{what}')].filter((e) => e.checkVisibility()).length"))
        })
        .collect();
    assert_eq!(shown, [10, 5, 1, 0]);
    browser.value(&format!("window.link = {LAST_RANK}; link.scrollIntoView()"));
    browser.click("link");
    browser.wait(&format!("(() => {{ {IN_VIEW} return inView(document.querySelector(':target')); }})()"));
    assert_eq!(browser.value("document.querySelector(':target') === document.querySelector(link.hash)"), true);
    assert_quiet(&mut browser);
}

#[test]
fn a_path_is_drawn_step_by_step() {
    let test = "a_path_is_drawn_step_by_step";
    for width in [1200, 390] {
        let Some((mut browser, directory)) = opened(test, None, width, true) else { return };
        let read = sample::document(None, 1).unwrap();
        let mut answers = sample::answers(&read.document, 2, 1);
        let ids: Vec<String> = answers[0].nodes.iter().map(|node| node.id.clone()).collect();
        let step = |title: &str, from: &[String], to: &[String]| PathStep {
            title: title.into(),
            thought: "I look.".into(),
            moves: vec![Move { action: "Visit".into(), seen: String::new(), from: from.into(), to: to.into() }],
        };
        let path = vec![step("Start", &[], &ids[..1]), step("Round 1", &ids[..1], &ids[1..])];
        answers[0].reply = Some(Reply { text: "12".into(), confidence: 0.5, path, ..Reply::default() });
        let layout = Some(&read.layout);
        let page = Page { title: "Kingsford", about: &[], document: &read.document, layout, answers: &answers };
        let file = directory.path().join("page.html");
        std::fs::write(&file, page.html().unwrap()).unwrap();
        browser.open(&file, width, if width < 600 { 844 } else { 768 }, true);
        settle(&mut browser);
        let drawn = "[document.querySelectorAll('#way .box').length, document.querySelectorAll('#way .line').length, \
                     document.querySelector('#walk-at').textContent, document.querySelectorAll('.path .later').length]";
        assert_eq!(browser.value(drawn), serde_json::json!([2, 1, "Step 2 of 2: Round 1", 0]));
        browser.click("document.querySelector('#walk-back')");
        settle(&mut browser);
        assert_eq!(browser.value(drawn), serde_json::json!([1, 0, "Step 1 of 2: Start", 1]));
        // The box lies over its node, which is in view, and nothing is wider than the window.
        let over = format!(
            "(() => {{ {IN_VIEW}
            const box = document.querySelector('#way .box').getBoundingClientRect();
            const node = document.querySelector('main .k').getClientRects()[0];
            return [inView(document.querySelector('main .k')), Math.abs(box.top - node.top) < 4,
                    document.documentElement.scrollWidth <= innerWidth]; }})()"
        );
        assert_eq!(browser.value(&over), serde_json::json!([true, true, true]));
        browser.click("document.querySelector('#walk-on')");
        settle(&mut browser);
        assert_eq!(browser.value(drawn), serde_json::json!([2, 1, "Step 2 of 2: Round 1", 0]));
        // A question without a path has none.
        browser.value("(() => { const of = document.querySelector('#question'); of.value = '1'; of.dispatchEvent(new Event('change')); })()");
        settle(&mut browser);
        assert_eq!(
            browser.value("[document.querySelector('#walk').hidden, document.querySelectorAll('#way .box').length]"),
            serde_json::json!([true, 0])
        );
        assert_quiet(&mut browser);
    }
}

#[test]
fn both_themes_can_be_read_and_chosen() {
    let Some((mut browser, _files)) = opened("both_themes", None, 1366, true) else { return };
    let background = "getComputedStyle(document.body).backgroundColor";
    for (scheme, colour, other) in
        [("dark", "rgb(21, 24, 29)", "rgb(255, 255, 255)"), ("light", "rgb(255, 255, 255)", "rgb(21, 24, 29)")]
    {
        let features = serde_json::json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.call("Emulation.setEmulatedMedia", features);
        browser.value("delete document.documentElement.dataset.theme");
        assert_eq!(browser.value(background), colour);
        assert!(least_contrast(&mut browser) >= 4.5, "{scheme}");
        browser.click("document.querySelector('#theme')");
        assert_eq!(browser.value(background), other);
        assert!(least_contrast(&mut browser) >= 4.5, "not {scheme}");
    }
    assert_quiet(&mut browser);
}

/// Least contrast of any text of the page with what is behind it.
fn least_contrast(browser: &mut Browser) -> f64 {
    let script = "(() => {
        const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const luminance = (colour) => parts(colour).slice(0, 3).map((v) => v / 255)
            .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = (node) => {
            for (; node; node = node.parentElement) {
                const colour = getComputedStyle(node).backgroundColor;
                if ((parts(colour)[3] ?? 1) > 0) return colour;
            }
        };
        let least = 21;
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const node = texts.currentNode.parentElement;
            if (!texts.currentNode.data.trim() || !node.checkVisibility() || node.closest('script,option')) continue;
            const [a, b] = [luminance(getComputedStyle(node).color), luminance(behind(node))].sort((a, b) => b - a);
            least = Math.min(least, (a + 0.05) / (b + 0.05));
        }
        return least;
    })()";
    browser.value(script).as_f64().unwrap()
}
