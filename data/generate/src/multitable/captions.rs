//! Captions of parts: what the source's title, section and caption say, in other words for each part.

use tabsegnet_datasets::tables::TableRecord;

use super::words::WORDINGS_WITH_DETAIL;
use super::words::WORDINGS_WITHOUT_DETAIL;
use crate::dice::Dice;

/// What a table says it is about; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Topic {
    /// The page or document; without a leading "List of".
    pub title: String,
    /// The section or caption below it, where there is one; the same words as the title are none.
    pub detail: Option<String>,
}

impl Topic {
    /// Of a table; none where it has neither title, section nor caption.
    pub fn of(table: &TableRecord) -> Option<Self> {
        let section = table.section.rsplit(" -- ").next().unwrap_or_default();
        let mut said: Vec<&str> = Vec::new();
        for text in [table.title.trim(), table.caption.trim(), section.trim()] {
            if !text.is_empty() && !said.iter().any(|earlier| earlier.eq_ignore_ascii_case(text)) {
                said.push(text);
            }
        }
        let mut said = said.into_iter();
        let title = said.next()?;
        let bare = match title.split_at_checked(8) {
            Some((list, rest)) if list.eq_ignore_ascii_case("list of ") && !rest.trim().is_empty() => rest.trim(),
            _ => title,
        };
        Some(Self { title: bare.to_owned(), detail: said.next().map(str::to_owned) })
    }

    /// In one phrase.
    pub fn phrase(&self, with_detail: bool) -> String {
        match &self.detail {
            Some(detail) if with_detail => format!("{} ({detail})", self.title),
            _ => self.title.clone(),
        }
    }
}

/// One caption a part, each in a wording of its own; empty where the source says nothing.
pub(super) fn varied(table: &TableRecord, parts: usize, dice: &mut Dice) -> Vec<String> {
    let Some(topic) = Topic::of(table) else {
        return vec![String::new(); parts];
    };
    let mut wordings = match topic.detail {
        Some(_) => WORDINGS_WITH_DETAIL.to_vec(),
        None => WORDINGS_WITHOUT_DETAIL.to_vec(),
    };
    dice.shuffle(&mut wordings);
    // TabFact's text is lower case throughout: a capital would be the template's mark.
    let lower = !topic.title.contains(char::is_uppercase);
    let caption = |wording: &&str| {
        let wording = if lower { wording.to_lowercase() } else { (*wording).to_owned() };
        let mut caption = String::new();
        // In one pass, since a title may hold what looks like a mark.
        for (at, piece) in wording.split('{').enumerate() {
            let (text, rest) = match piece.split_once('}') {
                Some(("t", rest)) if at > 0 => (topic.title.as_str(), rest),
                Some(("d", rest)) if at > 0 => (topic.detail.as_deref().unwrap_or_default(), rest),
                _ => ("", piece),
            };
            caption.push_str(text);
            caption.push_str(rest);
        }
        caption
    };
    wordings.iter().cycle().take(parts).map(caption).collect()
}
