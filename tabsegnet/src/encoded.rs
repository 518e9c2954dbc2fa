//! A document in encoded form: nodes, edges and vectors, and their bytes in a file.
//!
//! The bytes: `MAGIC`, the key, the lengths of the two parts (u64), their digests (32 bytes
//! each), then the parts. The first holds id, width, nodes, edge types by name, edges, weights and warnings, the second the vectors.
//! Numbers are little-endian; a text is its length (u32) and its UTF-8.

use rayon::prelude::*;
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_graph::{Adjacency, Graph, Node, NodeKind, TablePlace, TypeNames};
use tabsegnet_store::Digest;

use crate::RankingError;

/// What a file begins with; ends in the format's version.
const MAGIC: &[u8; 16] = b"tabsegnet doc 3\n";
const HEADER: usize = MAGIC.len() + 32 + 8 + 8 + 32 + 32;
/// Bytes of the vectors that a task digests and reads.
const CHUNK: usize = 1 << 19;

/// What a document is ranked by, whatever the question and the model.
#[derive(Debug, Clone, PartialEq)]
pub struct EncodedDocument {
    /// The document's name.
    pub id: String,
    /// Its graph.
    pub graph: Graph,
    /// What the document's reader warned of: told again when the kept form is used.
    pub warnings: Vec<String>,
    d_enc: usize,
    /// `[nodes + compared, d_enc]`
    vectors: Vec<f32>,
}

impl EncodedDocument {
    /// Puts vectors to a prepared document: those of its nodes, and below them those of the strings
    /// that its features compare, `[nodes + compared, d_enc]`.
    ///
    /// # Errors
    /// Not as many vectors as nodes; a number that is not finite, by its node.
    pub fn new(document: PreparedDocument, d_enc: usize, vectors: Vec<f32>) -> Result<Self, RankingError> {
        let PreparedDocument { id, graph, ranking_texts: _ } = document;
        let expected = graph.nodes().len() * d_enc;
        if vectors.len() < expected || vectors.len().checked_rem(d_enc).unwrap_or_default() != 0 {
            let found = vectors.len();
            return Err(tabsegnet_ranker::batch::BatchError::Width { example: 0, what: "u", found, expected }.into());
        }
        let encoded = Self { id, graph, warnings: Vec::new(), d_enc, vectors };
        encoded.check()?;
        Ok(encoded)
    }

    fn check(&self) -> Result<(), RankingError> {
        check_finite(&self.vectors, self.d_enc, |row| match self.nodes().get(row) {
            Some(node) => format!("node {} of document {}", node.id, self.id),
            None => format!("a header path or table of document {}", self.id),
        })
    }

    /// Nodes in document order.
    pub fn nodes(&self) -> &[Node] {
        self.graph.nodes()
    }

    /// Width of a vector.
    pub fn d_enc(&self) -> usize {
        self.d_enc
    }

    /// Vectors of the nodes, `[nodes, d_enc]`.
    pub fn vectors(&self) -> &[f32] {
        &self.vectors[..self.nodes().len() * self.d_enc]
    }

    /// Vectors of the strings that the features compare, `[compared, d_enc]`.
    pub fn compared(&self) -> &[f32] {
        &self.vectors[self.nodes().len() * self.d_enc..]
    }

