//! Names of edge types.

use std::sync::{Arc, LazyLock};

use crate::edge_type::EdgeType;
use crate::error::GraphError;

/// A type's number is a byte.
const MOST: usize = 256;

/// Names of edge types in the order of their numbers, no two the same. The default are those of a document's graph
/// ([`EdgeType`]). A clone shares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeNames(Arc<[String]>);

impl Default for TypeNames {
    fn default() -> Self {
        static OF_DOCUMENTS: LazyLock<TypeNames> =
            LazyLock::new(|| TypeNames(EdgeType::ALL.iter().map(|edge_type| edge_type.name().to_owned()).collect()));
        OF_DOCUMENTS.clone()
    }
}

impl TypeNames {
    /// Names in the order of their numbers.
    ///
    /// # Errors
    /// More than 256; two that are the same.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self, GraphError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.len() > MOST {
            return Err(GraphError::TooManyTypes { found: names.len() });
        }
        match names.iter().enumerate().find(|(number, name)| names[..*number].contains(name)) {
            Some((_, name)) => Err(GraphError::SameName { name: name.clone() }),
            None => Ok(Self(names.into())),
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The name of a number.
    pub fn name(&self, number: u8) -> Option<&str> {
        self.0.get(usize::from(number)).map(String::as_str)
    }

    /// The number of a name.
    ///
    /// # Errors
    /// A name that is not there; the error has the most similar one.
    pub fn number(&self, name: &str) -> Result<u8, GraphError> {
        match self.0.iter().position(|known| known == name) {
            Some(number) => Ok(number as u8), // below 256
            None => Err(GraphError::UnknownType { name: name.to_owned(), nearest: self.nearest(name) }),
        }
    }

    fn nearest(&self, name: &str) -> Option<String> {
        self.0.iter().min_by_key(|known| strsim::damerau_levenshtein(name, known)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_numbers_and_an_unknown_one_its_nearest() {
        let names = TypeNames::new(["joinable", "unionable"]).unwrap();
        assert_eq!((names.number("unionable"), names.name(0), names.name(2)), (Ok(1), Some("joinable"), None));
        let error = names.number("joinabel").unwrap_err().to_string();
        assert_eq!(error, "there is no edge type \"joinabel\"; the nearest known one is \"joinable\"");
        assert_eq!(TypeNames::new(["a", "b", "a"]), Err(GraphError::SameName { name: "a".into() }));
        let numbered = |count: usize| TypeNames::new((0..count).map(|number| number.to_string()));
        assert_eq!(numbered(256).unwrap().number("255"), Ok(255));
        assert_eq!(numbered(257), Err(GraphError::TooManyTypes { found: 257 }));
    }
}
