//! [`WorkerPool`]: requests of an open loop that stand alone.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use units::Time;

use crate::client::attempt::Attempt;
use crate::client::context::ThreadContext;
use crate::client::fetch::{Client, fetch};
use crate::measure::progress::Followed;

/// Tasks that do requests which stand alone, and wait for the next when they have done one.
pub(super) struct WorkerPool {
    thread: Rc<ThreadContext>,
    client: Rc<Client>,
    idle: Rc<RefCell<Vec<Rc<Mailbox>>>>,
    /// How many more tasks there may be.
    vacancies: Cell<u32>,
    waiting: Rc<Waiting>,
}

/// Requests that are due while all tasks of a limited pool are at work.
struct Waiting {
    thread: Rc<ThreadContext>,
    client: Rc<Client>,
    jobs: RefCell<VecDeque<Job>>,
}

/// Where a task of the pool finds its next job.
#[derive(Default)]
struct Mailbox {
    job: RefCell<Option<Job>>,
    waker: Cell<Option<Waker>>,
}

struct Job {
    object: u32,
    intended: Time,
    _followed: Followed,
}

impl WorkerPool {
    /// A pool of at most `most` tasks.
    pub(super) fn new(thread: &Rc<ThreadContext>, most: Option<u32>) -> Self {
        let client = Rc::new(Client::new(thread, 0, None, thread.now()));
        let (jobs, vacancies) = (RefCell::default(), Cell::new(most.unwrap_or(u32::MAX)));
        let waiting = Waiting { thread: Rc::clone(thread), client: Rc::clone(&client), jobs };
        Self { thread: Rc::clone(thread), client, idle: Rc::default(), vacancies, waiting: Rc::new(waiting) }
    }

    /// Has a task send a request for `object`, due at `intended`.
    pub(super) fn give(&self, object: u32, intended: Time) {
        let job = Job { object, intended, _followed: self.thread.progress.follow(intended) };
        let idle = self.idle.borrow_mut().pop();
        if let Some(mailbox) = idle {
            *mailbox.job.borrow_mut() = Some(job);
            if let Some(waker) = mailbox.waker.take() {
                waker.wake();
            }
            return;
        }
        let Some(left) = self.vacancies.get().checked_sub(1) else {
            // The generator is in time; it is the server that keeps the connections.
            self.thread.arrived(intended);
            self.thread.recorder.borrow_mut().queues(intended);
            self.waiting.jobs.borrow_mut().push_back(job);
            return;
        };
        self.vacancies.set(left);
        self.hire(job);
    }

    fn hire(&self, job: Job) {
        let mailbox = Rc::new(Mailbox { job: RefCell::new(Some(job)), waker: Cell::default() });
        let (thread, client, idle, waiting) = (
            Rc::clone(&self.thread),
            Rc::clone(&self.client),
            Rc::clone(&self.idle),
            Rc::clone(&self.waiting),
        );
        self.thread.spawner.spawn(async move {
            loop {
                let job = mailbox.next().await;
                thread.arrived(job.intended);
                // What became of it is in the record.
                let _ = fetch(&thread, &client, job.object, job.intended).await;
                drop(job);
                while let Some(job) = waiting.next() {
                    let _ = fetch(&thread, &client, job.object, job.intended).await;
                }
                idle.borrow_mut().push(Rc::clone(&mailbox));
            }
        });
    }
}

impl Waiting {
    fn next(&self) -> Option<Job> {
        self.jobs.borrow_mut().pop_front()
    }
}

impl Drop for Waiting {
    /// Those whose turn never came are in the record, as cut off.
    fn drop(&mut self) {
        for job in self.jobs.take() {
            if let Some(wanted) = self.thread.plan.objects.get(job.object as usize) {
                drop(Attempt::new(&self.thread, &self.client.user, wanted, job.object, job.intended));
            }
        }
    }
}

impl Mailbox {
    async fn next(&self) -> Job {
        poll_fn(|context| {
            if let Some(job) = self.job.borrow_mut().take() {
                return Poll::Ready(job);
            }
            self.waker.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await
    }
}
