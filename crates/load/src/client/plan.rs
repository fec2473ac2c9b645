//! [`Plan`]: the script, made ready to be sent.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;

use bytes::Bytes;
use http::uri::Scheme;
use traffic::{Condition, Place, Retry, Think, Values, Workload};
use units::{Span, Time};

use crate::client::catalogue::{CLOSE, Catalogue};
use crate::client::cookies::Jar;
use crate::client::facts::{LOCATION, RETRY_AFTER};
use crate::client::request::{Fields, OF_A_BODY};
use crate::client::script::Prepared;
use crate::client::user::User;
use crate::client::wanted::{ClassPlan, Wanted};
use crate::error::Error;
use crate::measure::finished::Names;
use crate::settings::options::{Http, Load, Options, Script};

/// For a plain URL; the patience of the clients in the web2k paper, section 4.3.
const DEFAULT_TIMEOUT: Span = Span::from_secs(20);

/// Streams at once on a connection of HTTP/2 in an open loop, and no less than any server allows
/// (RFC 9113, section 6.5.2).
const DEFAULT_STREAMS: u32 = 100;

/// What the requests of a run look like.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) classes: Vec<ClassPlan>,
    /// Everything that may be asked for.
    pub(crate) objects: Vec<Wanted>,
    /// The pages of a session.
    pub(crate) pages: Vec<PagePlan>,
    /// Of the pauses between them.
    pub(crate) seed: u64,
    /// Whether users are followed from page to page, or requests stand alone.
    pub(crate) has_sessions: bool,
    pub(crate) timeout: Span,
    /// What users do whose requests fail.
    pub(crate) retry: Option<Retry>,
    /// Parallel connections of one user.
    pub(crate) connections: usize,
    /// What HTTP/1 calls its version.
    version: &'static str,
    /// The header line that asks the server to keep a connection, where that must be said.
    keep: &'static str,
    pub(crate) is_http2: bool,
    /// Whether requests begin whatever became of those before.
    pub(crate) is_open: bool,
    /// Streams at once on a connection of HTTP/2.
    pub(crate) streams: u32,
    scheme: Scheme,
    /// Sent after the head of every request that has none of its own.
    body: Option<Bytes>,
    /// How absolute URLs of the server begin.
    pub(crate) site: String,
    /// How many redirects of a request are followed.
    pub(crate) redirects: u32,
    /// The script of sessions, which says what they know when they begin.
    workload: Option<Arc<Workload>>,
    /// What an access log asks for, in its order.
    pub(crate) sequence: Vec<u32>,
}

/// What becomes of a connection of HTTP/1 after a request (RFC 9112, section 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Persistence {
    Keep,
    /// No other request follows.
    Close,
}

/// Numbers are those of objects.
#[derive(Debug)]
pub(crate) struct PagePlan {
    pub(crate) page: u32,
    pub(crate) embedded: Vec<u32>,
    pub(crate) think: Think,
    /// What must hold for it to be asked for.
    pub(crate) conditions: Vec<Condition>,
}

impl Plan {
    /// The classes that sessions are told apart by; none where requests stand alone.
    pub(crate) fn session_classes(&self) -> &[ClassPlan] {
        if self.has_sessions { &self.classes } else { &[] }
    }

    pub(crate) fn new(options: &Options) -> Self {
        let mut catalogue = Catalogue::new(options);
        let mut plan = Self {
            classes: vec![ClassPlan::only(catalogue.fields.clone())],
            objects: Vec::new(),
            pages: Vec::new(),
            seed: options.seed,
            has_sessions: options.has_sessions(),
            timeout: options.timeout.unwrap_or(DEFAULT_TIMEOUT),
            retry: None,
            connections: 1,
            version: catalogue.version,
            keep: catalogue.keep,
            is_http2: options.protocol.http == Http::Http2,
            is_open: !matches!(options.load, Load::Closed { .. }),
            streams: options.protocol.pipeline.map_or(DEFAULT_STREAMS, NonZeroU32::get),
            scheme: if options.target.is_tls() { Scheme::HTTPS } else { Scheme::HTTP },
            body: options.request.body.clone().filter(|body| !body.is_empty()),
            site: options.target.site(),
            redirects: options.protocol.redirects,
            workload: None,
            sequence: Vec::new(),
        };
        match &options.script {
            Script::Url => {
                catalogue.add(&Arc::from(options.target.path()), None);
            }
            Script::Sessions { workload, .. } => plan.add_sessions(workload, options, &mut catalogue),
            Script::Model(model) => {
                for object in model.objects() {
                    let number = catalogue.add(&object.url, Some(object.length));
                    if let Some(wanted) = catalogue.objects.get_mut(number as usize) {
                        wanted.content = options.checks.content.then(|| object.clone());
                    }
                }
            }
            Script::Trace(trace) => {
                catalogue.add_logged(&trace.objects);
                plan.sequence = trace.requests.iter().map(|request| request.object).collect();
            }
        }
        plan.objects = catalogue.objects;
        plan
    }

