// Texts of documents: numbers and times as pages, pictures and mails show them.

const formats = new Map<string, Intl.DateTimeFormat>();
/** Zones and forms that are kept; others are made again. */
const formatsMax = 200;

function timeFormat(zone: string, name: string, options: Intl.DateTimeFormatOptions) {
  const key = `${name} ${zone}`;
  const known = formats.get(key);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone, hourCycle: 'h23' });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(key, made);
  return made;
}

/** Fewer decimals the larger it is; thousands are grouped by a space that never breaks. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return value.toExponential(3);
  const digits = size >= 1_000 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4;
  const [whole = '', fraction = ''] = value.toFixed(digits).split('.');
  const kept = fraction.replace(/0+$/, '');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, '\u00a0');
  return kept === '' ? grouped : `${grouped}.${kept}`;
}

/** `14:00`, and the day at midnight or where ticks are days. */
export function timeLabel(ms: number, zone: string, isDay: boolean): string {
  const clock = timeFormat(zone, 'clock', { hour: '2-digit', minute: '2-digit' }).format(ms);
  if (!isDay && clock !== '00:00') return clock;
  return timeFormat(zone, 'day', { day: 'numeric', month: 'short' }).format(ms);
}

/** `16 Nov 2026, 14:00`. */
export function momentText(ms: number, zone: string): string {
  return timeFormat(zone, 'moment', { dateStyle: 'medium', timeStyle: 'short' }).format(ms);
}

/** What a cell, a figure or a line of text shows for any value. */
export function valueText(value: unknown): string {
  if (typeof value === 'number') return numberText(value);
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
