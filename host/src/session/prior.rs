//! What earlier boards taught, as a session has it: the bytes of a prior.
//!
//! In a log's first line and in the `init` of `serve` it is the field `prior`, in hexadecimal, so that
//! both rebuild a session without another file.

use std::fmt;
use std::path::Path;

use trimtab::{FleetPrior, MOST_BYTES};

use crate::error::Error;

/// A checked prior.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionPrior {
    prior: FleetPrior,
    text: String,
}

impl fmt::Debug for SessionPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a prior of {} boards, {:016x}", self.prior.boards(), self.prior.checksum())
    }
}

impl SessionPrior {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        // Core needs `'static`; leaking 2 KB per prior is fine.
        let kept = Box::leak(bytes.to_vec().into_boxed_slice());
        let prior = FleetPrior::read(kept).map_err(|error| format!("it is {error}; write one with trimtab learn"))?;
        Ok(Self { prior, text: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// Reads a file that `trimtab learn` wrote.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let fault = |what: String| Error::Usage(format!("--prior {}: {what}", path.display()));
        let size = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?.len();
        if size > MOST_BYTES as u64 {
            return Err(fault(format!("a prior has at most {MOST_BYTES} bytes; this file has {size}")));
        }
        let bytes = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
        Self::from_bytes(&bytes).map_err(fault)
    }

    /// From hexadecimal.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let digits = text.as_bytes();
        let is_hex = digits.len().is_multiple_of(2)
            && digits.len() <= 2 * MOST_BYTES
            && digits.iter().all(u8::is_ascii_hexdigit);
        if !is_hex {
            return Err(format!("`prior` must be at most {MOST_BYTES} bytes in hexadecimal"));
        }
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
        Self::from_bytes(&bytes).map_err(|error| format!("`prior`: {error}"))
    }

    /// In hexadecimal.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn prior(&self) -> FleetPrior {
        self.prior
    }
}
