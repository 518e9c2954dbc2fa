//! What cubecl-cuda uses of cubecl-llvm, without LLVM: the types, and a compiler that refuses every
//! kernel. The README says why.

use std::convert::Infallible;
use std::ffi::c_char;

use cubecl_core::ir::{DeviceProperties, nvidia::SmArch};
use cubecl_environment::backtrace::BackTrace;
use cubecl_runtime::compiler::{CompilationError, Compiler};
use cubecl_runtime::kernel::{BufferIOAttr, KernelDefinition};

use nvptx::ptx_version::PtxVersion;

/// What the compiler would write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LlvmTarget {
    /// PTX for an NVIDIA GPU.
    #[default]
    Nvptx,
}

/// Refuses every kernel.
#[derive(Clone, Debug, Default)]
pub struct PlironCompiler {
    /// Not looked at.
    pub target: LlvmTarget,
}

/// Not looked at.
#[derive(Clone, Debug, Default)]
pub struct PlironOptions {
    /// Architecture of an AMD GPU; of no use here.
    pub arch: Option<Infallible>,
    /// Architecture of an NVIDIA GPU.
    pub sm_arch: Option<SmArch>,
    /// PTX version to emit.
    pub ptx_version: Option<PtxVersion>,
    /// Whether kernels take their scalars in the parameter block.
    pub grid_constants: bool,
}

/// A kernel as PTX. There is none: nothing makes one.
#[derive(Clone, Debug)]
pub struct NvptxModule {
    /// NUL-terminated PTX.
    pub ptx: Vec<c_char>,
    /// The LLVM IR it came from.
    pub ir: String,
    /// Shared memory of a launch, in bytes.
    pub shared_memory_size: usize,
    /// Access to each buffer.
    pub io: Vec<BufferIOAttr>,
}

/// A compiled kernel. There is none: nothing makes one.
#[derive(Clone, Debug)]
pub enum PlironArtifact {
    /// For an NVIDIA GPU.
    NvptxCode(NvptxModule),
    /// What other targets have.
    Other(Infallible),
}

impl Compiler for PlironCompiler {
    type Representation = PlironArtifact;
    type CompilationOptions = PlironOptions;

    fn compile(&mut self, _: KernelDefinition, _: &PlironOptions) -> Result<PlironArtifact, CompilationError> {
        Err(CompilationError::Generic {
            reason: "this build has no LLVM; cubecl-cuda's feature `cpp` selects its C++ compiler".to_owned(),
            backtrace: BackTrace::capture(),
        })
    }

    fn extension(&self) -> &'static str {
        "ll"
    }

    fn lang_tag(&self) -> &'static str {
        "llvm"
    }
}

impl std::fmt::Display for PlironArtifact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NvptxCode(module) => f.write_str(&module.ir),
            Self::Other(never) => match *never {},
        }
    }
}

/// NVIDIA.
pub mod nvptx {
    /// PTX versions.
    pub mod ptx_version {
        /// A PTX version. There is none: only the LLVM compiler reads it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum PtxVersion {}

        impl PtxVersion {
            /// None for any driver.
            pub fn for_driver(_: i32) -> Option<Self> {
                None
            }
        }

        impl std::fmt::Display for PtxVersion {
            fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match *self {}
            }
        }
    }
}

/// What all targets share.
pub mod shared {
    /// What a device may be said to do.
    pub mod lowered_features {
        use super::super::DeviceProperties;

        /// A kind of GPU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum GpuTarget {
            /// NVIDIA's.
            Nvptx,
        }

        /// Takes nothing away: cubecl-cuda asks for it only where the LLVM compiler is selected,
        /// which compiles nothing here.
        pub fn restrict_features(_: &mut DeviceProperties, _: GpuTarget) {}
    }
}
