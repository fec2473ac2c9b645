//! From TOML to a model.

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use config::{Error, Source, Spanned};
use units::{Bytes, Ratio, Span};

use super::entries::{
    CallEntry, ClassEntry, EquipmentEntry, File, PatienceEntry, RetriesEntry, SlowClientsEntry, TierEntry,
};
use crate::draw::{Samples, Service, ServiceError, Traced};
use crate::model::{
    Call, Class, Discipline, Model, Offered, Pace, Patience, Quota, Retries, Size, SlowClients, Tier,
};

/// What one key of the file does to a model, and where it stands.
struct Setting {
    place: Range<usize>,
    set: Box<dyn Fn(&mut Model)>,
}

fn service(source: &Source, text: &Spanned<String>) -> Result<Service, Error> {
    text.get_ref().parse().map_err(|why: ServiceError| source.error(text.span(), why.to_string()))
}

fn called(source: &Source, call: CallEntry, tiers: &[String]) -> Result<Call, Error> {
    let CallEntry { tier, demand, share, times } = call;
    let name = tier.get_ref();
    let at = tiers.iter().position(|other| other == name).ok_or_else(|| {
        let why = source.error(tier.span(), format!("tier \"{name}\" is not defined"));
        why.mend(format!("define it, as in [[tier]] name = \"{name}\" threads = 20"))
    })?;
    Ok(Call { tier: at, demand: demand.as_secs_f64(), share: share.map_or(1.0, Ratio::as_f64), times })
}

pub(super) fn parse(source: &Source, directory: &Path) -> Result<Model, Error> {
    let file: File = source.parse()?;
    let mut settings = Settings::default();
    settings.requests(source, &file, directory)?;
    settings.server(source, &file)?;
    settings.slow_clients(source, &file)?;
    let tiers = settings.tiers(source, file.tiers)?;
    settings.classes(source, file.classes, &tiers, directory)?;
    settings.checked(source)
}

#[derive(Default)]
struct Settings {
    list: Vec<Setting>,
    own_classes: bool,
}

impl Settings {
    fn add(&mut self, place: Range<usize>, set: impl Fn(&mut Model) + 'static) {
        self.list.push(Setting { place, set: Box::new(set) });
    }

