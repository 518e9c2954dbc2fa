//! Where a term stands: table after table, what is added to the last one's number, a bit for each field that has the term,
//! and how often each of these has it; all of variable length, seven bits a byte.

use crate::fields::Field;

/// A term in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub table: u32,
    /// Occurrences in each field.
    pub counts: [u32; Field::COUNT],
}

/// Postings as bytes, written by rising table.
#[derive(Debug, Clone, Default)]
pub(crate) struct PostingList {
    pub bytes: Vec<u8>,
    pub tables: u32,
    /// The next table's number is written less this.
    next: u32,
}

impl PostingList {
    pub fn push(&mut self, posting: &Posting) {
        push_number(&mut self.bytes, posting.table - self.next);
        self.next = posting.table + 1;
        self.tables += 1;
        let fields = posting.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let mask = fields.clone().fold(0_u8, |mask, (field, _)| mask | 1 << field);
        self.bytes.push(mask);
        fields.for_each(|(_, &count)| push_number(&mut self.bytes, count));
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.tables, self.next) = (0, 0);
    }
}

fn push_number(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads postings back; it ends where the bytes do, or where they are none.
#[derive(Debug, Clone)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    next: u32,
}

impl<'a> Postings<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0 }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    #[inline]
    fn number(&mut self) -> Option<u32> {
        // Most are of one byte.
        if let [first @ ..0x80, rest @ ..] = self.bytes {
            self.bytes = rest;
            return Some(u32::from(*first));
        }
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

impl Postings<'_> {
    /// The next table, and `each` of its fields that have the term, by number, with how often; quicker than the counts of
    /// all fields where most tables have a term in one.
    pub fn next_with(&mut self, mut each: impl FnMut(u32, usize, u32)) -> Option<u32> {
        let table = self.next.checked_add(self.number()?)?;
        self.next = table.checked_add(1)?;
        let mut mask = self.byte()?;
        while mask != 0 {
            let field = mask.trailing_zeros() as usize;
            let count = self.number()?;
            if field < Field::COUNT {
                each(table, field, count);
            }
            mask &= mask - 1;
        }
        Some(table)
    }
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Posting> {
        let table = self.next.checked_add(self.number()?)?;
        self.next = table.checked_add(1)?;
        let mask = self.byte()?;
        let mut counts = [0; Field::COUNT];
        for (field, count) in counts.iter_mut().enumerate() {
            if mask & (1 << field) != 0 {
                *count = self.number()?;
            }
        }
        Some(Posting { table, counts })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn postings_come_back(
            steps in proptest::collection::vec((1..500_u32, proptest::array::uniform6(0..300_u32)), 0..40)
        ) {
            let mut list = PostingList::default();
            let mut at = 0;
            let mut all = Vec::new();
            for (step, counts) in steps {
                at += step;
                all.push(Posting { table: at, counts });
                list.push(&all[all.len() - 1]);
            }
            prop_assert_eq!(Postings::new(&list.bytes).collect::<Vec<_>>(), all);
        }

        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            prop_assert!(Postings::new(&bytes).count() <= bytes.len());
        }
    }
}