    /// The bytes of a file. `key` tells what the document was made from.
    pub(crate) fn to_bytes(&self, key: &[u8; 32]) -> Vec<u8> {
        let mut structure = Vec::new();
        let mut write = Writer(&mut structure);
        write.text(&self.id);
        write.number(self.d_enc);
        write.number(self.nodes().len());
        for node in self.nodes() {
            write.node(node);
        }
        let adjacency = self.graph.adjacency();
        write.number(adjacency.type_names().len());
        adjacency.type_names().iter().for_each(|name| write.text(name));
        write.number(adjacency.edges());
        for (source, destination, edge_type) in adjacency.iter() {
            write.number(source as usize);
            write.number(destination as usize);
            write.0.push(edge_type);
        }
        write.number(adjacency.weights().len());
        adjacency.weights().iter().for_each(|weight| write.0.extend_from_slice(&weight.to_le_bytes()));
        write.number(self.warnings.len());
        for warning in &self.warnings {
            write.text(warning);
        }
        let vectors: Vec<u8> = self.vectors.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut bytes = Vec::with_capacity(HEADER + structure.len() + vectors.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(&(structure.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(vectors.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&digest(&structure));
        bytes.extend_from_slice(&digest(&vectors));
        bytes.extend_from_slice(&structure);
        bytes.extend_from_slice(&vectors);
        bytes
    }

    /// Reads what [`EncodedDocument::to_bytes`] wrote for the same key.
    ///
    /// # Errors
    /// What is wrong with the bytes, in words: another format or version, another key, cut short,
    /// changed.
    pub(crate) fn from_bytes(bytes: &[u8], key: &[u8; 32]) -> Result<Self, &'static str> {
        let mut header = Reader(bytes);
        if header.take(MAGIC.len()) != Some(MAGIC) {
            return Err("it is no encoded document of this version");
        }
        if header.take(32) != Some(key) {
            return Err("it was made from something else");
        }
        let parts = header.size().zip(header.size());
        let digests = header.take(32).zip(header.take(32));
        let Some(((structure, vectors), (structure_digest, vectors_digest))) = parts.zip(digests) else {
            return Err("it is cut short");
        };
        let (Some(structure), Some(vectors), []) = (header.take(structure), header.take(vectors), header.0) else {
            return Err("it is cut short or has something behind its end");
        };
        let (read, vectors) = rayon::join(
            || (digest(structure) == structure_digest).then(|| Self::read(structure)),
            || (digest(vectors) == vectors_digest).then(|| floats(vectors)),
        );
        let Some((read, vectors)) = read.zip(vectors) else {
            return Err("its bytes do not have the digest that it says");
        };
        let mut document = read.ok_or("its parts do not fit each other")?;
        document.vectors = vectors;
        let (found, nodes) = (document.vectors.len(), document.nodes().len() * document.d_enc);
        if found < nodes || found.checked_rem(document.d_enc).unwrap_or_default() != 0 || document.check().is_err() {
            return Err("its parts do not fit each other");
        }
        Ok(document)
    }

    /// Everything but the vectors.
    fn read(structure: &[u8]) -> Option<Self> {
        let mut read = Reader(structure);
        let id = read.text()?;
        let d_enc = read.number()?;
        let count = read.number()?;
        // A node takes more than a byte, so that a wrong count ends before memory does.
        let mut nodes = Vec::with_capacity(count.min(structure.len()));
        for _ in 0..count {
            nodes.push(read.node()?);
        }
        let names: Option<Vec<String>> = (0..read.number()?).map(|_| read.text()).collect();
        let names = TypeNames::new(names?).ok()?;
        let count = read.number()?;
        let mut edges = Vec::with_capacity(count.min(structure.len()));
        for _ in 0..count {
            let (source, destination) = (read.number()? as u32, read.number()? as u32);
            edges.push((source, destination, read.byte()?));
        }
        let adjacency = match read.number()? {
            0 => Adjacency::new(nodes.len(), names, &edges),
            count => {
                let weights = floats(read.take(count.checked_mul(4)?)?);
                Adjacency::weighted(nodes.len(), names, &edges, &weights)
            }
        };
        let graph = Graph::new(nodes, adjacency.ok()?).ok()?;
        let count = read.number()?;
        let mut warnings = Vec::with_capacity(count.min(structure.len()));
        for _ in 0..count {
            warnings.push(read.text()?);
        }
        read.0.is_empty().then_some(Self { id, graph, warnings, d_enc, vectors: Vec::new() })
    }
}

/// An error that names by `name` the first of the vectors `[rows, d]` that holds a number that is
/// not finite.
pub(crate) fn check_finite(vectors: &[f32], d: usize, name: impl Fn(usize) -> String) -> Result<(), RankingError> {
    const EXPONENT: u32 = 0x7f80_0000;
    let holds = |row: &[f32]| row.iter().fold(false, |bad, value| bad | (value.to_bits() & EXPONENT == EXPONENT));
    let row = vectors.par_chunks(d.max(1)).with_min_len(256).position_first(holds);
    match row {
        None => Ok(()),
        Some(row) => {
            let values = vectors.get(row * d..).unwrap_or_default();
            let component = values.iter().position(|value| !value.is_finite()).unwrap_or_default();
            let value = values.get(component).copied().unwrap_or(f32::NAN);
            Err(RankingError::VectorNotFinite { of: name(row), component, value })
        }
    }
}

/// SHA-256 over the SHA-256 of each chunk, so that the chunks can be taken at once.
fn digest(bytes: &[u8]) -> [u8; 32] {
    let chunks: Vec<[u8; 32]> = bytes.par_chunks(CHUNK).map(|chunk| Digest::new().part(chunk).bytes()).collect();
    chunks.iter().fold(Digest::new(), |digest, chunk| digest.part(chunk)).bytes()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let mut values = vec![0.0; bytes.len() / 4];
    values.par_chunks_mut(CHUNK / 4).zip(bytes.par_chunks(CHUNK)).for_each(|(values, bytes)| {
        for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
            *value = f32::from_le_bytes(*bytes);
        }
    });
    values
}

struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    /// Counts and numbers of nodes, rows and columns: below 2³² by what a document may hold.
    fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u32).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn node(&mut self, node: &Node) {
        self.0.push(NodeKind::ALL.iter().position(|kind| *kind == node.kind).unwrap_or_default() as u8);
        self.text(&node.id);
        self.text(&node.text);
        self.0.push(node.place.is_some().into());
        if let Some(TablePlace { table, row, col, rowspan, colspan, row_path, column_path }) = &node.place {
            [table, row, col, rowspan, colspan].into_iter().for_each(|number| self.size(*number));
            self.text(row_path);
            self.text(column_path);
        }
    }

    /// A number that the document's author chose.
    fn size(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u64).to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    fn size(&mut self) -> Option<usize> {
        let bytes = self.take(8)?.first_chunk()?;
        u64::from_le_bytes(*bytes).try_into().ok()
    }

    fn text(&mut self) -> Option<String> {
        let count = self.number()?;
        String::from_utf8(self.take(count)?.to_vec()).ok()
    }

    fn node(&mut self) -> Option<Node> {
        let kind = *NodeKind::ALL.get(usize::from(self.byte()?))?;
        let (id, text) = (self.text()?, self.text()?);
        let place = match self.byte()? {
            0 => None,
            _ => Some(TablePlace {
                table: self.size()?,
                row: self.size()?,
                col: self.size()?,
                rowspan: self.size()?,
                colspan: self.size()?,
                row_path: self.text()?,
                column_path: self.text()?,
            }),
        };
        Some(Node { id, kind, text, place })
    }
}
