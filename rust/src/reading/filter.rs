//! Filters in libpcap's language, compiled and run by the system's libpcap.
//!
//! libpcap reads no file here: a program is compiled once for Ethernet frames and run over bytes
//! (`bpf_filter`). The innermost packet is shown to it as an Ethernet frame without VLAN tags.
#![expect(unsafe_code, reason = "libpcap is a C library, found at run time")]

use crate::base::error::{Error, Result};
use crate::file::Frame;
use crate::wire::Packet;
use libloading::{Library, Symbol};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

const LINK_ETHERNET: u16 = 1;
const SNAP_BYTES: c_int = 262_144;
const LIBRARIES: [&str; 5] = [
    "libpcap.so.1",
    "libpcap.so.0.8",
    "libpcap.so",
    "libpcap.dylib",
    "wpcap.dll",
];

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
struct Program {
    n_instructions: c_uint,
    instructions: *mut Instruction,
}

type RunFilter = unsafe extern "C" fn(*const Instruction, *const u8, c_uint, c_uint) -> c_uint;

/// A compiled filter.
pub struct Filter {
    instructions: Vec<Instruction>,
    run: RunFilter,
    // Keeps `run` valid.
    _library: Library,
}

impl Filter {
    /// Compiles an expression; `extra_library` is tried when the system has no libpcap.
    ///
    /// # Errors
    /// There is no libpcap, or it does not understand the expression.
    pub fn new(expression: &str, extra_library: Option<&str>) -> Result<Self> {
        let text = CString::new(expression)
            .map_err(|_| Error::Argument("the filter contains a NUL character".into()))?;
        let library = open(extra_library)?;
        let instructions = compile(&library, &text).map_err(|reason| {
            Error::Argument(format!(
                "filter {expression:?}: {reason}; see pcap-filter(7) for the language"
            ))
        })?;
        // SAFETY: bpf_filter has this signature in every libpcap (<pcap/bpf.h>).
        let run = unsafe { library.get::<RunFilter>(b"bpf_filter\0") }.map(|symbol| *symbol);
        let run = run.map_err(|error| Error::Argument(format!("libpcap: {error}")))?;
        Ok(Self {
            instructions,
            run,
            _library: library,
        })
    }

    /// Whether the frame passes as it was captured; other link types than Ethernet never do.
    #[must_use]
    pub fn passes_outer(&self, frame: &Frame<'_>) -> bool {
        frame.link == LINK_ETHERNET && self.passes(frame.bytes, frame.wire_bytes)
    }

    /// Whether the innermost packet passes.
    #[must_use]
    pub fn passes_inner(&self, frame: &Frame<'_>, packet: &Packet) -> bool {
        thread_local! { static ETHERNET: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) }; }
        let Some(network) = frame
            .bytes
            .get(packet.network_at..packet.end_at.max(packet.network_at))
        else {
            return false;
        };
        let ether_type = match packet.ip_version {
            4 => 0x0800,
            6 => 0x86dd,
            _ => packet.ether_type,
        };
        let at = packet.ethernet_at;
        let macs = at
            .checked_add(12)
            .and_then(|end| frame.bytes.get(at..end))
            .unwrap_or(&[0; 12]);
        ETHERNET.with_borrow_mut(|ethernet| {
            ethernet.clear();
            ethernet.extend_from_slice(macs);
            ethernet.extend_from_slice(&ether_type.to_be_bytes());
            ethernet.extend_from_slice(network);
            let header = packet.transport_at.saturating_sub(packet.network_at);
            let header = u32::try_from(header).unwrap_or(0);
            self.passes(
                ethernet,
                14_u32
                    .saturating_add(header)
                    .saturating_add(packet.transport_wire_bytes),
            )
        })
    }

    fn passes(&self, bytes: &[u8], wire_bytes: u32) -> bool {
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

fn open(extra_library: Option<&str>) -> Result<Library> {
    LIBRARIES
        .into_iter()
        .chain(extra_library)
        // SAFETY: libpcap's initialisers have no requirements.
        .find_map(|name| unsafe { Library::new(name) }.ok())
        .ok_or_else(|| {
            Error::Argument("filters need libpcap, which was not found; install libpcap".into())
        })
}

fn compile(library: &Library, text: &CStr) -> std::result::Result<Vec<Instruction>, String> {
    type OpenDead = unsafe extern "C" fn(c_int, c_int) -> *mut c_void;
    type Compile =
        unsafe extern "C" fn(*mut c_void, *mut Program, *const c_char, c_int, c_uint) -> c_int;
    type Explain = unsafe extern "C" fn(*mut c_void) -> *const c_char;
    type Free = unsafe extern "C" fn(*mut Program);
    type Close = unsafe extern "C" fn(*mut c_void);
    const ANY_NETMASK: c_uint = c_uint::MAX;
    let lacking = |error: libloading::Error| error.to_string();
    // SAFETY: signatures as in <pcap/pcap.h>; the handle and the program are freed once each, the
    // program's instructions are copied before that.
    unsafe {
        let open_dead: Symbol<OpenDead> = library.get(b"pcap_open_dead\0").map_err(lacking)?;
        let compile: Symbol<Compile> = library.get(b"pcap_compile\0").map_err(lacking)?;
        let explain: Symbol<Explain> = library.get(b"pcap_geterr\0").map_err(lacking)?;
        let free: Symbol<Free> = library.get(b"pcap_freecode\0").map_err(lacking)?;
        let close: Symbol<Close> = library.get(b"pcap_close\0").map_err(lacking)?;
        let handle = open_dead(c_int::from(LINK_ETHERNET.cast_signed()), SNAP_BYTES);
        if handle.is_null() {
            return Err("libpcap gave no handle".into());
        }
        let mut program = Program {
            n_instructions: 0,
            instructions: std::ptr::null_mut(),
        };
        let outcome = if compile(handle, &raw mut program, text.as_ptr(), 1, ANY_NETMASK) == 0 {
            let n = usize::try_from(program.n_instructions).unwrap_or(0);
            let copy = std::slice::from_raw_parts(program.instructions, n).to_vec();
            free(&raw mut program);
            Ok(copy)
        } else {
            Err(CStr::from_ptr(explain(handle))
                .to_string_lossy()
                .into_owned())
        };
        close(handle);
        outcome
    }
}
