// Instants: epoch milliseconds inside, ISO-8601 with milliseconds and Z outside (contract 0).

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type EpochMs = number;

// Any offset (or none, read as UTC) and zero to nine fraction digits; digits after the third are cut off.
const isoPattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

const earliest = Date.UTC(0, 0, 1);
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Reads an ISO-8601 date-time; undefined when the text is none or no such moment exists. */
export function parseInstant(text: string): EpochMs | undefined {
  const match = isoPattern.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match;
  const ms = Date.UTC(+year!, +month! - 1, +day!, +hour, +minute, +second, +fraction.slice(0, 3).padEnd(3, '0'));
  // Date.UTC rolls 31 February over into March; such a text names no moment.
  const moment = new Date(ms);
  const rolled = moment.getUTCMonth() !== +month! - 1 || moment.getUTCDate() !== +day!;
  if (rolled || +hour > 23 || +minute > 59 || +second > 59) return undefined;
  const offset = offsetMs(zone);
  return offset === undefined ? undefined : ms - offset;
}

function offsetMs(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = +zone.slice(1, 3);
  const minutes = +zone.slice(3).replace(':', '');
  if (hours > 18 || minutes > 59) return undefined;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** A time from a query string: the plus sign of its offset, when it was not percent-encoded, arrives as a space. */
export function plusRestored(text: string): string {
  return text.replace(/(?<=:\d{2}(?:[.,]\d+)?) (?=\d{2}(?::?\d{2})?$)/, '+');
}

/** `YYYY-MM-DDTHH:mm:ss.SSSZ`, the one form of every answer. */
export function formatInstant(ms: EpochMs): string {
  return new Date(ms).toISOString();
}

/** Whether the number is a moment that answers can express: the years 0 to 9999. */
export function isInstant(ms: number): boolean {
  return ms >= earliest && ms <= latest;
}
