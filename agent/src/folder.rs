//! A ranker with the documents of a folder that it has read, so that the next question finds them open.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tabsegnet::{OpenDocument, Session};

/// Documents that stay open, those of about three questions: a whole report takes tens of megabytes.
const OPEN: usize = 8;

/// A ranker with the documents that it has read last.
pub struct Folder {
    session: Session,
    open: Recent<(usize, Vec<usize>), OpenDocument>,
}

impl Folder {
    /// None of them is open yet.
    pub fn new(session: Session) -> Self {
        Self { session, open: Recent::new(OPEN) }
    }

    /// A document by its number in the folder, without some tables, as `open` opens it where it is not open; nothing where that
    /// gives none.
    pub fn document(
        &self,
        number: usize,
        without: Vec<usize>,
        open: impl FnOnce(&Session) -> Option<OpenDocument>,
    ) -> Option<OpenDocument> {
        self.open.get((number, without), || open(&self.session))
    }
}

/// What was made last, by a key; of more than `most` the one goes whose last use is longest ago.
struct Recent<K, T> {
    most: usize,
    /// Used longest ago first.
    kept: Mutex<VecDeque<(K, T)>>,
}

impl<K: PartialEq, T: Clone> Recent<K, T> {
    fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// `make` runs without a lock: it may wait for threads that ask too.
    fn get(&self, key: K, make: impl FnOnce() -> Option<T>) -> Option<T> {
        let value = match self.known(&key) {
            Some(value) => value,
            None => make()?,
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(of, _)| *of != key);
        kept.push_back((key, value.clone()));
        if kept.len() > self.most {
            kept.pop_front();
        }
        Some(value)
    }

    fn known(&self, key: &K) -> Option<T> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(of, _)| of == key).map(|(_, value)| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::Recent;

    #[test]
    fn what_is_kept_is_not_made_again_and_what_was_used_longest_ago_goes() {
        let made = RefCell::new(Vec::new());
        let recent = Recent::new(2);
        let get = |number: usize| {
            recent.get(number, || {
                made.borrow_mut().push(number);
                (number < 9).then_some(10 * number)
            })
        };
        assert_eq!([1, 2, 1, 1].map(get), [10, 20, 10, 10].map(Some));
        assert_eq!(*made.borrow(), [1, 2]);
        // The first was used after the second.
        assert_eq!([3, 1, 2].map(get), [30, 10, 20].map(Some));
        assert_eq!(*made.borrow(), [1, 2, 3, 2]);
        // What cannot be made takes no place.
        assert_eq!([9, 9, 1, 2].map(get), [None, None, Some(10), Some(20)]);
        assert_eq!(*made.borrow(), [1, 2, 3, 2, 9, 9]);
    }
}
