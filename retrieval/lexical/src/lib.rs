//! Lexical ranking: tokens, BM25 and TF-IDF over a small collection of texts, and a glossary of what people say.

pub mod abbreviations;
pub mod company;
pub mod fiscal;
pub mod glossary;
pub mod names;
pub mod periods;
pub mod question;

use std::collections::HashMap;

/// Lower-cased runs of letters, and numbers. A number keeps its decimal point and drops its
/// thousands separators (`1,234.5` → `1234.5`); letters and digits part (`q4` → `q`, `4`).
pub fn tokenize(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for_each_token(text, |token| tokens.push(token.clone()));
    tokens
}

/// Calls `each` with every token of [`tokenize`], all in one buffer, which it may change.
pub fn for_each_token(text: &str, mut each: impl FnMut(&mut String)) {
    let mut token = String::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        token.clear();
        if first.is_ascii_digit() {
            token.push(first);
            while let Some(&next) = chars.peek() {
                if next.is_ascii_digit() {
                    token.push(next);
                } else if matches!(next, '.' | ',') && digit_after_next(&chars) {
                    if next == '.' {
                        token.push('.');
                    }
                } else {
                    break;
                }
                chars.next();
            }
        } else if first.is_alphabetic() {
            push_lower(&mut token, first);
            while let Some(next) = chars.next_if(|c| c.is_alphabetic()) {
                push_lower(&mut token, next);
            }
        } else {
            continue;
        }
        each(&mut token);
    }
}

fn push_lower(token: &mut String, letter: char) {
    match letter.is_ascii() {
        true => token.push(letter.to_ascii_lowercase()),
        false => token.extend(letter.to_lowercase()),
    }
}

fn digit_after_next(chars: &std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    chars.clone().nth(1).is_some_and(|c| c.is_ascii_digit())
}

/// The number of a text among those that have one, counted from 0; the next one where it has none.
pub fn number_of(numbers: &mut HashMap<String, u32>, text: &str) -> u32 {
    numbers.get(text).copied().unwrap_or_else(|| {
        let next = numbers.len() as u32;
        numbers.insert(text.to_owned(), next);
        next
    })
}

/// The settings of BM25.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bm25Config {
    /// How fast repeated terms saturate.
    pub k1: f64,
    /// How much long texts are held down, 0 to 1.
    pub b: f64,
}

impl Default for Bm25Config {
    fn default() -> Self {
        Self { k1: 1.5, b: 0.75 }
    }
}

/// An inverted index over texts: which text holds which term how often.
#[derive(Debug, Clone)]
pub struct LexicalIndex {
    terms: HashMap<String, u32>,
    /// For each term, (text, occurrences) by rising text.
    postings: Vec<Vec<(u32, u32)>>,
    /// Tokens of each text.
    lengths: Vec<u32>,
}

impl LexicalIndex {
    /// Indexes the texts; text `i` keeps the number `i`.
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut index = Self { terms: HashMap::new(), postings: Vec::new(), lengths: Vec::new() };
        for (text, content) in texts.into_iter().enumerate() {
            let text = text as u32;
            let mut length = 0;
            for_each_token(content.as_ref(), |token| {
                length += 1;
                let term = number_of(&mut index.terms, token);
                if term as usize == index.postings.len() {
                    index.postings.push(Vec::new());
                }
                let postings = &mut index.postings[term as usize];
                match postings.last_mut() {
                    Some((last, count)) if *last == text => *count += 1,
                    _ => postings.push((text, 1)),
                }
            });
            index.lengths.push(length);
        }
        index
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// BM25 of every text for a query, at least 0; a text without a term of the query gets 0. A
    /// term counts as often as the query holds it. idf = ln(1 + (N − n + ½) / (n + ½)).
    pub fn bm25(&self, query: &str, config: Bm25Config) -> Vec<f32> {
        let total: f64 = self.lengths.iter().map(|&length| f64::from(length)).sum();
        let count = self.len() as f64;
        let mean_length = if total > 0.0 { total / count } else { 1.0 };
        let mut scores = vec![0.0; self.len()];
        for (term, query_count) in self.query_terms(query) {
            let postings = &self.postings[term];
            let holding = postings.len() as f64;
            let idf = (1.0 + (count - holding + 0.5) / (holding + 0.5)).ln();
            for &(text, occurrences) in postings {
                let tf = f64::from(occurrences);
                let length = f64::from(self.lengths[text as usize]);
                let norm = config.k1 * (1.0 - config.b + config.b * length / mean_length);
                scores[text as usize] += query_count * idf * tf * (config.k1 + 1.0) / (tf + norm);
            }
        }
        scores.into_iter().map(|score| score as f32).collect()
    }