    fn add_value<T: Copy + 'static>(&mut self, value: Option<&Spanned<T>>, set: fn(&mut Model, T)) {
        if let Some(value) = value {
            let given = *value.get_ref();
            self.add(value.span(), move |model| set(model, given));
        }
    }

    /// A value that has a text of its own, such as `h2:3`.
    fn add_text<T>(
        &mut self,
        source: &Source,
        text: Option<&Spanned<String>>,
        set: fn(&mut Model, T),
    ) -> Result<(), Error>
    where
        T: FromStr + Clone + 'static,
        T::Err: fmt::Display,
    {
        if let Some(text) = text {
            let value: T =
                text.get_ref().parse().map_err(|why: T::Err| source.error(text.span(), why.to_string()))?;
            self.add(text.span(), move |model| set(model, value.clone()));
        }
        Ok(())
    }

    fn requests(&mut self, source: &Source, file: &File, directory: &Path) -> Result<(), Error> {
        let named = |text: &Spanned<String>| Traced::named(text.get_ref(), directory);
        match file.arrivals.as_ref().and_then(|text| Some((text, named(text)?))) {
            Some((text, traced)) => {
                let traced = traced.map_err(|why| source.error(text.span(), why.to_string()))?;
                self.add(text.span(), move |model| {
                    model.arrivals = traced.arrivals.clone();
                    // A rate or a load that the file has counts for more.
                    model.offered = Offered::Rate(traced.rate);
                });
            }
            None => {
                self.add_text(source, file.arrivals.as_ref(), |model, arrivals| model.arrivals = arrivals)?
            }
        }
        let given = [
            ("load", file.load.as_ref().map(Spanned::span)),
            ("rate", file.rate.as_ref().map(Spanned::span)),
            ("clients", file.clients.as_ref().map(Spanned::span)),
        ];
        let mut given = given.into_iter().filter_map(|(name, place)| place.map(|place| (name, place)));
        if let (Some((one, _)), Some((other, place))) = (given.next(), given.next()) {
            return Err(source
                .error(place, format!("{one} and {other} both say how many requests there are"))
                .mend("keep one of them"));
        }
        self.add_value(file.load.as_ref(), |model, load| model.offered = Offered::Load(load));
        self.add_value(file.rate.as_ref(), |model, rate| model.offered = Offered::Rate(rate.0.as_f64()));
        match (&file.clients, &file.think) {
            (Some(clients), Some(think)) => {
                if let Some(arrivals) = &file.arrivals {
                    return Err(source
                        .error(arrivals.span(), "arrivals are given, and clients that wait for their answers")
                        .mend("leave out the arrivals, or give a rate instead of the clients"));
                }
                let offered = Offered::Clients(*clients.get_ref(), think.get_ref().0.as_secs_f64());
                self.add(clients.span(), move |model| model.offered = offered);
                Ok(())
            }
            (Some(clients), None) => {
                Err(source.error(clients.span(), "clients is given without think").mend(
                    "say how long a client thinks on average before its next request, as in think = \"5s\"",
                ))
            }
            (None, Some(think)) => Err(source
                .error(think.span(), "think is given without clients")
                .mend("say how many there are")),
            (None, None) => Ok(()),
        }
    }

    fn server(&mut self, source: &Source, file: &File) -> Result<(), Error> {
        self.add_text(source, file.service.as_ref(), |model, service| model.service = service)?;
        self.add_text(source, file.discipline.as_ref(), |model, discipline| model.discipline = discipline)?;
        self.add_value(file.threads.as_ref(), |model, threads| model.threads = threads);
        self.add_value(file.queue.as_ref(), |model, queue| model.queue = queue.0.0);
        self.add_value(file.drops.as_ref(), |model, drops| model.drops = drops);
        self.add_value(file.processors.as_ref(), |model, processors| model.processors = processors);
        self.add_value(file.quota.as_ref(), |model, quota| model.quota = Some(Quota::of(quota)));
        if let (None, Some(period)) = (&file.quota, &file.quota_period) {
            return Err(source
                .error(period.span(), "quota-period is given without quota")
                .mend("say how many processors it leaves, as in quota = 0.5"));
        }
        self.add_value(file.quota_period.as_ref(), |model, period| {
            model.quota = model.quota.map(|quota| Quota { period: period.0.as_secs_f64(), ..quota });
        });
        self.add_value(file.network.as_ref(), |model, network| model.network = network.0.as_secs_f64());
        self.add_value(file.servers.as_ref(), |model, servers| model.fleet.servers = servers);
        self.add_text(source, file.balancing.as_ref(), |model, balancing| model.fleet.balancing = balancing)?;
        let EquipmentEntry { disks, link, client_link, keep_alive } = &file.equipment;
        self.add_value(disks.as_ref(), |model, disks| model.equipment.disks = disks);
        self.add_value(link.as_ref(), |model, link| model.equipment.link = Some(link.0.0 as f64));
        self.add_value(client_link.as_ref(), |model, link| model.equipment.client = Some(link.0.0 as f64));
        self.add_value(keep_alive.as_ref(), |model, time| {
            model.equipment.keep_alive = Some(time.0.as_secs_f64());
        });
        if let Some(entry) = &file.retries {
            let RetriesEntry { share, delay, backoff, most, anew } = *entry.get_ref();
            let (share, delay) = (share.as_f64(), delay.as_secs_f64());
            let retries = Retries { share, delay, backoff, most, anew };
            self.add(entry.span(), move |model| model.retries = Some(retries));
        }
        if let Some(entry) = &file.patience {
            let PatienceEntry { mean, law } = entry.get_ref();
            let law = law.as_ref().map(|text| service(source, text)).transpose()?;
            let (mean, law) = (mean.as_secs_f64(), law.unwrap_or(Service::Constant));
            self.add(entry.span(), move |model| model.patience = Some(Patience { mean, law }));
        }
        Ok(())
    }

    fn slow_clients(&mut self, source: &Source, file: &File) -> Result<(), Error> {
        let Some(entry) = &file.slow_clients else { return Ok(()) };
        let SlowClientsEntry { number, addresses, send, read, response, again, patience } = entry.get_ref();
        let bytes = |bytes: Bytes| bytes.0 as f64;
        let pace = match (send, read, response) {
            (Some(rate), None, None) => Pace::Send(bytes(*rate)),
            (None, Some(rate), response) => Pace::Read {
                rate: bytes(*rate),
                response: response.map_or(SlowClients::RESPONSE_BYTES, bytes),
            },
            _ => {
                return Err(source
                    .error(entry.span(), "slow clients either send or read slowly, and a response is read")
                    .mend("give one of send = \"100B\" and read = \"1kB\", bytes per second; response = \"100kB\" goes with read"));
            }
        };
        let mut slow = SlowClients::new(*number, pace);
        slow.addresses = addresses.unwrap_or(slow.addresses);
        slow.again = again.map_or(slow.again, Span::as_secs_f64);
        slow.patience = patience.map_or(slow.patience, Span::as_secs_f64);
        self.add(entry.span(), move |model| model.slow_clients = Some(slow));
        Ok(())
    }

    /// Gives their names.
    fn tiers(&mut self, source: &Source, entries: Vec<Spanned<TierEntry>>) -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for entry in entries {
            let place = entry.span();
            let TierEntry { name, processors, threads, discipline } = entry.into_inner();
            if names.contains(&name) {
                return Err(source.error(place, format!("tier \"{name}\" is defined twice")));
            }
            let discipline = discipline.map(|text| {
                let discipline = text.get_ref().parse::<Discipline>();
                discipline.map_err(|why| source.error(text.span(), why.to_string()))
            });
            names.push(name.clone());
            let tier =
                Tier { name, processors, threads, discipline: discipline.transpose()?.unwrap_or_default() };
            self.add(place, move |model| model.tiers.push(tier.clone()));
        }
        Ok(names)
    }

    fn classes(
        &mut self,
        source: &Source,
        entries: Vec<Spanned<ClassEntry>>,
        tiers: &[String],
        directory: &Path,
    ) -> Result<(), Error> {
        let mut names: Vec<String> = Vec::new();
        for entry in entries {
            let place = entry.span();
            let entry = entry.into_inner();
            let name = entry.name.get_ref();
            if names.contains(name) {
                return Err(source.error(entry.name.span(), format!("class \"{name}\" is defined twice")));
            }
            names.push(name.clone());
            let size = match (entry.size, entry.size_cv) {
                (Some(mean), cv) => {
                    Some(Size { mean: mean.0 as f64, cv: cv.map_or(0.0, Spanned::into_inner) })
                }
                (None, Some(cv)) => {
                    return Err(source
                        .error(cv.span(), "size-cv is given without size")
                        .mend("give the mean size as well, as in size = \"12k\""));
                }
                (None, None) => None,
            };
            let service = entry.service.as_ref().map(|text| service(source, text));
            let samples = entry.samples.as_ref().map(|text| {
                let samples = Samples::read(&directory.join(text.get_ref()));
                samples.map_err(|why| source.error(text.span(), why.to_string()))
            });
            let samples = samples.transpose()?;
            if let (Some(_), Some(service)) = (&samples, &entry.service) {
                return Err(source
                    .error(service.span(), format!("class \"{name}\" has a law and samples"))
                    .mend("keep one of them"));
            }
            let demand = entry.demand.map(Span::as_secs_f64).or(samples.as_ref().map(|samples| samples.mean));
            let demand = demand.ok_or_else(|| {
                let why = source.error(place.clone(), format!("class \"{name}\" has no demand"));
                why.mend("say what a request needs of a processor on average, as in demand = \"5ms\", or give samples")
            })?;
            let calls = entry.calls.into_iter().map(|call| called(source, call, tiers));
            let class = Class {
                name: entry.name.into_inner(),
                share: entry.share,
                demand,
                service: service.transpose()?,
                samples,
                workers: entry.workers,
                disk: entry.disk.as_secs_f64(),
                calls: calls.collect::<Result<_, _>>()?,
                size,
            };
            self.own_classes = true;
            self.add(place, move |model| model.classes.push(class.clone()));
        }
        Ok(())
    }

    /// The model without one of the settings, or with all.
    fn model(&self, without: Option<usize>) -> Model {
        let mut model = Model::default();
        if self.own_classes {
            model.classes.clear();
        }
        for (_, setting) in self.list.iter().enumerate().filter(|(index, _)| Some(*index) != without) {
            (setting.set)(&mut model);
        }
        model
    }

    /// What is wrong with the whole is told where it stands: at the first setting without which it
    /// would not be wrong, or not in the same way.
    fn checked(&self, source: &Source) -> Result<Model, Error> {
        let model = self.model(None);
        let Err(why) = model.check() else { return Ok(model) };
        let why = why.to_string();
        let differs = |index: &usize| {
            self.model(Some(*index)).check().map_or_else(|other| other.to_string() != why, |()| true)
        };
        let place = (0..self.list.len()).find(differs).and_then(|index| self.list.get(index));
        Err(match place {
            Some(setting) => source.error(setting.place.clone(), why),
            None => source.missing(why),
        })
    }
}
