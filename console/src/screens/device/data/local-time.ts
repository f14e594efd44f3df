// Local times: what a field of date and time shows for an instant in a zone, and back.

const minuteMs = 60_000;

/** `2026-11-22T14:05` in the zone. */
export function localOf(iso: string, zone: string): string {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(new Date(iso));
  const part = (type: string) => parts.find((one) => one.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`;
}

/**
 * The instant at which clocks in the zone show the time. A time that is skipped in spring counts
 * from before the change; one that is there twice in autumn is the first.
 */
export function instantOfLocal(local: string, zone: string): string {
  const wantedMs = Date.parse(`${local}:00Z`);
  const offsetMs = (atMs: number) =>
    Date.parse(`${localOf(new Date(atMs).toISOString(), zone)}:00Z`) - floorToMinute(atMs);
  const dayMs = 24 * 60 * minuteMs;
  const before = wantedMs - offsetMs(wantedMs - dayMs);
  const after = wantedMs - offsetMs(wantedMs + dayMs);
  const isShown = (atMs: number) => localOf(new Date(atMs).toISOString(), zone) === local;
  return new Date(isShown(before) || !isShown(after) ? before : after).toISOString();
}

function floorToMinute(atMs: number): number {
  return Math.floor(atMs / minuteMs) * minuteMs;
}
