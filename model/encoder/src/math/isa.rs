//! Which vector instructions the kernels use.

use std::sync::OnceLock;

use pulp::Arch;

use super::int8::Kernel;
use crate::EncoderError;

/// The instruction sets that this process uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Isa {
    pub(crate) arch: Arch,
    pub(crate) int8: Kernel,
}

/// Lowers the instruction set, to try on one processor what others will run.
const VARIABLE: &str = "TABSEGNET_SIMD";

static CHOSEN: OnceLock<Isa> = OnceLock::new();

/// The instruction set of this process. What the variable says is checked by [`Isa::choose`] when an
/// encoder is opened.
pub(crate) fn isa() -> Isa {
    *CHOSEN.get_or_init(|| Isa::wanted().unwrap_or_else(|_| Isa::best()))
}

impl Isa {
    /// Settles the instruction set: the best that the processor has, or the one that
    /// `TABSEGNET_SIMD` names (`avx512`, `avx2`, `portable`).
    pub(crate) fn choose() -> Result<(), EncoderError> {
        let wanted = Self::wanted()?;
        CHOSEN.get_or_init(|| wanted);
        Ok(())
    }

    fn wanted() -> Result<Self, EncoderError> {
        match std::env::var(VARIABLE) {
            Ok(name) => Self::named(&name).ok_or(EncoderError::Simd { value: name }),
            Err(_) => Ok(Self::best()),
        }
    }

    fn best() -> Self {
        Self { arch: Arch::new(), int8: Kernel::best() }
    }

    /// An instruction set by name; none for an unknown name or one that the processor lacks.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "portable" => Some(Self { arch: Arch::Scalar, int8: Kernel::portable() }),
            #[cfg(target_arch = "x86_64")]
            "avx2" => Some(Self { arch: Arch::V3(pulp::x86::V3::try_new()?), int8: Kernel::avx2()? }),
            #[cfg(target_arch = "x86_64")]
            "avx512" => Some(Self { arch: Arch::V4(pulp::x86::V4::try_new()?), int8: Kernel::best() }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_instruction_set_is_none() {
        assert!(Isa::named("portable").is_some());
        assert!(Isa::named("").is_none() && Isa::named("AVX2").is_none());
    }
}
