//! Statistics: what a number of observations says, and how surely.
//!
//! The one place where means, variances, quantiles, intervals and chances are computed. Two functions for one thing
//! exist only where they differ on purpose, and their documentation says how: there are several definitions of a sample
//! quantile ([`order`]), and sums in one pass ([`PowerSums`], [`RatioSums`]) round differently from sums in two.
//!
//! | module | what is in it |
//! | --- | --- |
//! | [`moments`] | mean, variance, coefficient of variation: in two passes, in one, from sums |
//! | [`order`] | median and quantiles of values in rising order |
//! | [`Spread`] | median and range of a few repetitions |
//! | [`Estimate`] | figures with an interval where there is one: shares, rates, means, quantiles |
//! | [`MeanEstimate`], [`RatioSums`] | means and ratios with Student's interval |
//! | [`Dependence`] | ratios and quantiles over the parts of a simulation, independent or consecutive |
//! | [`overlapping_batch_means`], [`mser()`], [`autocorrelation_time`] | one long run: its standard error, its warm-up, its memory |
//! | [`Histogram`], [`LogHistogram`] | distributions of latencies in bounded memory |
//! | [`changes()`] | where in a series of values their mean changes |
//! | [`significance`], [`goodness`] | tests: do two samples differ, does a sample come from a distribution |
//! | [`regression`] | a straight line through counts, least squares over several terms |

mod autocorrelation;
mod batch_means;
mod changes;
mod dependence;
mod estimate;
pub mod goodness;
mod histogram;
mod log_histogram;
mod mean_estimate;
pub mod moments;
mod mser;
pub mod order;
mod rare;
mod ratio_sums;
pub mod regression;
pub mod significance;
mod spread;
mod student;

pub use autocorrelation::autocorrelation_time;
pub use batch_means::overlapping_batch_means;
pub use changes::changes;
pub use dependence::Dependence;
pub use estimate::Estimate;
pub use histogram::Histogram;
pub use log_histogram::LogHistogram;
pub use mean_estimate::MeanEstimate;
pub use moments::{Deviations, Moments, PowerSums, mean, mean_with_absent};
pub use mser::mser;
pub use ratio_sums::RatioSums;
pub use spread::Spread;
