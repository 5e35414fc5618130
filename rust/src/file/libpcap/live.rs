//! One interface of this host, captured live.
#![expect(unsafe_code, reason = "libpcap is a C library, found at run time")]

use super::library::{function, open_library};
use super::program::{BpfProgram, filter_text, last_error, not_understood, with_compiled};
use super::system::is_readable;
use crate::base::error::{Error, Result};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::fd::RawFd;
use std::time::Duration;

const ERROR_BYTES: usize = 256;
const LINK_COOKED: c_int = 113;
const LINK_COOKED_2: c_int = 276;
const NANOSECOND_STAMPS: c_int = 1;
const DIRECTION_IN: c_int = 1;
const STAMPS_HOST: c_int = 0;
const STAMPS_ADAPTER: c_int = 3;
const STAMPS_ADAPTER_OWN: c_int = 4;
const NO_SUCH_DEVICE: c_int = -5;
const MAY_NOT: [c_int; 2] = [-8, -11];
const IS_DOWN: c_int = -9;
const MOST_AT_ONCE: c_int = 4096;
const NS_PER_S: i64 = 1_000_000_000;

/// How an interface is captured.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Its name, as this thread's network namespace has it.
    pub device: String,
    /// At most so many bytes of each frame.
    pub snap_bytes: u32,
    /// For packets that wait to be read.
    pub buffer_bytes: u32,
    /// How long packets may wait to be handed over together.
    pub patience: Duration,
    /// Only these, in libpcap's language.
    pub filter: Option<String>,
    /// Only what the interface receives, stamped by its own clock.
    pub is_stamped_by_adapter: bool,
    /// A libpcap that is tried where the system has none.
    pub extra_library: Option<String>,
}

/// Whose clock stamps packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampClock {
    /// The kernel's, when it sees the packet.
    Host,
    /// The network card stamps, in the host's time: one clock for both directions.
    Adapter,
    /// The network card stamps, in a time of its own.
    AdapterOwn,
}

/// A captured packet, borrowed from the kernel's buffer.
#[derive(Clone, Copy, Debug)]
pub struct LivePacket<'a> {
    /// Since 1970.
    pub t_ns: i64,
    /// Length on the wire.
    pub wire_bytes: u32,
    /// The captured bytes.
    pub bytes: &'a [u8],
}

/// What libpcap counts of a handle (`struct pcap_stat`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelCounts {
    /// Packets that passed the filter, those that were dropped too.
    pub received: c_uint,
    /// Packets that found no room in the buffer.
    pub dropped: c_uint,
    /// Packets that the interface dropped, where the system tells.
    pub dropped_by_interface: c_uint,
}

/// The begin of `struct pcap_pkthdr`.
#[repr(C)]
struct PacketHeader {
    time: libc::timeval,
    captured_bytes: u32,
    wire_bytes: u32,
}

type Handle = *mut c_void;
type TakePacket = unsafe extern "C" fn(*mut c_void, *const PacketHeader, *const u8);
type Ask = unsafe extern "C" fn(Handle) -> c_int;
type Set = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Dispatch = unsafe extern "C" fn(Handle, c_int, TakePacket, *mut c_void) -> c_int;
type Count = unsafe extern "C" fn(Handle, *mut KernelCounts) -> c_int;

/// A handle of libpcap, closed once.
struct OpenHandle {
    handle: Handle,
    library: Library,
}

impl Drop for OpenHandle {
    fn drop(&mut self) {
        // SAFETY: signature as in <pcap/pcap.h>; nobody uses the handle afterwards.
        unsafe {
            if let Ok(close) = self.call::<unsafe extern "C" fn(Handle)>("pcap_close") {
                close(self.handle);
            }
        }
    }
}