    fn add_sessions(&mut self, workload: &Workload, options: &Options, catalogue: &mut Catalogue<'_>) {
        self.timeout = options.timeout.unwrap_or(workload.timeout);
        self.connections = workload.connections;
        self.retry = workload.retry;
        self.classes = workload
            .classes
            .iter()
            .map(|class| ClassPlan {
                name: Arc::clone(&class.name),
                share: class.share,
                cookie: class.cookie.clone(),
                source: class.address,
                fields: catalogue.fields.with(&class.headers),
                is_plain: class.headers.is_empty(),
            })
            .collect();
        self.pages = workload
            .pages
            .iter()
            .map(|page| PagePlan {
                page: catalogue.add_page(page, &self.classes, &workload.taken, options),
                embedded: page.embedded.iter().map(|url| catalogue.add(url, None)).collect(),
                think: page.think,
                conditions: page.conditions.clone(),
            })
            .collect();
        self.workload = Some(Arc::new(workload.clone()));
    }

    /// A user of class number `class`, in the session of this number; without values where the data has no row for it.
    pub(crate) fn user(&self, class: usize, session: Option<u64>) -> User {
        let cookie = self.classes.get(class).and_then(|class| class.cookie.as_ref());
        let values = self.workload.as_ref().zip(session);
        let values = values.and_then(|(workload, number)| Values::of_session(workload, self.seed, number));
        User { class, session, jar: RefCell::new(Jar::new(cookie)), values: RefCell::new(values) }
    }

