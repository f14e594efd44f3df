// Fault checks: what was acknowledged is stored, sent, delivered and evaluated, each once and in order.
import { setTimeout as wait } from 'node:timers/promises';
import type { SentUplink } from './fault-senders.ts';
import { type Arrival, call, type FaultDevice, type Outlet, type Sink } from './fault-world.ts';
import type { Subscriber } from './fault-subscriber.ts';

export interface CheckParts {
  readonly device: FaultDevice;
  /** Of this device, in the order of sending. */
  readonly sent: readonly SentUplink[];
  readonly subscribers: readonly Subscriber[];
  readonly sink: Sink;
  /** The nodes that are asked, in turns. */
  readonly urls: readonly string[];
  /** The time from which on samples are read. */
  readonly from: string;
  /**
   * Whether a rule may find a sample older than one that it has judged: a node that was away has
   * entries that no other one had (contract 42).
   */
  readonly mayBeLate: boolean;
  /** Whether times may be in another order than the samples. */
  readonly stepsClock: boolean;
}

interface Stored {
  readonly timestamp: string;
  readonly data: { readonly n: number; readonly count: number };
}

/** What is wrong with the device, in words; empty when nothing is. */
export async function deviceViolations(parts: CheckParts): Promise<readonly string[]> {
  const { device, sent, subscribers, sink, urls } = parts;
  const wanted = new Set(sent.filter(isAcknowledged).map(({ n }) => n));
  const known = new Set(sent.map(({ n }) => n));
  const found: string[] = [];
  const answers = await Promise.all(urls.map((url) => storedAt(url, parts)));
  for (const [place, stored] of answers.entries())
    found.push(
      ...storedViolations(stored, wanted, known, parts.stepsClock).map(
        (one) => `node ${place + 1}: ${one}`,
      ),
    );
  const hours = await Promise.all(urls.map((url) => hoursAt(url, parts)));
  for (const [place, one] of hours.entries())
    found.push(...hourViolations(one).map((text) => `node ${place + 1}: ${text}`));
  for (const [place, subscriber] of subscribers.entries()) {
    const received = subscriber.received(device.deviceId).filter((n) => known.has(n));
    found.push(...onceViolations(received, wanted).map((one) => `session ${place + 1}: ${one}`));
  }
  for (const outlet of ['delivery', 'action'] as const)
    found.push(
      ...arrivalViolations(
        arrivalsOf(sink, outlet, device),
        wanted,
        outlet === 'action' && parts.mayBeLate,
      ).map((one) => `${outlet}: ${one}`),
    );
  return found.map((one) => `${device.deviceId}: ${one}`);
}

const isAcknowledged = ({ acknowledgedAt }: SentUplink): boolean => acknowledgedAt !== undefined;

/** Requests name the device as its uplinks do. */
const arrivalsOf = (sink: Sink, outlet: Outlet, device: FaultDevice): readonly Arrival[] =>
  sink.arrivals(outlet).filter(({ deviceId }) => deviceId === device.deviceId);

async function storedAt(url: string, { device, from }: CheckParts): Promise<readonly Stored[]> {
  const path = `/v3/devices/${device.id}/export?format=ndjson&topic=default&from=${from}`;
  const lines = await call<string>(url, 'GET', path);
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Stored);
}

const hourMs = 3_600_000;

/** By source and accumulator, the values of each hour that the round touches. */
type Hours = Readonly<Record<'raw' | 'aggregated/hourly', Readonly<Record<string, string>>>>;

async function hoursAt(url: string, { device, from }: CheckParts): Promise<Hours> {
  const begin = Math.floor(Date.parse(from) / hourMs) * hourMs;
  const end = Math.ceil(Date.now() / hourMs) * hourMs;
  const interval = { from: new Date(begin).toISOString(), to: new Date(end).toISOString() };
  const valuesOf = async (source: string, accumulator: string): Promise<string> => {
    const { dataPoints } = await call<{ dataPoints: readonly (number | null)[] }>(
      ...([url, 'POST', `/v3/devices/${device.id}/query/${source}/time-series`] as const),
      { topic: 'default', dataKey: 'n', accumulator, interval, bucketInterval: 'PT1H' },
    );
    return JSON.stringify(dataPoints);
  };
  const of = async (source: string) => ({
    COUNT: await valuesOf(source, 'COUNT'),
    SUM: await valuesOf(source, 'SUM'),
    MAX: await valuesOf(source, 'MAX'),
  });
  return { raw: await of('raw'), 'aggregated/hourly': await of('aggregated/hourly') };
}

function hourViolations(hours: Hours): readonly string[] {
  return Object.entries(hours.raw)
    .filter(([accumulator, values]) => hours['aggregated/hourly'][accumulator] !== values)
    .map(
      ([accumulator, values]) =>
        `${accumulator} of hours is ${hours['aggregated/hourly'][accumulator]}, of samples ${values}`,
    );
}

function storedViolations(
  stored: readonly Stored[],
  wanted: ReadonlySet<number>,
  known: ReadonlySet<number>,
  isUnordered: boolean,
): readonly string[] {
  const ofRound = stored.filter(({ data }) => known.has(data.n));
  const found = [
    ...onceViolations(
      ofRound.map(({ data }) => data.n),
      wanted,
    ),
  ];
  if (isUnordered) return found;
  const ordered = ofRound
    .filter(({ data }) => wanted.has(data.n))
    .toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp) || a.data.n - b.data.n);
  for (const [place, { data }] of ordered.entries())
    if (place > 0 && data.n < (ordered[place - 1]?.data.n ?? 0))
      found.push(`${data.n} is stored after ${ordered[place - 1]?.data.n}`);
  return found;
}

function onceViolations(
  received: readonly number[],
  wanted: ReadonlySet<number>,
): readonly string[] {
  const seen = new Set<number>();
  const twice = received.filter((n) => seen.size === seen.add(n).size);
  const lost = [...wanted].filter((n) => !seen.has(n));
  return [...namesOf('twice', twice), ...namesOf('acknowledged and lost', lost)];
}

/** A delivery may arrive several times, with one id. */
function arrivalViolations(
  arrivals: readonly Arrival[],
  wanted: ReadonlySet<number>,
  mayBeLate: boolean,
): readonly string[] {
  const ids = new Map<number, Set<string>>();
  for (const { n, deliveryId } of arrivals) ids.set(n, (ids.get(n) ?? new Set()).add(deliveryId));
  const twice = [...wanted].filter((n) => (ids.get(n)?.size ?? 0) > 1);
  const newest = Math.max(...ids.keys());
  const lost = [...wanted].filter((n) => !ids.has(n) && !(mayBeLate && n < newest));
  return [...namesOf('with several ids', twice), ...namesOf('acknowledged and not sent', lost)];
}

const namedMax = 5;

function namesOf(what: string, numbers: readonly number[]): readonly string[] {
  if (numbers.length === 0) return [];
  const some = numbers.slice(0, namedMax).join(', ');
  return [
    `${what}: ${some}${numbers.length > namedMax ? ` and ${numbers.length - namedMax} more` : ''}`,
  ];
}

const lookEveryMs = 250;

/** Asks until nothing is wrong or the time is over. Returns what is wrong then. */
export async function untilNoViolation(
  look: () => Promise<readonly string[]>,
  msMax: number,
): Promise<readonly string[]> {
  const until = performance.now() + msMax;
  for (;;) {
    const found = await look().catch((error: unknown) => [`a check failed: ${String(error)}`]);
    if (found.length === 0 || performance.now() > until) return found;
    await wait(lookEveryMs);
  }
}
