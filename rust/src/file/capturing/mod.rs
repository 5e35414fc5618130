//! Live capture: interfaces of this host, all at once, and streams of other hosts, each point into files
//! of its own.
//!
//! One thread a point. All interfaces are opened before the first packet counts, and read until each has
//! given what it saw before the end: captures of one host cover the same time.

mod interface;
mod point_file;
mod state;
mod stream;

use crate::base::error::{Error, Result};
use crate::base::panics::contained;
use interface::InterfacePoint;
pub use point_file::Ring;
pub use state::PointCounts;
use state::{CaptureSpan, PointState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

/// Where a point's packets come from.
#[derive(Clone, Debug)]
pub enum PointSource {
    /// An interface of this host.
    Interface {
        /// Its name.
        device: String,
        /// The network namespace that it is in, if not this process's.
        namespace: Option<PathBuf>,
        /// Only what it receives is captured, stamped by its adapter's own clock.
        is_stamped_by_adapter: bool,
    },
    /// A capture that comes through a pipe; `-` is standard input.
    Stream(PathBuf),
}

/// A capture point.
#[derive(Clone, Debug)]
pub struct CapturePoint {
    /// Its name.
    pub name: String,
    /// How errors name its source.
    pub source_text: String,
    /// Where its packets come from.
    pub source: PointSource,
    /// Its file, without the ending.
    pub file: PathBuf,
}

/// What is captured, of all points.
#[derive(Clone, Debug, Default)]
pub struct CaptureOptions {
    /// Only these packets, in libpcap's language.
    pub filter: Option<String>,
    /// At most so many bytes of each.
    pub snap_bytes: u32,
    /// The kernel's buffer, of each interface.
    pub buffer_bytes: u32,
    /// All points end with the packet of this number at any one of them.
    pub n_packets: Option<u64>,
    /// All points end so long after they began.
    pub duration_ns: Option<i64>,
    /// Only the last files are kept.
    pub ring: Option<Ring>,
    /// A libpcap that is tried where the system has none.
    pub extra_library: Option<String>,
}

/// Points that are being captured.
pub struct LiveCapture {
    span: Arc<CaptureSpan>,
    states: Vec<Arc<PointState>>,
    threads: Vec<JoinHandle<()>>,
}

impl LiveCapture {
    /// Opens all points, and begins.
    ///
    /// # Errors
    /// One of them cannot be opened; none is captured then, and no file is left.
    pub fn start(points: Vec<CapturePoint>, options: &CaptureOptions) -> Result<Self> {
        let mut capture = Self {
            span: Arc::new(CaptureSpan::new(options.n_packets)),
            states: points.iter().map(|_| Arc::default()).collect(),
            threads: Vec::new(),
        };
        let (ready, opened) = channel();
        let threads = points
            .into_iter()
            .zip(&capture.states)
            .map(|(point, state)| {
                let work = PointWork {
                    point,
                    options: options.clone(),
                    state: Arc::clone(state),
                    span: Arc::clone(&capture.span),
                };
                let ready = ready.clone();
                let named = Builder::new().name("capture".into());
                named.spawn(move || work.run(&ready))
            });
        let threads = threads.collect::<std::io::Result<Vec<_>>>();
        capture.threads = threads.map_err(|_| Error::Threads)?;
        // one answer of each; dropped after an error, `capture` stops the others and waits for them
        let n_points = capture.threads.len();
        opened.iter().take(n_points).collect::<Result<Vec<()>>>()?;
        capture.span.begin(options.duration_ns);
        Ok(capture)
    }

    /// Lets all points end now.
    pub fn stop(&self) {
        self.span.stop();
    }

    /// Waits until all points have ended, and their files are whole.
    pub fn finish(&mut self) {
        for thread in self.threads.drain(..) {
            // a thread that failed has said so in its state
            let _ = thread.join();
        }
    }

    /// What each point has captured so far.
    #[must_use]
    pub fn counts(&self) -> Vec<PointCounts> {
        self.states.iter().map(|state| state.counts()).collect()
    }
}

impl Drop for LiveCapture {
    fn drop(&mut self) {
        self.stop();
        self.finish();
    }
}

/// What the thread of a point does.
struct PointWork {
    point: CapturePoint,
    options: CaptureOptions,
    state: Arc<PointState>,
    span: Arc<CaptureSpan>,
}

impl PointWork {
    fn run(self, ready: &Sender<Result<()>>) {
        let outcome = contained(|| match &self.point.source {
            PointSource::Interface { .. } => self.capture_interface(ready),
            PointSource::Stream(path) => {
                let stream = stream::open(path, Arc::clone(&self.span))?;
                if ready.send(Ok(())).is_ok() && self.span.wait_for_begin() {
                    stream::copy(stream, &self)?;
                }
                Ok(())
            }
        });
        if let Err(problem) = outcome {
            let problem = self.named(&problem);
            self.state.fail(problem.to_string());
            // nobody listens any more once all have begun
            let _ = ready.send(Err(problem));
        }
        self.state.end();
    }

    fn capture_interface(&self, ready: &Sender<Result<()>>) -> Result<()> {
        let mut interface = InterfacePoint::open(self)?;
        if ready.send(Ok(())).is_ok() && self.span.wait_for_begin() {
            interface.capture()?;
        }
        Ok(())
    }

    /// The same error with the point it is of.
    fn named(&self, problem: &Error) -> Error {
        let (name, source) = (&self.point.name, &self.point.source_text);
        Error::Argument(format!("{name}={source}: {problem}"))
    }
}
