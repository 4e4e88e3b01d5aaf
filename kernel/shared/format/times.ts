/** Milliseconds between two updates of a shown age. The age is shown in minutes. */
export const ageEvery = 30_000;

/**
 * Formats an age in the short form of a status bar: `now`, `3 min`, `2 h`, `5 d`.
 * @param at ISO 8601, or milliseconds since 1970 like `now`
 */
export function ageText(at: string | number, now: number): string {
  const minutes = Math.floor((now - (typeof at === 'number' ? at : Date.parse(at))) / 60_000);
  if (!(minutes >= 1)) return 'now';
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}

/** Formats an age for a sentence: `just now`, `3 min ago`. */
export const agoText = (at: string | number, now: number): string => {
  const age = ageText(at, now);
  return age === 'now' ? 'just now' : `${age} ago`;
};

// Times and durations as exact text. Arrow stores a time as an integer in a unit. A JavaScript date has only
// milliseconds, so the digits below a second are taken from the integer.

/** Seconds, milliseconds, microseconds or nanoseconds: the numbers of the Arrow format. */
export type TimeUnit = 0 | 1 | 2 | 3;

export const timeUnitNames = ['s', 'ms', 'us', 'ns'] as const;
const perSecond = [1n, 1_000n, 1_000_000n, 1_000_000_000n] as const;

const day = 86_400;
/** The last second of a JavaScript date, in the year 275760. The first second is the same number with a minus. */
const maxSeconds = 8_640_000_000_000n;
/** The first second that is shown in a time zone, because the calendar functions read a year before 100 as 19xx. */
const firstZonedSecond = BigInt(Date.UTC(100, 0, 1) / 1000);

/** In which zone timestamps with a zone are shown: UTC, that of their column, or that of the machine. */
export const timeZoneChoices = ['utc', 'column', 'local'] as const;
export type TimeZoneChoice = (typeof timeZoneChoices)[number];

const machineZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the zone in which a column's timestamps are shown. A column without a zone has none in every choice. */
export function shownZone(
  columnZone: string | null | undefined,
  choice: TimeZoneChoice,
  localZone: () => string = machineZone,
): string | null | undefined {
  if (!columnZone || choice === 'column') return columnZone;
  return choice === 'utc' ? 'UTC' : localZone();
}

/**
 * Formats a timestamp. In UTC: `2024-02-21 01:49:28.831982966Z`. In another zone, local time with its offset:
 * `2024-02-21 02:49:28+01:00`. Without a zone, the text ends after the time. A value outside the calendar is shown as
 * the number and its unit.
 */
export function timestampText(value: bigint, unit: TimeUnit, zone?: string | null): string {
  const { seconds, fraction } = split(value, unit);
  const offset = zone ? zoneOffset(zone, seconds) : undefined;
  const local = seconds + BigInt(offset ?? 0);
  if (local > maxSeconds || local < -maxSeconds) return `${value} ${timeUnitNames[unit]}`;
  const date = new Date(Number(local) * 1000).toISOString();
  const text = `${date.slice(0, -5).replace('T', ' ')}${fractionText(fraction, unit)}`;
  return zone ? text + offsetText(offset) : text;
}

/**
 * Formats a timestamp for other programs, in ISO 8601 with all digits of its unit: `2024-02-21T01:49:28.831000Z`. The
 * `Z` is left out for a timestamp without a zone.
 */
