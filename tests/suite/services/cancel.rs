//! Whoever no longer listens hangs up.

use super::*;
use oneclaw_demo::{Ending, Fault};
use tokio::time::timeout;

/// A server that takes its time.
async fn slow() -> Server {
    let script = vec![Step::Reply("word ".repeat(2_000))];
    serve(Config { script, delay: Duration::from_millis(20), ..config(128_000, 8_192, &[]) }).await
}

/// The client lives on; the connection does not.
async fn hung_up(server: &Server) {
    eventually("the connection stays open", || server.open_connections() == 0).await;
    // It may have been at work on the answer when it was left.
    eventually("the server works on", || server.log()[0].ending != Ending::Open).await;
    let endings: Vec<Ending> = server.log().iter().map(|exchange| exchange.ending).collect();
    assert_eq!(endings, [Ending::ClosedEarly]);
}

#[tokio::test]
async fn a_stream_that_is_dropped_midway() {
    for kind in KINDS {
        let server = slow().await;
        let client = client();
        let asked = Request { max_output: Some(8_000), ..hello() };
        let mut stream = client
            .stream(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model(kind)), &asked)
            .await
            .unwrap();
        let mut said = Said::default();
        while said.text.len() < 30 {
            said.take(stream.next().await.unwrap().unwrap());
        }
        assert_eq!((server.open_connections(), server.log()[0].ending), (1, Ending::Open));
        drop(stream);
        hung_up(&server).await;
        drop(client);
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_waits() {
    for kind in KINDS {
        let server = scripted(vec![Step::Fault(Fault::Stall)]).await;
        let client = client();
        let asked = hello();
        let endpoint = endpoint(&server, kind);
        let waiting = timeout(
            Duration::from_millis(100),
            client.stream(&endpoint, &Profile::of(&endpoint, model(kind)), &asked),
        )
        .await;
        assert!(waiting.is_err());
        hung_up(&server).await;
        drop(client);
    }
}

#[tokio::test]
async fn a_completion_that_is_dropped_midway() {
    for kind in KINDS {
        let server = slow().await;
        let client = client();
        let asked = hello();
        let endpoint = endpoint(&server, kind);
        let waiting = timeout(
            Duration::from_millis(150),
            client.complete(&endpoint, &Profile::of(&endpoint, model(kind)), &asked),
        )
        .await;
        assert!(waiting.is_err());
        hung_up(&server).await;
        drop(client);
    }
}

/// A reply that was read to its end leaves the connection for the next one.
#[tokio::test]
async fn a_reply_that_is_over_keeps_the_connection() {
    for kind in KINDS {
        let server = scripted(vec![]).await;
        let client = client();
        for _ in 0..3 {
            let stream = client
                .stream(
                    &endpoint(&server, kind),
                    &Profile::of(&endpoint(&server, kind), model(kind)),
                    &hello(),
                )
                .await
                .unwrap();
            assert_eq!(rest(stream).await.stop, Some(StopReason::End));
            assert_eq!(server.open_connections(), 1, "{kind:?}");
        }
        assert!(server.log().iter().all(|exchange| exchange.ending == Ending::Whole));
        drop(client);
        eventually("the connection stays open", || server.open_connections() == 0).await;
    }
}
