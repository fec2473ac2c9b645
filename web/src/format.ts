import type { Estimate } from './report.ts';

/** Three significant digits, never in exponent form, thousands set apart by a thin space. */
export function number(x: number): string {
  if (x === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(x))));
  return grouped(x, Math.min(digits, 6));
}

export function count(n: number): string {
  return grouped(n, 0);
}

function grouped(x: number, digits: number): string {
  return x
    .toLocaleString('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    .replaceAll(',', '\u202f');
}

/**
 * A share in per cent with one decimal. What is not all is never rounded up to 100 %, and what is
 * not nothing never down to 0 %: a single lost session must show.
 */
export function percent(share: number): string {
  if (share === 0 || share === 1) return withUnit(String(share * 100), '%');
  return withUnit(Math.min(99.9, Math.max(0.1, share * 100)).toFixed(1), '%');
}

/** A length of time in the unit that keeps a digit before the point. */
export function seconds(s: number): string {
  if (s === 0) return withUnit('0', 's');
  const [factor, unit] = timeUnit(s);
  return withUnit(number(s * factor), unit);
}

/** A length of time that somebody set, with the digits that it was set with. */
export function setting(s: number): string {
  const [factor, unit] = s > 0 ? timeUnit(s) : [1, 's'];
  return withUnit(plain(s * factor), unit);
}

function timeUnit(s: number): [number, string] {
  if (s < 0.000_999_5) return [1e6, 'µs'];
  if (s < 0.999_5) return [1e3, 'ms'];
  return [1, 's'];
}

/** A figure and its unit, which no line break may part. */
export function withUnit(figure: string, unit: string): string {
  return `${figure}\u00a0${unit}`;
}

/** The same for figures inside sentences that were put together elsewhere. */
export function unbroken(sentence: string): string {
  return sentence.replace(/(\d) (%|s|ms|µs)(?![a-z])/g, '$1\u00a0$2');
}

/** A size in decimal units, as the terminal shows it. */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const step = Math.min(Math.max(0, Math.floor(Math.log10(Math.max(n, 1)) / 3)), units.length - 1);
  const figure = n / 1000 ** step;
  return withUnit(step === 0 ? plain(Math.round(n)) : number(figure), units[step] ?? 'B');
}

/** A point in a run, from its start: seconds, or minutes and hours as well where it is long. */
export function clock(s: number, length: number): string {
  if (length < 600) return withUnit(plain(Number(s.toFixed(3))), 's');
  const whole = Math.round(s);
  const two = (x: number): string => String(Math.floor(x)).padStart(2, '0');
  if (length < 7200) return `${Math.floor(whole / 60)}:${two(whole % 60)}`;
  return `${Math.floor(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}`;
}

export function perSecond(rate: number): string {
  return `${number(rate)}/s`;
}

/** Both ends, with the unit once where they share it: `18.6–26.0 %`. */
export function interval(estimate: Estimate, format: (x: number) => string): string {
  if (!estimate.ci) return 'unknown';
  const [low, high] = estimate.ci.map(format);
  const [figure, unit] = (low ?? '').split('\u00a0');
  return unit !== undefined && high?.endsWith(`\u00a0${unit}`) ? `${figure}–${high}` : `${low}–${high}`;
}

/**
 * A figure and half its interval, with two digits of the latter; only the figure where the interval is
 * not known.
 */
export function plusMinus({ value, ci }: Estimate, format: (x: number) => string): [string, string] {
  const half = ci ? (ci[1] - ci[0]) / 2 : 0;
  if (half <= 0) return [format(value), ''];
  const [, unit = ''] = format(value).split('\u00a0');
  const factor = { '%': 100, ms: 1e3, µs: 1e6 }[unit] ?? 1;
  const digits = Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(half * factor))));
  const figure = grouped(value * factor, digits);
  return [unit ? withUnit(figure, unit) : figure, `±\u00a0${grouped(half * factor, digits)}`];
}

/** A level as the reader should see it: `3×` for a multiple, else the number with its unit. */
export function level(x: number, unit: string): string {
  return unit.startsWith('x ') ? `${plain(x)}×` : `${plain(x)} ${unit}`.trim();
}

/** A level spelled out: `3× capacity`. */
export function levelInWords(x: number, unit: string): string {
  return unit.startsWith('x ') ? `${plain(x)}× ${unit.slice(2)}` : level(x, unit);
}

/** As many digits as are needed, at most six. */
export function plain(x: number): string {
  return String(Number(x.toPrecision(6)));
}

/** Marks of an axis: all in one unit, none with more digits than it needs. */
export const ticks = {
  plain: (ys: number[]): string[] => ys.map(plain),
  percent: (ys: number[]): string[] => ys.map((y) => withUnit(plain(y * 100), '%')),
  bytes: (ys: number[]): string[] => ys.map((y) => bytes(y).replace(/\.0+(?=\u00a0)/, '')),
  seconds: (ys: number[]): string[] => {
    const least = Math.min(...ys.filter((y) => y > 0));
    // Over several powers of ten no one unit suits all.
    if (Math.max(...ys) > 200 * least) {
      return ys.map((y) => {
        const [factor, unit] = timeUnit(y);
        return withUnit(plain(y * factor), unit);
      });
    }
    const [factor, unit] = timeUnit(Math.max(...ys));
    return ys.map((y) => withUnit(plain(y * factor), unit));
  },
};

/** An RFC 3339 time as `21 Nov 2026, 19:44 UTC`; the text itself when it is none. */
export function moment(rfc3339: string): string {
  const at = new Date(rfc3339);
  if (Number.isNaN(at.getTime())) return rfc3339;
  const text = at.toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  });
  return `${text} UTC`;
}