impl OpenHandle {
    fn create(library: Library, device: &str) -> Result<Self> {
        type Create = unsafe extern "C" fn(*const c_char, *mut c_char) -> Handle;
        let name = CString::new(device)
            .map_err(|_| Error::Argument("an interface's name contains a NUL character".into()))?;
        let mut problem = [0; ERROR_BYTES];
        // SAFETY: signature as in <pcap/pcap.h>; the buffer has PCAP_ERRBUF_SIZE bytes.
        let handle = unsafe {
            function::<Create>(&library, "pcap_create").map_err(Error::Argument)?(
                name.as_ptr(),
                problem.as_mut_ptr(),
            )
        };
        if handle.is_null() {
            // SAFETY: libpcap ends its message in NUL, and the buffer was zero.
            let text = unsafe { CStr::from_ptr(problem.as_ptr()) };
            return Err(Error::Argument(text.to_string_lossy().into_owned()));
        }
        Ok(Self { handle, library })
    }

    /// # Safety
    /// `F` is the function's type in libpcap's headers.
    unsafe fn call<F: Copy>(&self, name: &str) -> Result<F> {
        // SAFETY: the caller vouches for the type.
        unsafe { function(&self.library, name) }.map_err(Error::Argument)
    }

    fn ask(&self, name: &str) -> Result<c_int> {
        // SAFETY: all that is asked by this takes a handle and gives a number.
        Ok(unsafe { self.call::<Ask>(name)?(self.handle) })
    }

    fn set(&self, name: &str, value: c_int) -> Result<c_int> {
        // SAFETY: all that is set by this takes a handle and a number.
        Ok(unsafe { self.call::<Set>(name)?(self.handle, value) })
    }

    fn message(&self) -> String {
        // SAFETY: the handle is open.
        unsafe { last_error(&self.library, self.handle) }.unwrap_or_else(|reason| reason)
    }

    /// Who may stamp, as `PCAP_TSTAMP_…`.
    fn offered_stamps(&self) -> Result<Vec<c_int>> {
        type List = unsafe extern "C" fn(Handle, *mut *mut c_int) -> c_int;
        let mut list = std::ptr::null_mut();
        // SAFETY: signatures as in <pcap/pcap.h>; the list has as many entries as it says, and is
        // freed once, after it was copied.
        unsafe {
            let n = self.call::<List>("pcap_list_tstamp_types")?(self.handle, &raw mut list);
            let Ok(n) = usize::try_from(n) else {
                return Ok(vec![]);
            };
            if list.is_null() {
                return Ok(vec![]);
            }
            let offered = std::slice::from_raw_parts(list, n).to_vec();
            self.call::<unsafe extern "C" fn(*mut c_int)>("pcap_free_tstamp_types")?(list);
            Ok(offered)
        }
    }

    fn activate(&self, options: &LiveOptions) -> Result<StampClock> {
        let offered = self.offered_stamps()?;
        let (kind, clock) = stamp_clock(&offered, options.is_stamped_by_adapter).ok_or_else(|| {
            let text = "its adapter timestamps no packets by its own clock (ethtool -T lists its abilities)";
            Error::Argument(text.into())
        })?;
        let number = |n: u32| c_int::try_from(n).unwrap_or(c_int::MAX);
        let patience_ms = c_int::try_from(options.patience.as_millis()).unwrap_or(c_int::MAX);
        self.set("pcap_set_snaplen", number(options.snap_bytes))?;
        self.set("pcap_set_promisc", 1)?;
        self.set("pcap_set_timeout", patience_ms)?;
        self.set("pcap_set_buffer_size", number(options.buffer_bytes))?;
        self.set("pcap_set_tstamp_precision", NANOSECOND_STAMPS)?;
        self.set("pcap_set_tstamp_type", kind)?;
        match self.ask("pcap_activate")? {
            status if status >= 0 => Ok(clock),
            status => Err(Error::Argument(refusal(status, &self.message()))),
        }
    }

    fn filter(&self, expression: &str) -> Result<()> {
        type SetFilter = unsafe extern "C" fn(Handle, *mut BpfProgram) -> c_int;
        let text = filter_text(expression)?;
        // SAFETY: signatures as in <pcap/pcap.h>; libpcap copies the program.
        let status = unsafe {
            let set: SetFilter = self.call("pcap_setfilter")?;
            let mut status = 0;
            with_compiled(&self.library, self.handle, &text, |program| {
                status = set(self.handle, program);
            })
            .map(|()| status)
        };
        match status {
            Ok(0) => Ok(()),
            Ok(_) => Err(not_understood(expression, &self.message())),
            Err(reason) => Err(not_understood(expression, &reason)),
        }
    }
}

