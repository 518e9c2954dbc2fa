//! Whether a document is in English, the language of the rankers that come with the project.

use tabsegnet_graph::{Node, NodeKind};

/// Words that hold English sentences together and that other languages do not share, but for names. Of the words of an
/// annual report's sentences they are a fifth to a quarter.
const COMMON: [&str; 22] = [
    "the", "of", "and", "to", "for", "with", "that", "this", "from", "are", "by", "which", "our", "have", "has",
    "been", "not", "other", "their", "its", "it", "be",
];
/// The share of them below which sentences are not English.
const LEAST_SHARE: f64 = 0.08;
/// Letters below which nothing is said: a few titles and names look like any language.
const LEAST_LETTERS: usize = 500;
/// Letters of the shortest text that is taken for a sentence.
const SENTENCE: usize = 30;

/// What a user should know before asking for what the sentences of `nodes` say: nothing where they are English, or too
/// few to tell. Tables are not looked at: names and numbers are of no language.
pub(crate) fn warning(nodes: &[Node]) -> Option<String> {
    let (mut letters, mut others, mut in_sentences) = (0, 0, 0);
    let (mut words, mut common) = (0, 0);
    for node in nodes.iter().filter(|node| node.kind == NodeKind::Passage) {
        let of_node = node.text.chars().filter(|c| c.is_alphabetic()).count();
        letters += of_node;
        others += node.text.chars().filter(|c| c.is_alphabetic() && *c > LAST_LATIN).count();
        if of_node < SENTENCE || !node.text.trim_end().ends_with(['.', '!', '?', ';', ':']) {
            continue;
        }
        in_sentences += of_node;
        for word in node.text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            words += 1;
            common += usize::from(COMMON.iter().any(|common| common.eq_ignore_ascii_case(word)));
        }
    }
    let in_another_script = letters >= LEAST_LETTERS && others * 2 > letters;
    let without_common = in_sentences >= LEAST_LETTERS && (common as f64) < LEAST_SHARE * words as f64;
    (in_another_script || without_common).then(|| {
        "the document does not look English: the rankers that come with the project know English alone, and what they \
         find in it will often be wrong"
            .to_owned()
    })
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
        for text in OTHERS {
            assert_eq!(warning(&nodes(&[text])), None, "{text}");
        }
        assert_eq!(warning(&[]), None);
        let names = ["Volkswagen Aktiengesellschaft Wolfsburg", "Société Générale Paris", "Depreciation, amortization"];
        assert_eq!(warning(&nodes(&names.repeat(100))), None);
        // A table is of no language.
        let mut cells = nodes(&OTHERS.repeat(100));
        cells.iter_mut().for_each(|node| node.kind = NodeKind::Cell);
        assert_eq!(warning(&cells), None);
    }
}
