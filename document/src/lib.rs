//! Documents: the model (passages and tables), and readers into it.

mod grid;
mod headers;
mod kind;
pub mod model;
pub mod node_id;
pub mod numbers;
mod texts;

pub use texts::{Region, table_of_texts};
