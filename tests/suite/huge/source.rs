//! A server that sends without end, in a process other than the one that is measured.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a request is answered with.
#[derive(Clone)]
pub enum Answer {
    /// These bytes and the end of the connection.
    Whole(String),
    /// A head, a beginning, and then the same piece over and over.
    Endless { head: &'static str, first: String, piece: Vec<u8> },
}

/// The head of a reply whose events come in chunks.
pub const EVENTS: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

impl Answer {
    /// A whole reply.
    pub fn events(body: &str) -> Self {
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
        Self::Whole(format!("{head}{body}"))
    }

    /// A reply without end.
    pub fn endless(first: impl Into<String>, piece: impl Into<Vec<u8>>) -> Self {
        Self::Endless { head: EVENTS, first: first.into(), piece: piece.into() }
    }
}

/// The server; it stops with the process.
pub struct Source {
    pub address: SocketAddr,
    sent: Arc<AtomicU64>,
}

impl Source {
    /// Answers by the server's address and the path of the request; of an endless answer at most so many bytes are sent.
    pub fn start(most: u64, answer: impl Fn(SocketAddr, &str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let sent = Arc::new(AtomicU64::new(0));
        let (counted, answer) = (sent.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (counted, answer) = (counted.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some(path) = request(&mut stream) else { return };
                    // The other side may go away at any time.
                    let _ = serve(&mut stream, answer(address, &path), most, &counted);
                });
            }
        });
        Self { address, sent }
    }

    /// How much of endless answers was taken, as far as this side knows.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

fn serve(stream: &mut TcpStream, answer: Answer, most: u64, sent: &AtomicU64) -> std::io::Result<()> {
    let (head, first, piece) = match answer {
        Answer::Whole(text) => return stream.write_all(text.as_bytes()),
        Answer::Endless { head, first, piece } => (head, first, piece),
    };
    let is_chunked = head.contains("chunked");
    let framed = |bytes: &[u8]| match is_chunked && !bytes.is_empty() {
        true => [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat(),
        false => bytes.to_vec(),
    };
    stream.write_all(head.as_bytes())?;
    stream.write_all(&framed(first.as_bytes()))?;
    // Large blocks of whole pieces: the sender is not to be what is waited for.
    let block = framed(&piece.repeat((64 * 1_024 / piece.len()).max(1)));
    let mut left = most;
    while left > 0 {
        stream.write_all(&block)?;
        sent.fetch_add(block.len() as u64, Ordering::SeqCst);
        left = left.saturating_sub(block.len() as u64);
    }
    Ok(())
}

/// Reads a request and gives its path.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut block = [0; 16_384];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if bytes.len() >= end + 4 + length.unwrap_or(0) {
                return head.split(' ').nth(1).map(str::to_owned);
            }
        }
        match stream.read(&mut block) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&block[..count]),
        }
    }
}
