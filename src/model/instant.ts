// Instants: epoch milliseconds inside, ISO-8601 with milliseconds and Z outside (contract 0).

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number;

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

// Any offset (or none, read as UTC) and zero to nine fraction digits; digits after the third are
// cut off.
const isoPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

// Date.UTC takes the years 0 to 99 for 1900 to 1999, so years are counted from one era later; eras
// have the same days.
const eraYears = 400;
const eraMs = 146_097 * dayMs;
/** The bounds of what can be read and written: the years 0 to 9999. */
export const earliest = Date.UTC(eraYears, 0, 1) - eraMs;
export const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Reads an ISO-8601 date-time; undefined for an invalid string or date. */
export function parseInstant(text: string): EpochMs | undefined {
  return ownForm(text) ?? anyForm(text);
}

// `YYYY-MM-DDTHH:mm:ss.SSSZ`, the form of answers and of most requests: the positions of its digits
// and separators.
const separators: readonly (readonly [at: number, code: number])[] = [
  [10, 0x54],
  [13, 0x3a],
  [16, 0x3a],
  [19, 0x2e],
  [23, 0x5a],
];

/** Undefined for every other form, and for a moment that does not exist. */
function ownForm(text: string): EpochMs | undefined {
  if (text.length !== 24) return undefined;
  for (const [at, code] of separators) if (text.charCodeAt(at) !== code) return undefined;
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  const milliseconds = digits(text, 20, 3);
  if (!(hour < 24 && minute < 60 && second < 60 && milliseconds >= 0)) return undefined;
  const day = dayOf(text);
  return day === undefined
    ? undefined
    : day + ((hour * 60 + minute) * 60 + second) * 1_000 + milliseconds;
}

/**
 * The start of the day, by arithmetic on the civil calendar: years begin in March, so that the leap
 * day ends one.
 */
function dayOf(text: string): EpochMs | undefined {
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d) return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)))
    return undefined;
  const marchYear = month > 2 ? year : year - 1;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays =
    Math.floor(marchYear / 4) - Math.floor(marchYear / 100) + Math.floor(marchYear / 400);
  return (marchYear * 365 + leapDays + dayOfYear - daysBeforeEpoch) * dayMs;
}

