//! Filters in libpcap's language: compiled by `pcap_compile`, run by its interpreter `bpf_filter`.
#![expect(unsafe_code, reason = "libpcap is a C library, found at run time")]

use super::library::{function, open_library};
use crate::base::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

const LINK_ETHERNET: c_int = 1;
const SNAP_BYTES: c_int = 262_144;
const ANY_NETMASK: c_uint = c_uint::MAX;

/// `struct bpf_insn` of <pcap/bpf.h>.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u16,
    jump_true: u8,
    jump_false: u8,
    operand: u32,
}

/// `struct bpf_program` of <pcap/bpf.h>.
#[repr(C)]
pub(super) struct BpfProgram {
    n_instructions: c_uint,
    instructions: *mut Instruction,
}

type RunFilter = unsafe extern "C" fn(*const Instruction, *const u8, c_uint, c_uint) -> c_uint;
type Compile =
    unsafe extern "C" fn(*mut c_void, *mut BpfProgram, *const c_char, c_int, c_uint) -> c_int;
type Explain = unsafe extern "C" fn(*mut c_void) -> *const c_char;
type Free = unsafe extern "C" fn(*mut BpfProgram);
type OpenDead = unsafe extern "C" fn(c_int, c_int) -> *mut c_void;
type Close = unsafe extern "C" fn(*mut c_void);

/// A compiled filter for Ethernet frames.
pub struct FilterProgram {
    instructions: Vec<Instruction>,
    run: RunFilter,
    // Keeps `run` valid.
    _library: Library,
}

impl FilterProgram {
    /// Compiles an expression; `extra_library` is tried when the system has no libpcap.
    ///
    /// # Errors
    /// There is no libpcap, or it does not understand the expression.
    pub fn new(expression: &str, extra_library: Option<&str>) -> Result<Self> {
        let text = filter_text(expression)?;
        let library = open_library(extra_library)?;
        let instructions =
            compile(&library, &text).map_err(|reason| not_understood(expression, &reason))?;
        // SAFETY: bpf_filter has this signature in every libpcap (<pcap/bpf.h>).
        let run = unsafe { function::<RunFilter>(&library, "bpf_filter") };
        Ok(Self {
            instructions,
            run: run.map_err(Error::Argument)?,
            _library: library,
        })
    }

    /// Whether an Ethernet frame of so many bytes on the wire passes.
    #[must_use]
    pub fn passes(&self, bytes: &[u8], wire_bytes: u32) -> bool {
        let Ok(captured) = c_uint::try_from(bytes.len()) else {
            return false;
        };
        // SAFETY: the program was made by pcap_compile and ends in a return; the interpreter checks
        // every load against the captured length given here.
        unsafe {
            (self.run)(
                self.instructions.as_ptr(),
                bytes.as_ptr(),
                wire_bytes,
                captured,
            ) != 0
        }
    }
}

/// An expression as C takes it.
pub(super) fn filter_text(expression: &str) -> Result<CString> {
    CString::new(expression)
        .map_err(|_| Error::Argument("the filter contains a NUL character".into()))
}

/// The error of an expression that libpcap refuses.
pub(super) fn not_understood(expression: &str, reason: &str) -> Error {
    Error::Argument(format!(
        "filter {expression:?}: {reason}; see pcap-filter(7) for the language"
    ))
}

fn compile(library: &Library, text: &CStr) -> std::result::Result<Vec<Instruction>, String> {
    // SAFETY: signatures as in <pcap/pcap.h>; the handle is closed once.
    unsafe {
        let open_dead: OpenDead = function(library, "pcap_open_dead")?;
        let close: Close = function(library, "pcap_close")?;
        let handle = open_dead(LINK_ETHERNET, SNAP_BYTES);
        if handle.is_null() {
            return Err("libpcap gave no handle".into());
        }
        let mut copy = Vec::new();
        let outcome = with_compiled(library, handle, text, |program| {
            let n = usize::try_from(program.n_instructions).unwrap_or(0);
            copy = std::slice::from_raw_parts(program.instructions, n).to_vec();
        });
        close(handle);
        outcome.map(|()| copy)
    }
}

/// Compiles for the link of a handle, and does something with the program before it is freed.
///
/// # Safety
/// `handle` is an open handle of this library.
pub(super) unsafe fn with_compiled(
    library: &Library,
    handle: *mut c_void,
    text: &CStr,
    work: impl FnOnce(&mut BpfProgram),
) -> std::result::Result<(), String> {
    let mut program = BpfProgram {
        n_instructions: 0,
        instructions: std::ptr::null_mut(),
    };
    // SAFETY: signatures as in <pcap/pcap.h>; the program is freed once, after its use.
    unsafe {
        let compile: Compile = function(library, "pcap_compile")?;
        let free: Free = function(library, "pcap_freecode")?;
        if compile(handle, &raw mut program, text.as_ptr(), 1, ANY_NETMASK) != 0 {
            return Err(last_error(library, handle)?);
        }
        work(&mut program);
        free(&raw mut program);
    }
    Ok(())
}

/// What libpcap says of a handle's last failure.
///
/// # Safety
/// `handle` is an open handle of this library.
pub(super) unsafe fn last_error(
    library: &Library,
    handle: *mut c_void,
) -> std::result::Result<String, String> {
    // SAFETY: pcap_geterr gives a text that ends in NUL and lives as long as the handle.
    unsafe {
        let explain: Explain = function(library, "pcap_geterr")?;
        let text = CStr::from_ptr(explain(handle));
        Ok(text.to_string_lossy().into_owned())
    }
}
