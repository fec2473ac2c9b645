//! A server that knows what it does, and when.

use std::hint::black_box;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use record::PhaseName;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use units::{Span, Time};
use watch::requests::Finished;

use crate::{Followed, is_able};

/// A moment, and what this thread had used by then.
#[derive(Clone, Copy)]
struct Moment {
    time: Time,
    cpu: Span,
}

fn now() -> Moment {
    let read = |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    Moment {
        time: Time::from_nanos(read(ClockId::Monotonic)),
        cpu: Span::from_nanos(read(ClockId::ThreadCPUTime)),
    }
}

/// Uses about so much processor time, in user mode but for a look at the clock now and then.
fn burn(time: Duration) {
    let end = now().cpu + Span::from(time);
    while now().cpu < end {
        (0..20_000).for_each(|number| {
            black_box(number);
        });
    }
}

/// What the server knows of a request.
#[derive(Clone, Copy)]
struct Known {
    before_accept: Moment,
    accepted: Moment,
    read: Moment,
    /// Before and after the last part was sent.
    sends: Moment,
    sent: Moment,
    ended: Moment,
}

/// Serves connections of one request each, with costs in each phase.
fn serve(listener: &TcpListener, connections: usize, late: Duration) -> Vec<Known> {
    let serve = |_| {
        std::thread::sleep(late);
        let before_accept = now();
        let (mut stream, _) = listener.accept().unwrap();
        let accepted = now();
        burn(Duration::from_millis(3));
        let mut request = [0; 100];
        assert!(stream.read(&mut request).unwrap() > 0);
        let read = now();
        burn(Duration::from_millis(4));
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
        burn(Duration::from_millis(4));
        let sends = now();
        stream.write_all(&[b'x'; 1000]).unwrap();
        let sent = now();
        burn(Duration::from_millis(2));
        drop(stream);
        Known { before_accept, accepted, read, sends, sent, ended: now() }
    };
    (0..connections).map(serve).collect()
}

/// When each connection was asked for and had been established, as the client saw it.
fn ask(address: SocketAddr, connections: usize) -> JoinHandle<Vec<(Time, Time)>> {
    std::thread::spawn(move || {
        let ask = |_| {
            let before = now().time;
            let mut stream = TcpStream::connect(address).unwrap();
            let after = now().time;
            stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
            (before, after)
        };
        (0..connections).map(ask).collect()
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Another process of the machine that wants the processor of this thread all of the time.
fn compete() -> (Arc<AtomicBool>, JoinHandle<()>) {
    let mut one = CpuSet::new();
    let own = sched_getaffinity(None).unwrap();
    let cpu = (0..CpuSet::MAX_CPU).find(|cpu| own.is_set(*cpu)).unwrap();
    one.set(cpu);
    sched_setaffinity(None, &one).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    let rival = std::thread::spawn(move || while !asked.load(Ordering::Relaxed) {});
    (stop, rival)
}

fn found(told: &[Finished], known: &[Known]) {
    assert_eq!(told.len(), known.len());
    for phase in PhaseName::ALL {
        let span = |known: &Known| match phase {
            PhaseName::Parse => (known.accepted, known.read),
            PhaseName::Process => (known.read, known.sent),
            PhaseName::Log => (known.sent, known.ended),
        };
        let ratios = |of: &dyn Fn(&Finished) -> Span, is: &dyn Fn(Moment, Moment) -> Span| {
            let ratio = |(told, known): (&Finished, &Known)| {
                let (from, to) = span(known);
                of(told).as_secs_f64() / is(from, to).as_secs_f64()
            };
            median(told.iter().zip(known).map(ratio).collect())
        };
        // The thread's own clock has soft interrupts in it.
        let used =
            |told: &Finished| told.used[phase as usize].cpu() + told.used[phase as usize].soft_interrupt;
        let cpu = ratios(&used, &|from, to| to.cpu.saturating_sub(from.cpu));
        let elapsed = ratios(&|told| told.elapsed(phase), &|from, to| to.time.since(from.time));
        println!("{phase:?}: {cpu:.3} of its processor time, {elapsed:.3} of its time");
        assert!((0.95..1.05).contains(&cpu), "{phase:?}: {cpu} of its processor time");
        assert!((0.95..1.05).contains(&elapsed), "{phase:?}: {elapsed} of its time");
    }
}

fn begin() -> (TcpListener, SocketAddr, Followed) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address, Followed::begin(address.port()))
}

#[test]
fn known_costs_are_found_in_each_phase() {
    if !is_able() {
        return;
    }
    let (listener, address, followed) = begin();
    let server = std::thread::spawn(move || serve(&listener, 40, Duration::ZERO));
    let (told, _) = followed.until(ask(address, 40));
    found(&told, &server.join().unwrap());
}

#[test]
fn known_costs_are_found_where_another_competes_for_the_processor() {
    if !is_able() {
        return;
    }
    let (listener, address, followed) = begin();
    let server = std::thread::spawn(move || {
        let (stop, rival) = compete();
        let known = serve(&listener, 40, Duration::ZERO);
        stop.store(true, Ordering::Relaxed);
        rival.join().unwrap();
        known
    });
    let (told, _) = followed.until(ask(address, 40));
    let known = server.join().unwrap();
    let (mut time, mut cpu) = (0.0, 0.0);
    for known in &known {
        time += known.ended.time.since(known.accepted.time).as_secs_f64();
        cpu += known.ended.cpu.saturating_sub(known.accepted.cpu).as_secs_f64();
    }
    assert!(time > 1.5 * cpu, "no thread competed: {time} s for {cpu} s of work");
    found(&told, &known);
}

/// Each moment lies between those that both sides know.
#[test]
fn moments_are_where_client_and_server_saw_them() {
    if !is_able() {
        return;
    }
    let (listener, address, followed) = begin();
    let late = Duration::from_millis(20);
    let server = std::thread::spawn(move || serve(&listener, 10, late));
    let (told, asked) = followed.until(ask(address, 10));
    let known = server.join().unwrap();
    for ((told, known), (before, after)) in told.iter().zip(&known).zip(&asked) {
        let (established, accepted) = (told.established.unwrap(), told.accepted.unwrap());
        assert!((*before..=*after).contains(&established), "{told:?}: {before:?} to {after:?}");
        assert!((known.before_accept.time..=known.accepted.time).contains(&accepted), "{told:?}");
        assert!((known.sends.time..=known.sent.time).contains(&told.sent.unwrap()), "{told:?}");
        // The server was asleep when the first of them came.
        assert!(accepted.since(established) + Span::from_millis(10) > Span::from(late), "{told:?}");
        assert!(told.is_first && told.is_arrival_seen, "{told:?}");
        assert_eq!((told.bytes_received, told.bytes_sent), (18, 1019));
    }
}

/// A client that has waited since before anybody looked.
#[test]
fn a_wait_that_began_earlier_is_known() {
    if !is_able() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let before = now().time;
    let mut stream = TcpStream::connect(address).unwrap();
    let after = now().time;
    let followed = Followed::begin(address.port());
    let server = std::thread::spawn(move || {
        // Until the kernel's clocks have been compared.
        std::thread::sleep(Duration::from_secs(4));
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 100]).unwrap() > 0);
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
    });
    let client = std::thread::spawn(move || {
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        stream.read_to_end(&mut Vec::new()).unwrap();
    });
    let (told, ()) = followed.until(client);
    server.join().unwrap();
    let established = told[0].established.unwrap();
    // To a jiffy, of which there are at least a hundred in a second, unless a hypervisor holds them up.
    let jiffy = Span::from_millis(100);
    assert!(
        established + jiffy >= before && established <= after + jiffy,
        "{established:?}: {before:?} to {after:?}"
    );
}

