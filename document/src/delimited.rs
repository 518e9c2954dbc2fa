pub(crate) fn read(_: &std::path::Path, _: &str, _: &crate::ReadOptions, _: &mut crate::builder::Builder) -> Result<(), crate::ReadError> { Ok(()) }