/** From 1 March of the year 0 to 1 January 1970. */
const daysBeforeEpoch = 719_468;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** NaN when one of them is not a digit. */
function digits(text: string, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function anyForm(text: string): EpochMs | undefined {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const [, year = '', month = '', day = ''] = match;
  const [hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match.slice(4);
  const milliseconds = +fraction.slice(0, 3).padEnd(3, '0');
  const ms =
    Date.UTC(+year + eraYears, +month - 1, +day, +hour, +minute, +second, milliseconds) - eraMs;
  // Date.UTC converts 31 February to a day in March; such a date is not valid.
  const moment = new Date(ms);
  const rolled = moment.getUTCMonth() !== +month - 1 || moment.getUTCDate() !== +day;
  if (rolled || +hour > 23 || +minute > 59 || +second > 59) return undefined;
  const offset = offsetMs(zone);
  return offset === undefined ? undefined : ms - offset;
}

function offsetMs(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = +zone.slice(1, 3);
  const minutes = +zone.slice(3).replace(':', '');
  if (hours > 18 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * minuteMs;
}

/**
 * A time from a query string: the plus sign of its offset, when it was not percent-encoded, arrives
 * as a space.
 */
export function restorePlus(text: string): string {
  return text.replace(/(?<=:\d{2}(?:[.,]\d+)?) (?=\d{2}(?::?\d{2})?$)/, '+');
}

const twoDigits = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));
const threeDigits = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0'));

/** What follows the second. */
const endings = threeDigits.map((digits) => `.${digits}Z`);

/** The last instant, its minute and its hour, which those that follow have mostly too. */
const last = {
  ms: Number.NaN,
  text: '',
  minute: Number.NaN,
  upToMinute: '',
  hour: Number.NaN,
  upToHour: '',
};

/**
 * `YYYY-MM-DDTHH:mm:ss.SSSZ`, the one form of every answer. An answer holds thousands of them and an
 * uplink a dozen, so only what differs from the one before is made anew: 30 ns in the same minute,
 * 140 in another hour, and 390 by the conversion of a Date.
 */
export function formatInstant(ms: EpochMs): string {
  if (ms === last.ms) return last.text;
  if (!isInstant(ms)) return new Date(ms).toISOString();
  const minute = Math.floor(ms / minuteMs);
  if (minute !== last.minute) {
    const hour = Math.floor(ms / hourMs);
    if (hour !== last.hour) {
      last.upToHour = textUpToHour(hour);
      last.hour = hour;
    }
    last.upToMinute = `${last.upToHour}${twoDigits[minute - hour * 60]}:`;
    last.minute = minute;
  }
  const time = Math.floor(ms - minute * minuteMs);
  const seconds = Math.floor(time / 1_000);
  last.text = `${last.upToMinute}${twoDigits[seconds]}${endings[time - seconds * 1_000]}`;
  last.ms = ms;
  return last.text;
}

/** The hour counts from 1970; the text ends with a colon. */
function textUpToHour(hour: number): string {
  const days = Math.floor(hour / 24);
  // Years begin in March here, so that a leap day is the last of its year; eras of 400 years all
  // have the same days.
  const sinceMarch = days + daysBeforeEpoch;
  const era = Math.floor(sinceMarch / 146_097);
  const dayOfEra = sinceMarch - era * 146_097;
  const leapDays =
    Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  const date = `${twoDigits[Math.floor(year / 100)]}${twoDigits[year % 100]}-${twoDigits[month]}-${twoDigits[day]}`;
  return `${date}T${twoDigits[hour - days * 24]}:`;
}

/** Of `HH:mm:ss.SSSZ`. */
const withinDayLength = 13;

/**
 * The JSON of a list of instants, each as `formatInstant` has it. Bucket starts follow each other,
 * so the text of a day is made once for all of them: 168 hours take 3 us instead of 28.
 */
export function instantsJson(instants: readonly EpochMs[]): string {
  let day = Number.NaN;
  let upToDay = '';
  let json = '';
  for (const ms of instants) {
    const dayOfMs = Math.floor(ms / dayMs);
    const time = ms - dayOfMs * dayMs;
    json += json === '' ? '["' : ',"';
    if (time % minuteMs !== 0 || !isInstant(ms)) {
      json += `${formatInstant(ms)}"`;
      continue;
    }
    if (dayOfMs !== day) {
      upToDay = formatInstant(ms).slice(0, -withinDayLength);
      day = dayOfMs;
    }
    const hours = Math.floor(time / hourMs);
    const minutes = time / minuteMs - hours * 60;
    json += `${upToDay}${twoDigits[hours]}:${twoDigits[minutes]}:00.000Z"`;
  }
  return json === '' ? '[]' : `${json}]`;
}

/** Whether the number is a moment that answers can express: the years 0 to 9999. */
export function isInstant(ms: number): boolean {
  return ms >= earliest && ms <= latest;
}

/** Null stays null. */
export function formatInstantOrNull(ms: EpochMs | null): string | null {
  return ms === null ? null : formatInstant(ms);
}

/**
 * Whether less than `ms` passed since the instant. No longer when the clock was set back meanwhile:
 * how much has passed is not known then.
 */
export function isWithin(ms: number, since: EpochMs, now: EpochMs): boolean {
  return now >= since && now - since < ms;
}

// Newest: which times count as newest. A sample of a clock in the future must not hide what comes after it (contract 42).

/** Samples dated later than this are kept, and are newest to nothing: no rule, list or page. */
export function newestUntil(now: EpochMs): EpochMs {
  return now + dayMs;
}
