//! A document in encoded form: nodes, edges and vectors.

use rayon::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensorError, SafeTensors};
use tabsegnet_datasets::prepared::PreparedDocument;
use tabsegnet_document::Locations;
use tabsegnet_graph::{Adjacency, Graph, Node, NodeKind, TablePlace, TypeNames};

use crate::RankingError;

/// Bytes of the vectors that a task reads.
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
    /// Where its nodes stand in its file.
    pub locations: Locations,
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
        let encoded = Self { id, graph, warnings: Vec::new(), locations: Locations::default(), d_enc, vectors };
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

    /// As safetensors: `vectors` `[nodes + compared, d_enc]`; of the nodes `kinds` `[nodes]`, `places`
    /// `[nodes, 5]`, `sections` `[nodes]` with the number of the heading from 1, and `lengths` `[nodes, 4]` of the four texts that `texts` holds of each, one after
    /// the other; `edges` `[edges, 2]` and `edge_types` `[edges]`; `weights`, where edges have them. The
    /// document's name, the edge types' names, the warnings and, as JSON, the locations are in the metadata.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, SafeTensorError> {
        let (nodes, adjacency) = (self.nodes(), self.graph.adjacency());
        let (mut kinds, mut places, mut lengths, mut texts) = (Vec::new(), Vec::new(), Vec::new(), String::new());
        let mut sections = Vec::with_capacity(nodes.len());
        let nowhere = TablePlace::default();
        for Node { id, kind, text, place, section } in nodes {
            sections.push(section.map_or(0, |heading| heading + 1).to_le_bytes());
            let number = NodeKind::ALL.iter().position(|other| other == kind).unwrap_or_default() as u8;
            kinds.push(number | if place.is_some() { PLACED } else { 0 });
            let TablePlace { table, row, col, rowspan, colspan, row_path, column_path } =
                place.as_ref().unwrap_or(&nowhere);
            places.extend([table, row, col, rowspan, colspan].map(|number| (*number as u64).to_le_bytes()));
            for text in [id, text, row_path, column_path] {
                lengths.push((text.len() as u32).to_le_bytes());
                texts.push_str(text);
            }
        }
        let edges: Vec<[u8; 4]> =
            adjacency.iter().flat_map(|(from, to, _)| [from.to_le_bytes(), to.to_le_bytes()]).collect();
        let edge_types: Vec<u8> = adjacency.iter().map(|(_, _, edge_type)| edge_type).collect();
        let bytes = |values: &[f32]| values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>();
        let (vectors, weights) = (bytes(&self.vectors), bytes(adjacency.weights()));
        let rows = self.vectors.len().checked_div(self.d_enc).unwrap_or_default();
        let tensors = [
            ("vectors", Dtype::F32, vec![rows, self.d_enc], vectors.as_flattened()),
            ("kinds", Dtype::U8, vec![nodes.len()], &kinds),
            ("places", Dtype::U64, vec![nodes.len(), 5], places.as_flattened()),
            ("sections", Dtype::U32, vec![nodes.len()], sections.as_flattened()),
            ("lengths", Dtype::U32, vec![nodes.len(), 4], lengths.as_flattened()),
            ("texts", Dtype::U8, vec![texts.len()], texts.as_bytes()),
            ("edges", Dtype::U32, vec![adjacency.edges(), 2], edges.as_flattened()),
            ("edge_types", Dtype::U8, vec![adjacency.edges()], &edge_types),
            ("weights", Dtype::F32, vec![weights.len()], weights.as_flattened()),
        ];
        let names = adjacency.type_names().iter().enumerate().map(|(at, name)| (format!("type {at}"), name.to_owned()));
        let warnings = self.warnings.iter().enumerate().map(|(at, warning)| (format!("warning {at}"), warning.clone()));
        let locations = (!self.locations.is_empty()).then(|| serde_json::to_string(&self.locations).ok()).flatten();
        let locations = locations.map(|locations| ("locations".to_owned(), locations));
        let metadata = names.chain(warnings).chain(locations).chain([("id".to_owned(), self.id.clone())]).collect();
        let views: Result<Vec<_>, SafeTensorError> = tensors
            .into_iter()
            .map(|(name, dtype, shape, data)| Ok((name, TensorView::new(dtype, shape, data)?)))
            .collect();
        safetensors::serialize(views?, Some(metadata))
    }

    /// Reads what [`EncodedDocument::to_bytes`] wrote; nothing where parts are missing or do not fit each
    /// other.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
        let metadata = header.metadata().as_ref()?;
        let listed = |what| (0..).map_while(move |at| metadata.get(&format!("{what} {at}")).cloned());
        let tensors = SafeTensors::deserialize(bytes).ok()?;
        let column = |name| Some(tensors.tensor(name).ok()?.data());
        let &[_, d_enc] = tensors.tensor("vectors").ok()?.shape() else { return None };
        let (vectors, weights) = (column("vectors")?, floats(column("weights")?));
        let (edges, edge_types) = (column("edges")?, column("edge_types")?);
        let read = || {
            let texts = str::from_utf8(column("texts")?).ok()?;
            let nodes = nodes(column("kinds")?, column("places")?, column("sections")?, column("lengths")?, texts)?;
            let numbers = edges.as_chunks::<4>().0.as_chunks::<2>().0.iter();
            let edges = numbers.zip(edge_types);
            let edges: Vec<_> = edges
                .map(|([from, to], edge_type)| (u32::from_le_bytes(*from), u32::from_le_bytes(*to), *edge_type))
                .collect();
            let names = TypeNames::new(listed("type")).ok()?;
            let adjacency = match weights.is_empty() {
                true => Adjacency::new(nodes.len(), names, &edges),
                false => Adjacency::weighted(nodes.len(), names, &edges, &weights),
            };
            Graph::new(nodes, adjacency.ok()?).ok()
        };
        let (graph, vectors) = rayon::join(read, || floats(vectors));
        let id = metadata.get("id")?.clone();
        let locations = match metadata.get("locations") {
            Some(locations) => serde_json::from_str(locations).ok()?,
            None => Locations::default(),
        };
        let document = Self { id, graph: graph?, warnings: listed("warning").collect(), locations, d_enc, vectors };
        let whole = document.vectors.len() >= document.nodes().len() * d_enc && document.check().is_ok();
        whole.then_some(document)
    }
}

