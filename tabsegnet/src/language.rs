//! Whether a document is in English, the language of the rankers that come with the project.

use std::collections::HashSet;

use tabsegnet_graph::{Node, NodeKind};

/// Words that hold English sentences together and that other languages do not share, but for names. Of the words of an
/// annual report's sentences they are a fifth to a quarter.
const COMMON: [&str; 22] = [
    "the", "of", "and", "to", "for", "with", "that", "this", "from", "are", "by", "which", "our", "have", "has",
    "been", "not", "other", "their", "its", "it", "be",
];
/// The share of them below which sentences are not English.
const LEAST_SHARE: f64 = 0.08;
/// Words of other languages' tables: those that hold names of rows together, and what columns and months are called.
/// Hardly one that English has, none that names of places and people are made of (`von`, `de`, `sur`, `Julio`).
#[rustfmt::skip]
const TELLING: [&str; 84] = [
    "und", "für", "mit", "aus", "auf", "nach", "oder", "nicht", "sonstige", "gesamt", "summe", "anzahl", "betrag", "jahr",
    "monat", "umsatz", "kosten", "gewinn", "preis", "menge", "kunde", "januar", "februar", "märz", "juni", "juli",
    "oktober", "dezember",
    "et", "pour", "dans", "avec", "une", "autres", "année", "mois", "montant", "nombre", "ventes", "janvier", "février",
    "juin", "juillet", "août", "octobre", "décembre",
    "para", "por", "con", "año", "importe", "fecha", "cantidad", "ventas", "otros", "enero", "febrero", "octubre",
    "diciembre",
    "che", "anno", "mese", "importo", "altri", "vendite", "gennaio", "febbraio", "luglio", "ottobre", "dicembre",
    "não", "uma", "mês", "outros", "vendas", "outubro", "dezembro",
    "voor", "met", "een", "niet", "jaar", "bedrag", "aantal",
];
/// How many different ones say that a table is not English: any one may be a name or short for something.
const LEAST_TELLING: usize = 3;
/// The share of them in the words of a document, and in those of the headers of its columns.
const TELLING_SHARES: [f64; 2] = [0.05, 0.2];
/// Words that are looked at.
const MOST_WORDS: usize = 200_000;
/// Letters below which nothing is said: a few titles and names look like any language.
const LEAST_LETTERS: usize = 500;
/// Letters of the shortest text that is taken for a sentence.
const SENTENCE: usize = 30;
/// Letters of another script that are enough, where they are most letters: unlike words, they cannot be mistaken.
const LEAST_OF_SCRIPT: usize = 40;

/// What a user should know before asking for what `nodes` say: nothing where they are English, or too few to tell. Names
/// and numbers of tables are of no language; words of another one, or its letters, are.
pub(crate) fn warning(nodes: &[Node]) -> Option<String> {
    let (mut letters, mut others, mut in_sentences) = (0, 0, 0);
    let (mut words, mut common) = (0, 0);
    for node in nodes {
        let of_node = node.text.chars().filter(|c| c.is_alphabetic()).count();
        letters += of_node;
        others += node.text.chars().filter(|c| c.is_alphabetic() && *c > LAST_LATIN).count();
        if node.kind != NodeKind::Passage
            || of_node < SENTENCE
            || !node.text.trim_end().ends_with(['.', '!', '?', ';', ':'])
        {
            continue;
        }
        in_sentences += of_node;
        for word in words_of(&node.text) {
            words += 1;
            common += usize::from(is_common(word));
        }
    }
    let in_another_script = others >= LEAST_OF_SCRIPT && others * 2 > letters;
    let without_common = in_sentences >= LEAST_LETTERS && (common as f64) < LEAST_SHARE * words as f64;
    let [of_all, of_headers] = TELLING_SHARES;
    let headers = nodes.iter().filter(|node| node.kind == NodeKind::ColumnHeader);
    let foreign = tells_another(nodes.iter(), of_all) || tells_another(headers, of_headers);
    (in_another_script || without_common || foreign).then(|| {
        "the document does not look English: the rankers that come with the project know English alone, and what they \
         find in it will often be wrong"
            .to_owned()
    })
}

/// Whether the share of [`TELLING`] in the words of nodes is that of another language's tables, and above that of the
/// words that are English.
fn tells_another<'a>(nodes: impl Iterator<Item = &'a Node>, least_share: f64) -> bool {
    let known: HashSet<&str> = TELLING.into_iter().collect();
    let mut different: HashSet<&str> = HashSet::new();
    let (mut words, mut common, mut telling) = (0usize, 0usize, 0usize);
    for word in nodes.flat_map(|node| words_of(&node.text)).take(MOST_WORDS) {
        words += 1;
        common += usize::from(is_common(word));
        // In capitals they are codes: AUS, MIT.
        if !word.chars().all(char::is_uppercase)
            && let Some(found) = known.get(word.to_lowercase().as_str())
        {
            telling += 1;
            different.insert(found);
        }
    }
    different.len() >= LEAST_TELLING && telling > common && telling as f64 >= least_share * words as f64
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty())
}

fn is_common(word: &str) -> bool {
    COMMON.iter().any(|common| common.eq_ignore_ascii_case(word))
}