/// Time in the kernel and outside, by a server that knows what it has asked the kernel for.
#[test]
fn user_and_kernel_are_told_apart() {
    if !is_able() {
        return;
    }
    let (listener, address, followed) = begin();
    let server = std::thread::spawn(move || {
        let serve = |_| {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 100]).unwrap() > 0);
            let begin = now().cpu;
            (0..3_000_000).for_each(|number| {
                black_box(number);
            });
            let user = now().cpu.saturating_sub(begin);
            let begin = now().cpu;
            let mut noise = vec![0; 1 << 20];
            let mut source = std::fs::File::open("/dev/urandom").unwrap();
            (0..3).for_each(|_| source.read_exact(&mut noise).unwrap());
            let kernel = now().cpu.saturating_sub(begin);
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
            (user, kernel)
        };
        (0..20).map(serve).collect::<Vec<_>>()
    });
    let (told, _) = followed.until(ask(address, 20));
    let known = server.join().unwrap();
    let ratios = |told: fn(&Finished) -> Span, known: Vec<Span>, from: &[Finished]| {
        let ratio = |(of, known): (&Finished, Span)| told(of).as_secs_f64() / known.as_secs_f64();
        median(from.iter().zip(known).map(ratio).collect())
    };
    let user = ratios(|told| told.used[1].user, known.iter().map(|(user, _)| *user).collect(), &told);
    let kernel = ratios(|told| told.used[1].kernel, known.iter().map(|(_, kernel)| *kernel).collect(), &told);
    println!("{user:.3} of what it used itself, {kernel:.3} of what the kernel used for it");
    assert!((0.95..1.05).contains(&user) && (0.95..1.05).contains(&kernel), "{user}, {kernel}");
}

/// Many short calls, of which the way into the kernel and out of it is a good part: as the kernel has it, which
/// looks at each of its ticks.
#[test]
fn the_ways_into_the_kernel_and_out_of_it_are_the_kernel_s() {
    if !is_able() {
        return;
    }
    let (listener, address, followed) = begin();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 100]).unwrap() > 0);
        let (before, end) = (ticks(), now().cpu + Span::from_secs(5));
        while now().cpu < end {
            for _ in 0..100 {
                black_box(std::fs::metadata("/").is_ok());
                (0..100).for_each(|number| {
                    black_box(number);
                });
            }
        }
        let after = ticks();
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
        (after.0 - before.0, after.1 - before.1)
    });
    let (told, _) = followed.until(ask(address, 1));
    let (user, kernel) = server.join().unwrap();
    let used = told[0].used[PhaseName::Process as usize];
    let told = used.user.as_secs_f64() / (used.cpu() + used.soft_interrupt).as_secs_f64();
    let known = user / (user + kernel);
    println!("{told:.3} of its time in user mode, {known:.3} by {user} and {kernel} s of ticks");
    // 1,250 ticks have a standard deviation of 0.014, and come in clusters where a hypervisor delays them.
    assert!((told - known).abs() < 0.1, "{told}, {known}");
}

/// What the kernel has charged this thread so far, in user mode and in the kernel, in seconds.
fn ticks() -> (f64, f64) {
    let used = getrusage(UsageWho::RUSAGE_THREAD).unwrap();
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 * 1e-6;
    (seconds(used.user_time()), seconds(used.system_time()))
}