/// Set in the kind of a node that has a place.
const PLACED: u8 = 0x80;

/// Nodes from their columns.
fn nodes(kinds: &[u8], places: &[u8], sections: &[u8], lengths: &[u8], texts: &str) -> Option<Vec<Node>> {
    let mut rest = texts;
    let mut lengths = lengths.as_chunks().0.iter();
    let mut text = || {
        let (text, after) = rest.split_at_checked(u32::from_le_bytes(*lengths.next()?) as usize)?;
        rest = after;
        Some(text.to_owned())
    };
    let mut numbers = places.as_chunks().0.iter();
    let mut number = || usize::try_from(u64::from_le_bytes(*numbers.next()?)).ok();
    let mut sections = sections.as_chunks().0.iter();
    let node = |(at, kind): (usize, &u8)| {
        let (id, own, row_path, column_path) = (text()?, text()?, text()?, text()?);
        let (table, row, col, rowspan, colspan) = (number()?, number()?, number()?, number()?, number()?);
        let place = TablePlace { table, row, col, rowspan, colspan, row_path, column_path };
        let place = (kind & PLACED != 0).then_some(place);
        let section = u32::from_le_bytes(*sections.next()?).checked_sub(1);
        let kind = *NodeKind::ALL.get(usize::from(kind & !PLACED))?;
        let earlier = section.is_none_or(|heading| (heading as usize) < at);
        earlier.then_some(Node { id, kind, text: own, place, section })
    };
    kinds.iter().enumerate().map(node).collect()
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

fn floats(bytes: &[u8]) -> Vec<f32> {
    let mut values = vec![0.0; bytes.len() / 4];
    values.par_chunks_mut(CHUNK / 4).zip(bytes.par_chunks(CHUNK)).for_each(|(values, bytes)| {
        for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
            *value = f32::from_le_bytes(*bytes);
        }
    });
    values
}