/// The last letter of the Latin script with its common marks.
const LAST_LATIN: char = '\u{24f}';

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(texts: &[&str]) -> Vec<Node> {
        let node = |text: &&str| Node {
            id: "p0".into(),
            kind: NodeKind::Passage,
            text: (*text).to_owned(),
            place: None,
            section: None,
        };
        texts.iter().map(node).collect()
    }

    const ENGLISH: &str = "Net revenue rose by 8 % in the year, which management puts down to prices and to the closing of \
        stores that no longer paid their way.";
    const OTHERS: [&str; 8] = [
        "Die Umsatzerlöse stiegen im Geschäftsjahr um 8 %, was die Geschäftsleitung auf höhere Preise und die Schließung \
         von Filialen zurückführt, die sich nicht mehr rechneten.",
        "Le chiffre d'affaires a progressé de 8 % au cours de l'exercice, ce que la direction attribue aux prix et à la \
         fermeture de magasins qui n'étaient plus rentables.",
        "Los ingresos netos aumentaron un 8 % en el ejercicio, lo que la dirección atribuye a los precios y al cierre de \
         tiendas que ya no eran rentables.",
        "De netto-omzet steeg in het boekjaar met 8 %, wat de directie toeschrijft aan de prijzen en aan de sluiting van \
         winkels of filialen die niet meer rendabel waren, zoals we eerder meldden.",
        "A receita líquida subiu 8 % no exercício, o que a administração atribui aos preços e ao encerramento de lojas \
         que já não eram rentáveis.",
        "当年度の純収益は8％増加しました。経営陣はその要因を価格改定と不採算店舗の閉鎖によるものとしています。翌年度も同様の傾向が続くと見込んでいます。",
        "Чистая выручка за год выросла на 8 %, что руководство объясняет ценами и закрытием магазинов, которые больше не \
         окупались.",
        "ارتفع صافي الإيرادات بنسبة 8٪ خلال العام، وتعزو الإدارة ذلك إلى الأسعار وإلى إغلاق المتاجر التي لم تعد مربحة.",
    ];

    #[test]
    fn other_languages_are_told_from_english() {
        assert_eq!(warning(&nodes(&[ENGLISH; 20])), None);
        for text in OTHERS {
            let many = nodes(&[text; 20]);
            assert!(warning(&many).is_some_and(|warning| warning.contains("English alone")), "{text}");
            // Half of it in English is enough to find something.
            assert_eq!(warning(&nodes(&[ENGLISH; 40]).into_iter().chain(many).collect::<Vec<_>>()), None, "{text}");
        }
    }

    #[test]
    fn what_is_short_or_of_names_alone_is_not_judged() {
        for text in [
            "Die Umsatzerlöse stiegen auf 8 %.",
            "Le chiffre d'affaires a progressé.",
            "当年度の純収益は増加しました。",
        ] {
            assert_eq!(warning(&nodes(&[text])), None, "{text}");
        }
        assert_eq!(warning(&[]), None);
        let names = ["Volkswagen Aktiengesellschaft Wolfsburg", "Société Générale Paris", "Depreciation, amortization"];
        assert_eq!(warning(&nodes(&names.repeat(100))), None);
    }

    /// A table as its nodes: headers of columns, then cells.
    fn table(columns: &[&str], rows: &[&[&str]]) -> Vec<Node> {
        let mut table = nodes(columns);
        table.iter_mut().for_each(|node| node.kind = NodeKind::ColumnHeader);
        let mut cells = nodes(&rows.concat());
        cells.iter_mut().for_each(|node| node.kind = NodeKind::Cell);
        table.extend(cells);
        table
    }

    #[test]
    fn tables_in_another_language_are_told_by_their_letters_and_words() {
        let japanese = table(&["都道府県", "人口", "面積"], &[&["東京都", "14047594", "2194"][..]; 20]);
        let russian = table(&["Город", "Население"], &[&["Новосибирск", "1633595"][..]; 20]);
        let korean = table(&["도시", "인구"], &[&["부산광역시", "3349016"][..]; 20]);
        let accounts = table(
            &["Posten", "2023"],
            &[
                &["Forderungen aus Lieferungen und Leistungen", "1.200"],
                &["Rückstellungen für Pensionen", "300"],
                &["Löhne und Gehälter", "5.000"],
            ],
        );
        // Names in German columns.
        let sales =
            table(&["Kunde", "Stadt", "Monat", "Umsatz"], &[&["Otto Maier", "Bremen", "05", "1.200,50"][..]; 100]);
        for of in [japanese, russian, korean, accounts, sales] {
            assert!(warning(&of).is_some(), "{:?}", of[0].text);
        }
    }

    #[test]
    fn english_tables_of_foreign_names_are_english() {
        let places: [&[&str]; 12] = [
            &["Saint-Pierre-et-Miquelon", "France", "5,974"],
            &["Aix-en-Provence", "France", "147,122"],
            &["Rothenburg ob der Tauber", "Germany", "11,243"],
            &["Frankfurt am Main", "Germany", "773,068"],
            &["Castilla y León", "Spain", "2,372,640"],
            &["Rio de Janeiro", "Brazil", "6,211,223"],
            &["Los Angeles", "United States", "3,898,747"],
            &["Trinidad and Tobago", "Trinidad and Tobago", "1,367,558"],
            &["Bosnia and Herzegovina", "Bosnia and Herzegovina", "3,233,530"],
            &["Città di Castello", "Italy", "38,197"],
            &["'s-Hertogenbosch", "Netherlands", "160,783"],
            &["Москва (Moscow)", "Russia", "13,010,112"],
        ];
        assert_eq!(warning(&table(&["Place", "Country", "Population"], &places.repeat(20))), None);
        // Codes, and words that English has in names and citations.
        let codes: [&[&str]; 3] = [&["AUS", "MIT", "1"], &["Müller et al.", "MET", "2"], &["Con Edison", "AUF", "3"]];
        assert_eq!(warning(&table(&["Team", "Code", "Rank"], &codes.repeat(50))), None);
        let mut report = nodes(&[ENGLISH; 10]);
        report.extend(nodes(&["東京証券取引所", "Société Générale", "Münchener Rückversicherung"]));
        assert_eq!(warning(&report), None);
    }
}