/// The best kind of stamps for both directions, or the adapter's own, if that is asked for.
fn stamp_clock(offered: &[c_int], by_adapter: bool) -> Option<(c_int, StampClock)> {
    // libpcap gives an adapter's own time to what it receives, and the host's to what it sends: two
    // clocks in one capture
    if by_adapter {
        let is_offered = offered.contains(&STAMPS_ADAPTER_OWN);
        return is_offered.then_some((STAMPS_ADAPTER_OWN, StampClock::AdapterOwn));
    }
    if offered.contains(&STAMPS_ADAPTER) {
        return Some((STAMPS_ADAPTER, StampClock::Adapter));
    }
    Some((STAMPS_HOST, StampClock::Host))
}

/// Why an interface cannot be captured, and what to do.
fn refusal(status: c_int, message: &str) -> String {
    match status {
        NO_SUCH_DEVICE => format!("there is no such interface{}", interfaces_here()),
        IS_DOWN => "the interface is down; bring it up: ip link set NAME up".into(),
        _ if MAY_NOT.contains(&status) => {
            "capturing needs the capability CAP_NET_RAW, which this process lacks; run as root, or \
             give it: setcap cap_net_raw+ep on the Python interpreter"
                .into()
        }
        _ => format!("libpcap: {message}"),
    }
}

/// The interfaces of this thread's network namespace, for an error.
fn interfaces_here() -> String {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = table.lines().filter_map(|line| line.split_once(':'));
    let names: Vec<&str> = names.map(|(name, _)| name.trim()).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("; there are: {}", names.join(", "))
}

/// An open interface. It is used by the thread that opened it.
pub struct LiveHandle {
    open: OpenHandle,
    dispatch: Dispatch,
    count: Count,
    descriptor: RawFd,
    link: u16,
    clock: StampClock,
    ns_per_tick: i64,
}

impl LiveHandle {
    /// Opens an interface; from here on its packets wait to be read.
    ///
    /// # Errors
    /// There is no libpcap or no such interface, this process may not capture, the filter is not
    /// understood, or the interface cannot stamp as asked.
    pub fn open(options: &LiveOptions) -> Result<Self> {
        let library = open_library(options.extra_library.as_deref())?;
        let open = OpenHandle::create(library, &options.device)?;
        let clock = open.activate(options)?;
        if open.ask("pcap_datalink")? == LINK_COOKED {
            // the second kind says which interface; where libpcap has none, the first stays
            open.set("pcap_set_datalink", LINK_COOKED_2)?;
        }
        if clock == StampClock::AdapterOwn && open.set("pcap_setdirection", DIRECTION_IN)? != 0 {
            return Err(Error::Argument(open.message()));
        }
        if let Some(expression) = &options.filter {
            open.filter(expression)?;
        }
        let is_ns = open.ask("pcap_get_tstamp_precision")? == NANOSECOND_STAMPS;
        // SAFETY: signatures as in <pcap/pcap.h>.
        unsafe {
            let set: unsafe extern "C" fn(Handle, c_int, *mut c_char) -> c_int =
                open.call("pcap_setnonblock")?;
            set(open.handle, 1, [0; ERROR_BYTES].as_mut_ptr());
            Ok(Self {
                dispatch: open.call("pcap_dispatch")?,
                count: open.call("pcap_stats")?,
                descriptor: open.ask("pcap_get_selectable_fd")?,
                link: u16::try_from(open.ask("pcap_datalink")?).unwrap_or_default(),
                clock,
                ns_per_tick: if is_ns { 1 } else { 1000 },
                open,
            })
        }
    }

    /// Link type (`LINKTYPE_…`) of its packets.
    #[must_use]
    pub fn link(&self) -> u16 {
        self.link
    }

