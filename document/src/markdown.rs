pub(crate) fn read(_: &str, _: &crate::Limits, _: &mut crate::builder::Builder) {}