    /// Cosine of the TF-IDF vectors of every text and the query, 0 to 1. Raw term counts times
    /// idf = ln((1 + N) / (1 + n)) + 1, as scikit-learn's default; terms of the query that no text
    /// holds count in its length neither.
    pub fn tf_idf(&self, query: &str) -> Vec<f32> {
        let count = self.len() as f64;
        let idf: Vec<f64> =
            self.postings.iter().map(|postings| ((1.0 + count) / (1.0 + postings.len() as f64)).ln() + 1.0).collect();
        let mut squares = vec![0.0; self.len()];
        for (postings, idf) in self.postings.iter().zip(&idf) {
            for &(text, occurrences) in postings {
                squares[text as usize] += (f64::from(occurrences) * idf).powi(2);
            }
        }
        let mut dots = vec![0.0; self.len()];
        let mut query_square = 0.0;
        for (term, query_count) in self.query_terms(query) {
            let weight = query_count * idf[term];
            query_square += weight * weight;
            for &(text, occurrences) in &self.postings[term] {
                dots[text as usize] += weight * f64::from(occurrences) * idf[term];
            }
        }
        let cosine = |(dot, square): (f64, f64)| {
            if dot > 0.0 { (dot / (square * query_square).sqrt()) as f32 } else { 0.0 }
        };
        dots.into_iter().zip(squares).map(cosine).collect()
    }

    /// The query's terms that some text holds, by first occurrence, with their counts.
    fn query_terms(&self, query: &str) -> Vec<(usize, f64)> {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for token in tokenize(query) {
            if let Some(&term) = self.terms.get(&token) {
                match terms.iter_mut().find(|(seen, _)| *seen == term as usize) {
                    Some((_, count)) => *count += 1.0,
                    None => terms.push((term as usize, 1.0)),
                }
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_letter_runs_and_numbers() {
        assert_eq!(tokenize("Net sales, Q4: $1,234.50 (7%)."), ["net", "sales", "q", "4", "1234.50", "7"]);
        assert_eq!(tokenize("1,2.x ., 3."), ["12", "x", "3"]);
        assert_eq!(tokenize("Größe É"), ["größe", "é"]);
        assert!(tokenize(" – ").is_empty());
    }

    #[test]
    fn figures_equal_those_worked_out_by_hand() {
        let index = LexicalIndex::new(["net sales", "net income net", "cash"]);
        // N = 3, lengths 2, 3, 1, mean 2; "net": n = 2, "income": n = 1
        let net = (1.0_f64 + 1.5 / 2.5).ln();
        let income = (1.0_f64 + 2.5 / 1.5).ln();
        let long = 1.5 * (0.25 + 0.75 * 1.5);
        let expected = [net * 2.5 / (1.0 + 1.5), net * 2.0 * 2.5 / (2.0 + long) + income * 2.5 / (1.0 + long), 0.0];
        let scores = index.bm25("Net income, dividends", Bm25Config::default());
        for (score, expected) in scores.iter().zip(expected) {
            assert!((f64::from(*score) - expected).abs() < 1e-6, "{score} {expected}");
        }
        let cosine = index.tf_idf("cash");
        assert!((cosine[2] - 1.0).abs() < 1e-6 && cosine[0] == 0.0);
        // "net": idf ln(4/3) + 1, "sales", "income": ln(4/2) + 1
        let (net, rare) = ((4.0_f64 / 3.0).ln() + 1.0, 2.0_f64.ln() + 1.0);
        let expected = (4.0 * net * net + 0.0) / ((4.0 * net * net + rare * rare).sqrt() * 2.0 * net);
        assert!((f64::from(index.tf_idf("net net")[1]) - expected).abs() < 1e-6);
    }

    #[test]
    fn an_empty_collection_and_an_empty_query_score_nothing() {
        assert!(LexicalIndex::new([""; 0]).bm25("a", Bm25Config::default()).is_empty());
        let index = LexicalIndex::new(["", "a"]);
        assert_eq!(index.bm25("", Bm25Config::default()), [0.0, 0.0]);
        assert_eq!(index.tf_idf("b"), [0.0, 0.0]);
    }
}
