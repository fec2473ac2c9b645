//! [`Scenario`]: one world, drawn from a seed.

use std::time::Duration;

use gate::simulate::Faults;

use crate::draw::Draw;
use crate::page::Manner;

/// What goes wrong in a world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    /// Nothing but load.
    Calm,
    /// Connections break, go silent, and carry small pieces.
    Network,
    /// Servers break off, answer early (and close the connection then), or never.
    Servers,
    /// Clients send garbage, send slowly, read slowly, leave.
    Clients,
    /// All of it.
    Everything,
}

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manners {
    /// Asks for pages one after the other over HTTP/1.1, with pauses, on a connection that is kept.
    Visitor,
    /// The same over HTTP/2, several pages at once.
    Multiplexing,
    /// Sends bodies.
    Uploader,
    /// Sends several requests before the first answer.
    Pipelining,
    /// Leaves before its answer has come.
    Impatient,
    /// Reads the answer a few bytes at a time.
    SlowReader,
    /// Sends the head of its request a few bytes at a time.
    SlowHead,
    /// Sends bytes that are not HTTP.
    Garbage,
}

/// A world as it is drawn.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// What it is drawn from.
    pub seed: u64,
    /// What goes wrong.
    pub weather: Weather,
    /// The gate's configuration.
    pub config: String,
    /// Servers behind it.
    pub servers: usize,
    /// Requests that each server works on at once; more wait inside it.
    pub workers: usize,
    /// Whether servers speak HTTP/2.
    pub http2_upstream: bool,
    /// The mean work of a page.
    pub work: Duration,
    /// Clients that arrive per second.
    pub rate: f64,
    /// The mean pause of a client between two pages.
    pub pause: Duration,
    /// What the network does.
    pub faults: Faults,
    /// How servers answer, with weights.
    pub manners_of_servers: Vec<(f64, Manner)>,
    /// What clients do, with weights.
    pub manners_of_clients: Vec<(f64, Manners)>,
    /// The window's upper bound.
    pub max_window: u32,
    /// How long the gate waits for a server.
    pub timeout: Duration,
}

impl Scenario {
    /// The world of `seed`.
    pub fn draw(seed: u64) -> Self {
        let mut draw = Draw::new(seed, 0);
        let weather = draw.choose(&[
            (2.0, Weather::Calm),
            (1.0, Weather::Network),
            (1.0, Weather::Servers),
            (1.0, Weather::Clients),
            (1.0, Weather::Everything),
        ]);
        let servers = draw.choose(&[(3.0, 1), (1.0, 2), (1.0, 3)]);
        let workers = draw.number(1..9) as usize;
        let work = Duration::from_millis(draw.spread(20.0, 20_000.0) as u64);
        // From a twentieth of what the servers can do to three times as much; a visit has four pages in the mean.
        let load = draw.spread(0.05, 3.0);
        let rate = load * (servers * workers) as f64 / work.as_secs_f64() / 4.0;
        let max_window = draw.number(1..33) as u32;
        let http2_upstream = draw.happens(0.2);
        let timeout = Duration::from_secs(draw.number(100..400));
        Self {
            seed,
            weather,
            config: configuration(&mut draw, servers, max_window, timeout, http2_upstream),
            servers,
            workers,
            http2_upstream,
            work,
            rate,
            pause: Duration::from_millis(draw.spread(500.0, 30_000.0) as u64),
            faults: faults(&mut draw, weather),
            manners_of_servers: manners_of_servers(weather),
            manners_of_clients: manners_of_clients(weather),
            max_window,
            timeout,
        }
    }

    /// The longest work of a page: with all that may be before it in its server, less than the gate waits.
    pub fn max_work(&self) -> Duration {
        let before = self.max_window.div_ceil(self.workers as u32);
        self.timeout / (before + 2)
    }

    /// Whether an answer of the gate's own that blames the server or the network is a fault of the gate.
    pub fn is_blameless(&self) -> bool {
        matches!(self.weather, Weather::Calm | Weather::Clients)
    }
}

fn configuration(draw: &mut Draw, servers: usize, max_window: u32, timeout: Duration, http2: bool) -> String {
    let window = if draw.happens(0.5) {
        format!("{max_window}")
    } else {
        format!("{{ min = 1, initial = {}, max = {max_window} }}", max_window.min(4))
    };
    let servers: Vec<_> = (0..servers)
        .map(|index| format!("[[upstream.server]]\naddress = '10.0.1.{}:80'\n", index + 1))
        .collect();
    format!(
        "listen = '10.0.0.1:80'\nadmin = '127.0.0.1:0'\nwindow = {window}\ndifferentiation = {:.2}\nfavour = {:.2}\n\
         [limits]\nconnections = {}\nstreams = {}\n\
         [upstream]\nhttp = {}\ntimeout = '{}s'\n{}\
         [session]\nsecret = 'a secret of sixteen bytes and more'\n\
         [[class]]\nname = 'premium'\n[[class]]\nname = 'basic'\n[[rule]]\nclass = 'premium'\ncookie = 'tier=premium'\n",
        draw.spread(0.01, 1.0),
        draw.spread(0.01, 1.0),
        draw.number(20..300),
        draw.number(20..300),
        if http2 { 2 } else { 1 },
        timeout.as_secs(),
        servers.concat(),
    )
}

fn faults(draw: &mut Draw, weather: Weather) -> Faults {
    let delay = Duration::ZERO..Duration::from_millis(draw.spread(1.0, 200.0) as u64);
    let broken = matches!(weather, Weather::Network | Weather::Everything);
    let share = |draw: &mut Draw| if broken { draw.spread(0.001, 0.1) } else { 0.0 };
    Faults {
        delay,
        pieces: draw.spread(0.01, 1.0),
        resets: share(draw),
        silences: share(draw) / 5.0,
        lost: share(draw),
    }
}

fn manners_of_servers(weather: Weather) -> Vec<(f64, Manner)> {
    let mut manners = vec![(10.0, Manner::Whole), (4.0, Manner::Chunks), (0.3, Manner::Error)];
    if matches!(weather, Weather::Servers | Weather::Everything) {
        manners.extend([
            (1.0, Manner::Early),
            (0.5, Manner::Cut),
            (0.5, Manner::Nothing),
            (0.1, Manner::Never),
        ]);
    }
    manners
}

fn manners_of_clients(weather: Weather) -> Vec<(f64, Manners)> {
    let mut manners = vec![
        (6.0, Manners::Visitor),
        (2.0, Manners::Multiplexing),
        (2.0, Manners::Uploader),
        (1.0, Manners::Pipelining),
    ];
    if matches!(weather, Weather::Clients | Weather::Everything) {
        manners.extend([
            (2.0, Manners::Impatient),
            (0.5, Manners::SlowReader),
            (1.0, Manners::SlowHead),
            (0.5, Manners::Garbage),
        ]);
    }
    manners
}
