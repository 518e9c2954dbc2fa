//! Words of questions.

/// A word without its punctuation, or a comma (which stands for semicolons and colons too).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'q> {
    pub(super) text: &'q str,
    pub(super) lower: String,
}

impl<'q> Token<'q> {
    fn new(text: &'q str) -> Self {
        Self { text, lower: text.to_lowercase().replace('’', "'") }
    }

    pub(super) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }

    pub(super) fn is_comma(&self) -> bool {
        self.lower == ","
    }

    /// A year, 1900 to 2099, also as `FY2019`.
    pub(super) fn year(&self) -> Option<u32> {
        let digits = self.lower.strip_prefix("fy").unwrap_or(&self.lower);
        let digits = digits.strip_suffix("'s").unwrap_or(digits);
        let whole = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|year| whole && (1900..2100).contains(year))
    }

    /// The two years of `2016-2018` and `2016-18`.
    pub(super) fn range(&self) -> Option<(u32, u32)> {
        let (from, to) = self.lower.split_once(['-', '–', '—', '/'])?;
        let from = Token::new(from).year()?;
        let whole = to.len() == 2 && to.bytes().all(|b| b.is_ascii_digit());
        let to = if whole { from / 100 * 100 + to.parse::<u32>().ok()? } else { Token::new(to).year()? };
        (from < to).then_some((from, to))
    }
}

/// The words of a question, commas between them, units (`in millions`) left out.
pub(super) fn tokens(question: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::new();
    for word in question.split_whitespace() {
        let kept = |c: char| c.is_alphanumeric() || matches!(c, '$' | '€' | '£' | '¥' | '%' | '&');
        let bare = word.trim_matches(|c| !kept(c));
        if !bare.is_empty() {
            tokens.push(Token::new(bare));
        }
        if matches!(word, "-" | "–" | "—") {
            tokens.push(Token::new(word));
        } else if word.ends_with([',', ';', ':']) {
            tokens.push(Token::new(","));
        }
    }
    let orders =
        tokens.first().is_some_and(|first| first.is(&["state", "give", "report", "list", "tell", "show", "name"]));
    without_units(if orders { tokens.split_off(1) } else { tokens })
}

const SCALES: [&str; 8] = ["million", "millions", "billion", "billions", "thousand", "thousands", "dollars", "percent"];

fn without_units(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let mut kept: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        if token.is(&["in"]) && rest.peek().is_some_and(|next| next.is(&SCALES)) {
            while rest.next_if(|next| next.is(&SCALES) || next.is(&["of", "us", "u.s"])).is_some() {}
        } else {
            kept.push(token);
        }
    }
    kept
}

/// Words that ask, and words of arithmetic, in a question and at the ends of what it asks for.
#[rustfmt::skip]
const EMPTY: &[&str] = &[
    ",", "-", "–", "—", "&", "%", "$", "a", "about", "according", "achieved", "after", "all", "also", "amount",
    "amounts", "an", "and", "any", "approximate", "approximately", "are", "as", "assuming", "at",
    "attributable", "attributed", "average", "be", "been", "being", "between", "both", "but", "by", "calculate",
    "can", "change", "changed", "changes", "combined", "company", "company's", "compare", "compared",
    "comprised", "compute", "consisted", "considering", "could", "cumulative", "decline", "declined",
    "decrease", "decreased", "derived", "determine", "did", "differ", "difference", "do", "does", "drop",
    "dropped", "due", "during", "each", "equal", "experienced", "expressed", "fall", "find", "firm", "firm's",
    "for", "fraction", "from", "generated", "given", "grew", "grow", "growth", "had", "has", "have", "how",
    "if", "in", "increase", "increased", "increases", "is", "it", "its", "made", "many", "mathematical", "mean",
    "more", "much", "observed", "occurred", "of", "on", "one", "or", "our", "over", "overall", "part",
    "percent", "percentage", "percentages", "period", "point", "points", "portion", "proportion", "range",
    "rate", "ratio", "recorded", "related", "relative", "reported", "represent", "represented", "represents",
    "respective", "respectively", "rise", "roi", "rose", "same", "saw", "share", "shown", "since", "sum",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "to",
    "under", "until", "up", "used", "using", "value", "values", "variation", "was", "we", "were", "what",
    "what's", "when", "where", "which", "while", "who", "whose", "will", "with", "would", "year", "years",
    "year-over-year", "you", "annual", "fiscal", "yearly", "number", "respect", "percentual", "basis", "ended",
    "ending", "end", "table", "seen", "been", "account", "likely", "incurred", "backed", "comprise",
    "accounted", "per", "across", "within", "among", "not", "larger", "higher", "lower", "greater", "highest",
    "lowest", "exceed", "exceeded",
];

/// Words that name something unless a word of arithmetic follows: "net income", "the net change in income".
const OF_ARITHMETIC: [&str; 9] =
    ["total", "net", "aggregate", "anticipated", "estimated", "expected", "approximate", "cumulative", "maximum"];

/// Words that ask before a name and belong to it after one: "earnings per share", "tax rate".
const LAST: [&str; 11] =
    ["share", "rate", "ratio", "percent", "percentage", "amount", "amounts", "value", "values", "number", "one"];

/// Without the words at both ends that name nothing.
pub(super) fn trimmed<'t, 'q>(tokens: &'t [&'t Token<'q>]) -> &'t [&'t Token<'q>] {
    let empty = |token: &Token<'_>| token.is(EMPTY);
    let mut start = 0;
    while let Some(token) = tokens.get(start) {
        let next_is_empty = tokens.get(start + 1).is_some_and(|next| empty(next));
        if !(empty(token) || token.is(&OF_ARITHMETIC) && next_is_empty) {
            break;
        }
        start += 1;
    }
    let rest = tokens.get(start..).unwrap_or_default();
    let end = rest.len() - rest.iter().rev().take_while(|token| empty(token) && !token.is(&LAST)).count();
    rest.get(..end).unwrap_or_default()
}

/// Whether anything is left of them.
pub(super) fn names<'t, 'q: 't>(mut tokens: impl Iterator<Item = &'t Token<'q>>) -> bool {
    tokens.any(|token| !token.is(EMPTY))
}

/// Whether a question is about a change.
pub(super) fn asks_for_change(tokens: &[Token<'_>]) -> bool {
    #[rustfmt::skip]
    const CHANGE: [&str; 25] = [
        "change", "changed", "changes", "growth", "grow", "grew", "increase", "increased", "decrease",
        "decreased", "decline", "declined", "rise", "rose", "fall", "fell", "drop", "dropped", "variation",
        "difference", "differ", "fluctuation", "reduction", "roi", "return",
    ];
    tokens.iter().any(|token| token.is(&CHANGE))
}