export function isoTimestampText(value: bigint, unit: TimeUnit, isZoned: boolean): string {
  const { seconds, fraction } = split(value, unit);
  if (seconds > maxSeconds || seconds < -maxSeconds) return `${value} ${timeUnitNames[unit]}`;
  const digits = unit === 0 ? '' : `.${String(fraction).padStart(unit * 3, '0')}`;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, -5)}${digits}${isZoned ? 'Z' : ''}`;
}

/** `2024-02-21` from days since 1970. */
export const dateText = (days: number): string => dateOf(BigInt(days) * BigInt(day)) ?? `${days} days`;

/**
 * Formats a 64-bit date. Such a date counts milliseconds, but should be a whole number of days. If it has a time of
 * day, the text shows the time too.
 */
export const dateMillisecondText = (value: bigint): string =>
  value % BigInt(day * 1000) === 0n ? (dateOf(value / 1000n) ?? `${value} ms`) : timestampText(value, 1);

/** `01:49:28.831` from a time of day. */
export function timeText(value: bigint, unit: TimeUnit): string {
  const { seconds, fraction } = split(value < 0n ? -value : value, unit);
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map(twoDigits).join(':');
  return `${value < 0n ? '-' : ''}${clock}${fractionText(fraction, unit)}`;
}

/** `1d 2h 3m 4.005s`, without parts that are zero. */
export function arrowDurationText(value: bigint, unit: TimeUnit): string {
  const { seconds, fraction } = split(value < 0n ? -value : value, unit);
  const rest = seconds % 60n;
  const parts = [
    ...amount(seconds / BigInt(day), 'd'),
    ...amount((seconds / 3600n) % 24n, 'h'),
    ...amount((seconds / 60n) % 60n, 'm'),
    ...(rest || fraction ? [`${rest}${fractionText(fraction, unit)}s`] : []),
  ];
  return parts.length ? `${value < 0n ? '-' : ''}${parts.join(' ')}` : '0s';
}

/** `1y 2mo` */
export const monthsText = (months: number): string =>
  [...amount(BigInt(Math.trunc(months / 12)), 'y'), ...amount(BigInt(months % 12), 'mo')].join(' ') || '0mo';

/** `1mo 2d 3.000000004s`. The parts are independent: months and days have no fixed length. */
export const intervalText = (months: number, days: number, nanoseconds: bigint): string =>
  [
    ...(months ? [monthsText(months)] : []),
    ...amount(BigInt(days), 'd'),
    ...(nanoseconds ? [arrowDurationText(nanoseconds, 3)] : []),
  ].join(' ') || '0d';

const twoDigits = (number: bigint | number): string => String(number).padStart(2, '0');
const amount = (count: bigint, unit: string): string[] => (count ? [`${count}${unit}`] : []);

/** Rounds down, so that the fraction is never negative. */
function split(value: bigint, unit: TimeUnit): { seconds: bigint; fraction: bigint } {
  const per = perSecond[unit];
  const fraction = ((value % per) + per) % per;
  return { seconds: (value - fraction) / per, fraction };
}

/** Formats the digits below a second in groups of three, as few as needed; empty for a whole second. */
function fractionText(fraction: bigint, unit: TimeUnit): string {
  if (!fraction) return '';
  const digits = String(fraction).padStart(unit * 3, '0');
  return `.${digits.replace(/(000)+$/, '')}`;
}

const dateOf = (seconds: bigint): string | undefined =>
  seconds > maxSeconds || seconds < -maxSeconds
    ? undefined
    : new Date(Number(seconds) * 1000).toISOString().replace(/T.*/, '');

const zones = new Map<string, Intl.DateTimeFormat | undefined>();

function zoneFormat(zone: string): Intl.DateTimeFormat | undefined {
  if (!zones.has(zone)) {
    let format: Intl.DateTimeFormat | undefined;
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      // If this runtime does not know the zone, the time is shown in UTC.
    }
    zones.set(zone, format);
  }
  return zones.get(zone);
}

/** Returns the zone's offset from UTC in seconds at that instant; `undefined` means that the time is shown in UTC. */
export function zoneOffset(zone: string, seconds: bigint): number | undefined {
  if (/^(UTC|Z|GMT|Etc\/UTC)$/i.test(zone)) return undefined;
  const fixed = /^([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (fixed) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 3600 + Number(fixed[3]) * 60);
  // Local time may be a day later than UTC, and calendar functions return NaN beyond the last second.
  if (seconds > maxSeconds - BigInt(day) || seconds < firstZonedSecond + BigInt(day)) return undefined;
  const parts = zoneFormat(zone)?.formatToParts(new Date(Number(seconds) * 1000));
  if (!parts) return undefined;
  const [year = 0, month = 1, date = 1, hour = 0, minute = 0, second = 0] = (
    ['year', 'month', 'day', 'hour', 'minute', 'second'] as const
  ).map((type) => Number(parts.find((part) => part.type === type)?.value));
  return Date.UTC(year, month - 1, date, hour, minute, second) / 1000 - Number(seconds);
}

function offsetText(offset: number | undefined): string {
  if (offset === undefined) return 'Z';
  const size = Math.abs(offset);
  // The offset may have seconds, because before standard time zones local time had such offsets.
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60, ...(size % 60 ? [size % 60] : [])];
  return (offset < 0 ? '-' : '+') + parts.map(twoDigits).join(':');
}

/** `45 s`, `2 min`, `1 h 20 min`, `3 d`: no more precise than needed for planning. */
export function durationText(seconds: number): string {
  if (!(seconds >= 1)) return 'less than a second';
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.round(hours / 24)} d`;
}

/** Formats a running time, with its seconds if it is less than an hour: `3.2 s`, `4 min 05 s`, `2 h 03 min`. */
export function stopwatchText(seconds: number): string {
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${twoDigits(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${twoDigits(Math.floor((whole % 3600) / 60))} min`;
}

/** Formats a measurement with three digits: `12.3 µs`, `4.05 ms`, `1 min 7 s`. */
export function exactDurationText(nanoseconds: number): string {
  if (nanoseconds < 1e3) return `${threeDigits(nanoseconds)} ns`;
  if (nanoseconds < 1e6) return `${threeDigits(nanoseconds / 1e3)} µs`;
  if (nanoseconds < 1e9) return `${threeDigits(nanoseconds / 1e6)} ms`;
  const whole = Math.round(nanoseconds / 1e9);
  return whole < 60 ? `${threeDigits(nanoseconds / 1e9)} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));