    /// Who stamps its packets.
    #[must_use]
    pub fn clock(&self) -> StampClock {
        self.clock
    }

    /// Resolution of its stamps, ns.
    #[must_use]
    pub fn resolution_ns(&self) -> i64 {
        self.ns_per_tick
    }

    /// Waits for packets; false if none came.
    ///
    /// # Errors
    /// The interface cannot be waited for.
    pub fn wait(&self, patience: Duration) -> Result<bool> {
        is_readable(self.descriptor, patience)
            .map_err(|problem| Error::Argument(format!("cannot be waited for: {problem}")))
    }

    /// Hands over packets that wait, some thousand at most, and returns how many there were.
    ///
    /// # Errors
    /// The interface has gone.
    pub fn dispatch<T: FnMut(LivePacket<'_>)>(&mut self, take: &mut T) -> Result<usize> {
        let ticks = self.ns_per_tick;
        let mut handed = (take, ticks);
        let user = (&raw mut handed).cast::<c_void>();
        // SAFETY: `taken` gets back the pointer to `handed`, which lives until dispatch returns.
        let n = unsafe { (self.dispatch)(self.open.handle, MOST_AT_ONCE, taken::<T>, user) };
        usize::try_from(n).map_err(|_| Error::Argument(format!("libpcap: {}", self.open.message())))
    }

    /// What was counted since it was opened.
    ///
    /// # Errors
    /// libpcap cannot tell.
    pub fn counts(&self) -> Result<KernelCounts> {
        let mut counts = KernelCounts::default();
        // SAFETY: the struct is that of <pcap/pcap.h>; other systems than Windows add nothing.
        match unsafe { (self.count)(self.open.handle, &raw mut counts) } {
            0 => Ok(counts),
            _ => Err(Error::Argument(format!("libpcap: {}", self.open.message()))),
        }
    }
}

/// Takes one packet from libpcap.
#[expect(
    clippy::useless_conversion,
    reason = "elsewhere the system counts in other widths"
)]
unsafe extern "C" fn taken<T: FnMut(LivePacket<'_>)>(
    user: *mut c_void,
    header: *const PacketHeader,
    bytes: *const u8,
) {
    // SAFETY: `user` is what `dispatch` gave; header and bytes are libpcap's, for as long as this runs.
    unsafe {
        let (take, ns_per_tick) = &mut *user.cast::<(&mut T, i64)>();
        let header = &*header;
        let ticks = i64::from(header.time.tv_usec).saturating_mul(*ns_per_tick);
        let t_ns = i64::from(header.time.tv_sec).saturating_mul(NS_PER_S);
        take(LivePacket {
            t_ns: t_ns.saturating_add(ticks),
            wire_bytes: header.wire_bytes,
            bytes: std::slice::from_raw_parts(bytes, header.captured_bytes as usize),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_stamps_only_where_one_clock_serves_both_directions() {
        let host = Some((STAMPS_HOST, StampClock::Host));
        assert_eq!(stamp_clock(&[], false), host);
        assert_eq!(stamp_clock(&[0, 1, 2], false), host);
        // received packets by the adapter's clock, sent ones by the host's
        assert_eq!(stamp_clock(&[0, STAMPS_ADAPTER_OWN], false), host);
        let synchronised = Some((STAMPS_ADAPTER, StampClock::Adapter));
        assert_eq!(
            stamp_clock(&[0, STAMPS_ADAPTER, STAMPS_ADAPTER_OWN], false),
            synchronised
        );
        let own = Some((STAMPS_ADAPTER_OWN, StampClock::AdapterOwn));
        assert_eq!(stamp_clock(&[0, STAMPS_ADAPTER_OWN], true), own);
        assert_eq!(stamp_clock(&[0, STAMPS_ADAPTER], true), None);
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        assert!(refusal(-8, "").contains("CAP_NET_RAW"));
        assert!(refusal(-9, "").contains("ip link set"));
        assert!(refusal(-5, "").contains("there are: "));
        assert_eq!(refusal(-1, "odd"), "libpcap: odd");
    }
}
