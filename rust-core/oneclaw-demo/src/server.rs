//! Listening and connections.

use crate::config::Config;
use crate::log::{Exchange, Log};
use crate::script::Step;
use crate::service::{Connection, Service};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use oneclaw_model::ProviderKind;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};

/// Connections at the same time; more wait until one is closed.
const MOST_CONNECTIONS: usize = 256;
/// How long the headers of a request may take.
const HEADER_PATIENCE: Duration = Duration::from_secs(30);
/// After a failed accept (too many open files, say) it is tried again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A running model server. Dropping it stops it.
pub struct Server {
    address: SocketAddr,
    service: Arc<Service>,
    log: Arc<Log>,
    open: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    listener: JoinHandle<()>,
}

impl Server {
    /// Starts listening on 127.0.0.1. Needs a Tokio runtime with I/O and time.
    pub async fn start(config: Config) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port)).await?;
        let address = listener.local_addr()?;
        let log = Arc::new(Log::default());
        let service = Arc::new(Service::new(config, Arc::clone(&log)));
        let open = Arc::new(AtomicUsize::new(0));
        let (stop, stopped) = oneshot::channel();
        let listener = tokio::spawn(listen(listener, Arc::clone(&service), Arc::clone(&open), stopped));
        Ok(Self { address, service, log, open, stop: Some(stop), listener })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL for a protocol, to which clients add `/chat/completions`, `/messages` or `/models/…`.
    pub fn base_url(&self, kind: ProviderKind) -> String {
        let version = match kind {
            ProviderKind::OpenAi | ProviderKind::Anthropic => "v1",
            ProviderKind::Gemini => "v1beta",
        };
        format!("http://{}/{version}", self.address)
    }

    /// What was asked and answered so far.
    pub fn log(&self) -> Vec<Exchange> {
        self.log.all()
    }

    /// Connections that are open now.
    pub fn open_connections(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// Adds a step to the end of the script.
    pub fn push(&self, step: Step) {
        self.service.push(step);
    }

    /// From now on every request for a summary gets this, and leaves the script alone; `None` treats all alike again.
    pub fn set_summaries(&self, step: Option<Step>) {
        self.service.set_summaries(step);
    }

    /// From now on every request for the size of a prompt gets this: a fault, the usage of [`Step::Usage`] in place of the real
    /// size, or the text of [`Step::Reply`] where the number should stand. It leaves the script alone; `None` lets them be
    /// answered again.
    pub fn set_counts(&self, step: Option<Step>) {
        self.service.set_counts(step);
    }

    /// Stops listening, breaks all connections and waits until they are gone.
    pub async fn stop(mut self) {
        if let Some(stop) = self.stop.take() {
            // It fails only if the listener is gone already.
            let _ = stop.send(());
        }
        let _ = (&mut self.listener).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The listener owns the connections; they end with it.
        self.listener.abort();
    }
}

async fn listen(
    listener: TcpListener,
    service: Arc<Service>,
    open: Arc<AtomicUsize>,
    mut stopped: oneshot::Receiver<()>,
) {
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accepted = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            // An error means that the server was dropped.
            _ = &mut stopped => break,
            accepted = accepted => accepted,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                let guard = Guard::new(Arc::clone(&open));
                let serving = serve(stream, Arc::clone(&service));
                connections.spawn(async move {
                    serving.await;
                    drop((guard, place));
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    connections.shutdown().await;
}

async fn serve(stream: TcpStream, service: Arc<Service>) {
    // Small events are to leave at once; without it they would only be slower.
    let _ = stream.set_nodelay(true);
    let connection = Connection::default();
    let io = Resettable { stream, is_reset: connection.is_reset() };
    let answer = service_fn(move |request| Arc::clone(&service).answer(request, connection.clone()));
    // Errors are the caller's: it went away, sent no HTTP, or a fault broke the connection.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .serve_connection(TokioIo::new(io), answer)
        .await;
}

/// Counts a connection for as long as it lives.
struct Guard(Arc<AtomicUsize>);

impl Guard {
    fn new(open: Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::SeqCst);
        Self(open)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A connection that can be told to end with a reset instead of in order.
struct Resettable {
    stream: TcpStream,
    is_reset: Arc<AtomicBool>,
}

impl Drop for Resettable {
    fn drop(&mut self) {
        if self.is_reset.load(Ordering::SeqCst) {
            // Where it cannot be set, the connection ends in order.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Resettable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Resettable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