    /// What is sent after the head of a request.
    pub(crate) fn body<'b>(
        &'b self,
        wanted: &'b Wanted,
        prepared: Option<&'b Prepared>,
    ) -> Option<&'b Bytes> {
        match (prepared, &wanted.logged) {
            (Some(prepared), _) => prepared.body.as_ref(),
            (None, Some(logged)) => logged.body.as_ref(),
            (None, None) => self.body.as_ref(),
        }
    }

    /// The head of a request for HTTP/1 of `user`, sent `now`.
    pub(crate) fn http1_head(
        &self,
        wanted: &Wanted,
        prepared: Option<&Prepared>,
        user: &User,
        persistence: Persistence,
        now: Time,
    ) -> Bytes {
        let jar = user.jar.borrow();
        let connection = match persistence {
            Persistence::Keep => self.keep,
            Persistence::Close => CLOSE,
        };
        if let Some((prepared, fields)) = self.fields_for(wanted, prepared, user) {
            let line = format!("{} {} HTTP/{}\r\n", prepared.method, prepared.url, self.version);
            let cookies = fields.cookies(&jar, &prepared.url, now);
            return fields.http1_head(line.as_bytes(), connection.as_bytes(), &cookies, &prepared.fields);
        }
        match self.classes.get(user.class) {
            Some(class) if !class.is_plain || !jar.is_empty() => {
                let cookies = class.fields.cookies(&jar, &wanted.url, now);
                class.fields.http1_head(&wanted.line, connection.as_bytes(), &cookies, &[])
            }
            _ => match persistence {
                Persistence::Keep => wanted.head.clone(),
                Persistence::Close => wanted.last_head.clone(),
            },
        }
    }

    /// The head of a request for HTTP/2 of `user`, sent `now`; `None` where HTTP/2 cannot say it.
    pub(crate) fn http2_head(
        &self,
        wanted: &Wanted,
        prepared: Option<&Prepared>,
        user: &User,
        now: Time,
    ) -> Option<http::Request<()>> {
        let jar = user.jar.borrow();
        if let Some((prepared, fields)) = self.fields_for(wanted, prepared, user) {
            let cookies = fields.cookies(&jar, &prepared.url, now);
            let path = prepared.url.parse().ok();
            return fields.http2_head(
                &prepared.method,
                &self.scheme,
                path.as_ref(),
                &cookies,
                &prepared.fields,
            );
        }
        let fields = self.plain_fields(wanted, user)?;
        let cookies = fields.cookies(&jar, &wanted.url, now);
        let more = wanted.logged.as_ref().map_or(&[][..], |logged| &logged.more);
        fields.http2_head(&wanted.method, &self.scheme, wanted.path.as_ref(), &cookies, more)
    }

    /// What is sent once, and the fields of all that is sent like it.
    fn fields_for<'p>(
        &'p self,
        wanted: &'p Wanted,
        prepared: Option<&'p Prepared>,
        user: &User,
    ) -> Option<(&'p Prepared, Cow<'p, Fields>)> {
        let prepared = prepared?;
        let fields = wanted.fields_of(user).or_else(|| self.plain_fields(wanted, user))?;
        let bare = || Cow::Owned(fields.without(&OF_A_BODY));
        Some((prepared, if prepared.is_bare { bare() } else { Cow::Borrowed(fields) }))
    }

    /// The fields of what is sent in the same way each time.
    fn plain_fields<'p>(&'p self, wanted: &'p Wanted, user: &User) -> Option<&'p Fields> {
        match &wanted.logged {
            Some(logged) => Some(&logged.fields),
            None => self.classes.get(user.class).map(|class| &class.fields),
        }
    }

    /// What the server is called in requests of `user` for what is `wanted`.
    pub(crate) fn authority<'p>(&'p self, wanted: &'p Wanted, user: &User) -> &'p str {
        self.plain_fields(wanted, user).and_then(Fields::authority).unwrap_or_default()
    }

    /// Keeps what cookies the answer to a request of `user` for `url` has set, `now`.
    pub(crate) fn keep_cookies(&self, url: &str, user: &User, set: &[String], now: Time) {
        let Some(class) = self.classes.get(user.class) else { return };
        let mut jar = user.jar.borrow_mut();
        set.iter().for_each(|header| class.fields.keep_cookie(&mut jar, header, url, now));
    }

    /// Names of the fields of responses that something is taken from.
    pub(crate) fn taken_fields(&self) -> Vec<String> {
        let takes =
            self.objects.iter().filter_map(|wanted| wanted.script.as_ref()).flat_map(|script| script.takes());
        let names = takes.filter_map(|take| match &take.place {
            Place::Header(name) => Some(name.clone()),
            Place::Json(_) | Place::Pattern(_) => None,
        });
        let location = (self.redirects > 0).then(|| LOCATION.to_owned());
        let heeded = self.retry.is_some_and(|retry| retry.heeds_retry_after);
        let asked = heeded.then(|| RETRY_AFTER.to_owned());
        names.chain(location).chain(asked).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// What rows of the record call what was asked for, and classes.
    pub(crate) fn names(&self) -> Names {
        Names {
            objects: self.objects.iter().map(|wanted| Arc::clone(&wanted.url)).collect(),
            methods: self.objects.iter().map(|wanted| Arc::from(wanted.method().as_str())).collect(),
            classes: self.classes.iter().map(|class| Arc::clone(&class.name)).collect(),
        }
    }

    /// The longest that a session, or a request that stands alone, can take.
    pub(crate) fn longest(&self) -> Span {
        let rounds = |page: &PagePlan| 1 + page.embedded.len().div_ceil(self.connections) as u64;
        let once = self.timeout * (1 + u64::from(self.redirects));
        let request =
            once + self.retry.map_or(Span::ZERO, |retry| once * u64::from(retry.times) + retry.longest());
        let pages: Span = self.pages.iter().map(|page| page.think.longest() + request * rounds(page)).sum();
        pages.max(request)
    }

    /// Refuses source addresses from which the target cannot be reached.
    pub(crate) fn check_sources(&self, target: SocketAddr) -> Result<(), Error> {
        for class in &self.classes {
            if let Some(source) = class.source.filter(|source| source.is_ipv4() != target.is_ipv4()) {
                return Err(Error::SourceAddress {
                    class: class.name.to_string(),
                    source_address: source,
                    target,
                });
            }
        }
        Ok(())
    }
}
