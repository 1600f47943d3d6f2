//! Sessions under tokio: a task per connection, on a work-stealing runtime or on one runtime per
//! core.

use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use anyhow::Context as _;
use crossbeam_channel::Receiver;
use fulgurite_ldap::MessageId;
use fulgurite_server::{CheckId, Handler, Job, ServerSettings, Session, Turn};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::mpsc;

const READ_BYTES: usize = 16 * 1024;

/// Messages to a connection from other threads.
enum Mail<H: Handler> {
    Updated(MessageId, Vec<u8>),
    PasswordChecked(CheckId, H::PasswordResult),
}

type Sender<H> = mpsc::UnboundedSender<Mail<H>>;

/// A job with the way back.
type Queued<H> = (Job<H>, Sender<H>);

/// The state that all connections share.
struct Server<H: Handler + 'static> {
    handler: &'static H,
    settings: &'static ServerSettings,
    jobs: crossbeam_channel::Sender<Queued<H>>,
}

impl<H: Handler> Clone for Server<H> {
    fn clone(&self) -> Self {
        Server {
            handler: self.handler,
            settings: self.settings,
            jobs: self.jobs.clone(),
        }
    }
}

pub(crate) fn work_stealing<H>(
    listener: TcpListener,
    handler: &'static H,
    settings: &'static ServerSettings,
) -> anyhow::Result<()>
where
    H: Handler + Send,
    for<'h> H::Search<'h>: Send,
    H::Identity: Sync,
{
    let server = Server {
        handler,
        settings,
        jobs: spawn_writer(handler),
    };
    let runtime = Builder::new_multi_thread()
        .worker_threads(settings.workers)
        .enable_io()
        .build()
        .context("cannot start tokio")?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(serve(stream, server.clone()));
        }
    })
}

pub(crate) fn per_core<H>(
    listener: TcpListener,
    handler: &'static H,
    settings: &'static ServerSettings,
) -> anyhow::Result<()>
where
    H: Handler + Send,
{
    let jobs = spawn_writer(handler);
    let mut cores = Vec::new();
    for _ in 0..settings.workers {
        let (sender, mut streams) = mpsc::unbounded_channel::<std::net::TcpStream>();
        cores.push(sender);
        let server = Server {
            handler,
            settings,
            jobs: jobs.clone(),
        };
        thread::spawn(move || -> anyhow::Result<()> {
            let runtime = Builder::new_current_thread().enable_io().build()?;
            tokio::task::LocalSet::new().block_on(&runtime, async {
                while let Some(stream) = streams.recv().await {
                    let stream = TcpStream::from_std(stream)?;
                    tokio::task::spawn_local(serve(stream, server.clone()));
                }
                Ok(())
            })
        });
    }
    for core in cores.iter().cycle() {
        let (stream, _) = listener.accept()?;
        stream.set_nonblocking(true)?;
        core.send(stream).ok().context("a thread has ended")?;
    }
    Ok(())
}

/// Applies updates in batches and verifies passwords; enough for a comparison of reads.
fn spawn_writer<H: Handler + Send>(handler: &'static H) -> crossbeam_channel::Sender<Queued<H>> {
    let (sender, queue): (_, Receiver<Queued<H>>) = crossbeam_channel::unbounded();
    thread::spawn(move || {
        while let Ok(first) = queue.recv() {
            let (mut origins, mut updates) = (Vec::new(), Vec::new());
            for (job, back) in std::iter::once(first).chain(queue.try_iter().take(1023)) {
                match job {
                    Job::Update(id, token, update) if token.begin() => {
                        origins.push((id, back));
                        updates.push(update);
                    }
                    // No table of failed binds is set, so no answer is held. No read waits, because
                    // the server is no node of a cluster.
                    Job::Update(..) | Job::HoldBind(..) | Job::AwaitState(..) => {}
                    Job::CheckPassword(number, check) => {
                        let verdict = handler.check_password(check);
                        let _ = back.send(Mail::PasswordChecked(number, verdict));
                    }
                }
            }
            for ((id, back), response) in origins.into_iter().zip(handler.apply(updates)) {
                let _ = back.send(Mail::Updated(id, response));
            }
        }
    });
    sender
}

async fn serve<H: Handler>(mut stream: TcpStream, server: Server<H>) {
    // The client has gone: nobody to tell.
    let _ = converse(&mut stream, &server).await;
}

async fn converse<H: Handler>(stream: &mut TcpStream, server: &Server<H>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let (mut reader, mut writer) = stream.split();
    let (back, mut mail) = mpsc::unbounded_channel();
    let mut session = Session::new(
        server.handler,
        Arc::new(server.settings.session.clone()),
        None,
        Arc::default(),
    );
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let turn = session.turn();
        for job in session.take_jobs() {
            let _ = server.jobs.send((job, back.clone()));
        }
        while !session.unsent().is_empty() {
            let count = writer.write(session.unsent()).await?;
            session.sent(count);
        }
        match turn {
            Turn::Closing => return Ok(()),
            Turn::More | Turn::OutputFull => tokio::task::yield_now().await,
            Turn::Waits => {
                let wants_input = session.wants_input();
                tokio::select! {
                    read = reader.read(&mut buffer), if wants_input => match read? {
                        0 => session.end_of_input(),
                        count => session.receive(buffer.get(..count).unwrap_or_default()),
                    },
                    Some(mail) = mail.recv() => match mail {
                        Mail::Updated(id, response) => session.updated(id, &response),
                        Mail::PasswordChecked(number, verdict) => {
                            session.password_checked(number, Some(verdict));
                        }
                    },
                }
            }
        }
    }
}
