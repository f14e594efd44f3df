// Downlink queue: each device in order, many devices concurrently, with retries, expiry and reports.
import type { Downlink, DownlinkCommand, DownlinkState } from '../model/downlink.ts';
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { Note } from '../model/entry-trace.ts';
import type { ServerDownlinkReport } from '../transports/network-servers/network-server.ts';
import { KeyedQueue } from '../structures/work-queues.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { DownlinkOutcome, DownlinkTransports } from './downlink-transport.ts';
import type { OrderDownlink } from '../outputs/connectors/connector-services.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { problem } from '../model/problem.ts';
import type { DownlinkCause } from './downlink.ts';

const queueLimits = {
  devicesMax: 16,
  faultMs: 30_000,
  expiredAtOnceMax: 500,
  wokenAtOnceMax: 1_000,
} as const;

interface DownlinkRecords {
  readonly next: (deviceId: string) => Promise<Downlink | undefined>;
  /** Only while it is in that state; whether it was. */
  readonly save: (downlink: Downlink, whileIn: DownlinkState) => Promise<boolean>;
  /** The one that a network server reports of. */
  readonly reported: (
    deviceId: string,
    report: ServerDownlinkReport,
  ) => Promise<Downlink | undefined>;
  readonly expired: (now: EpochMs, max: number) => Promise<readonly Downlink[]>;
  /** Devices behind the id that have some waiting, in order of id. */
  readonly devicesWaiting: (after: string, max: number) => Promise<readonly string[]>;
  /** Devices of the integration that have some waiting. */
  readonly devicesOfIntegration: (integrationId: string) => Promise<readonly string[]>;
}

interface QueueParts {
  readonly records: DownlinkRecords;
  readonly transports: DownlinkTransports;
  readonly note: (deviceId: string, notes: readonly Note[], correlationId: string) => Promise<void>;
  readonly changed: (state: DownlinkState) => void;
  readonly failed: (error: unknown) => void;
  readonly now: () => EpochMs;
  /** Calls back once, later; returns how to cancel. */
  readonly setTimer: SetTimer;
  /** Undefined in a single process. */
  readonly owners?: DownlinkOwners | undefined;
}

/** With several nodes, the owner of a device works on its downlinks. */
export interface DownlinkOwners {
  /** A promise when the records are read. */
  readonly isOwn: (deviceId: string) => boolean | Promise<boolean>;
  /** Runs the queue of another owner. */
  readonly wake: DownlinkQueue['wake'];
}

export class DownlinkQueue {
  readonly #parts: QueueParts;
  readonly #stopping = new AbortController();
  readonly #records: DownlinkRecords;
  readonly #isOwn: DownlinkOwners['isOwn'];
  readonly #queue: KeyedQueue;
  /** Works on the device's downlinks; `atOnce` also on one whose next try is later. */
  readonly wake: (deviceId: string, atOnce?: boolean) => void;
  /** The same for a device of this node, and nothing for others. */
  readonly wakeOwn: DownlinkQueue['wake'];
  /** Resumes everything that waits for devices of this node, as after a start. */
  readonly wakeAll = (): Promise<void> => wakeAll(this.#records, this.wakeOwn);
  readonly reported = async (deviceId: string, report: ServerDownlinkReport): Promise<void> => {
    if (await settleReported(deviceId, report, this.#parts)) this.wake(deviceId);
  };
  /** Ends those whose time is over. */
  readonly expire = (): Promise<void> => expireAll(this.#parts);
  /** Resolves when no try is under way. */
  readonly idle: () => Promise<void>;
  /** Ends tries under way and begins no other; what waits is taken up at the next start. */
  readonly close = async (): Promise<void> => {
    this.#stopping.abort();
    await this.#queue.close();
  };

  constructor(parts: QueueParts) {
    this.#parts = parts;
    const { failed, setTimer, records, owners } = parts;
    this.#records = records;
    this.#isOwn = owners?.isOwn ?? (() => true);
    this.#queue = new KeyedQueue({
      failed,
      setTimer,
      runningMax: queueLimits.devicesMax,
      retryMs: queueLimits.faultMs,
      work: (deviceId, atOnce) => this.#serve(deviceId, atOnce),
    });
    const { schedule } = this.#queue;
    this.wake = wakeWith(this.#isOwn, { failed, schedule, elsewhere: owners?.wake });
    this.wakeOwn = wakeWith(this.#isOwn, { failed, schedule, elsewhere: undefined });
    this.idle = this.#queue.idle;
  }

  async #serve(deviceId: string, atOnce: boolean): Promise<void> {
    let isFirst = true;
    for (let goesOn = true; goesOn && !this.#stopping.signal.aborted; isFirst = false) {
      // The next owner resumes what waits.
      if (!(await this.#isOwn(deviceId))) return;
      const downlink = await this.#records.next(deviceId);
      if (downlink === undefined) return;
      const now = this.#parts.now();
      if (downlink.expiresAt <= now) {
        await settle(downlink, expiryOf(downlink), this.#parts);
        continue;
      }
      const waitMs = (downlink.nextTryAt ?? 0) - now;
      if (waitMs > 0 && !(atOnce && isFirst)) return this.#queue.scheduleLater(deviceId, waitMs);
      const result = await send(downlink, this.#parts.transports, this.#stopping.signal);
      // A try that was cut short by a stop is no try.
      if (this.#stopping.signal.aborted && result.outcome === 'retry') return;
      const conclusion = conclusionOf(downlink, result, this.#parts.now());
      if (conclusion.settled !== undefined) await settle(downlink, conclusion.settled, this.#parts);
      if (conclusion.retryInMs !== undefined)
        this.#queue.scheduleLater(deviceId, conclusion.retryInMs);
      goesOn = conclusion.goesOn;
    }
  }

  /** Works on the downlinks of the integration's devices of this node immediately. */
  async wakeIntegration(integrationId: string): Promise<void> {
    for (const deviceId of await this.#records.devicesOfIntegration(integrationId))
      this.wakeOwn(deviceId, true);
  }
}

function wakeWith(
  isOwn: DownlinkOwners['isOwn'],
  {
    failed,
    schedule,
    elsewhere,
  }: {
    readonly failed: (error: unknown) => void;
    readonly schedule: DownlinkQueue['wake'];
    readonly elsewhere: DownlinkQueue['wake'] | undefined;
  },
): DownlinkQueue['wake'] {
  return (deviceId, atOnce) => {
    const wake = (own: boolean): void => {
      if (own) schedule(deviceId, atOnce);
      else elsewhere?.(deviceId, atOnce);
    };
    const own = isOwn(deviceId);
    if (own instanceof Promise) own.then(wake).catch(failed);
    else wake(own);
  };
}

/** Whether the report changed a downlink. */
async function settleReported(
  deviceId: string,
  report: ServerDownlinkReport,
  parts: QueueParts,
): Promise<boolean> {
  const downlink = await parts.records.reported(deviceId, report);
  const settled = downlink && reportConclusionOf(downlink, report.state, report.reason ?? null);
  if (settled === undefined || downlink === undefined) return false;
  await settle(downlink, settled, parts);
  return true;
}

async function expireAll(parts: QueueParts): Promise<void> {
  for (const downlink of await parts.records.expired(parts.now(), queueLimits.expiredAtOnceMax))
    await settle(downlink, expiryOf(downlink), parts);
}

async function send(
  downlink: Downlink,
  transports: DownlinkTransports,
  signal: AbortSignal,
): Promise<DownlinkOutcome> {
  const sendNow = transports.get(downlink.connectivity);
  if (sendNow !== undefined) return sendNow(downlink, signal);
  return { outcome: 'offline', reason: `nothing here reaches ${downlink.connectivity} devices` };
}

/** The record changes only if nobody changed its state meanwhile; then it is told, too. */
async function settle(
  before: Downlink,
  { change, note }: NonNullable<Conclusion['settled']>,
  parts: QueueParts,
): Promise<void> {
  const after: Downlink = { ...before, ...change, updated: parts.now() };
  if (!(await parts.records.save(after, before.state))) return;
  if (after.state !== before.state) parts.changed(after.state);
  await parts.note(after.deviceId, [note], after.correlationId);
}

async function wakeAll(records: DownlinkRecords, wake: (deviceId: string) => void): Promise<void> {
  const { wokenAtOnceMax } = queueLimits;
  for (let after = ''; ; ) {
    const devices = await records.devicesWaiting(after, wokenAtOnceMax);
    for (const deviceId of devices) wake(deviceId);
    const last = devices.at(-1);
    if (last === undefined || devices.length < wokenAtOnceMax) return;
    after = last;
  }
}

// Downlink status after a try or a report: the changed record, its note, and the next try.

/** Delays before the second try, the third and so on; each further one is an hour. */
const backoffMs: readonly number[] = [1_000, 5_000, 30_000, 120_000, 600_000];

const reachedStates = { sent: 'SENT', acknowledged: 'ACKNOWLEDGED' } as const;

interface Conclusion {
  /** Undefined when the record stays as it is. */
  readonly settled?: { readonly change: Partial<Downlink>; readonly note: Note };
  /** Whether the device's next downlink has its turn. */
  readonly goesOn: boolean;
  readonly retryInMs?: number;
}

function conclusionOf(downlink: Downlink, result: DownlinkOutcome, now: EpochMs): Conclusion {
  const { id, tries } = downlink;
  switch (result.outcome) {
    case 'sent':
    case 'acknowledged': {
      const { serverReference } = result;
      const change = {
        state: reachedStates[result.outcome],
        error: null,
        nextTryAt: null,
        tries: tries + 1,
        ...(serverReference !== undefined && { serverReference }),
      } as const;
      return {
        settled: { change, note: noteOf('INFO', downlink, `Downlink ${id} was ${result.outcome}`) },
        goesOn: true,
      };
    }
    case 'failed': {
      const change = {
        state: 'FAILED',
        error: result.reason,
        nextTryAt: null,
        tries: tries + 1,
      } as const;
      const note = noteOf('ERROR', downlink, `Downlink ${id} failed: ${result.reason}`);
      return { settled: { change, note }, goesOn: true };
    }
    case 'offline': {
      // One note only: a device can be offline for days, and is tried often.
      if (downlink.error === result.reason) return { goesOn: false };
      const note = noteOf('INFO', downlink, `Downlink ${id} is queued: ${result.reason}`);
      return {
        settled: { change: { error: result.reason, nextTryAt: null }, note },
        goesOn: false,
      };
    }
    case 'retry': {
      const retryInMs = result.afterMs ?? backoffMs[tries] ?? hourMs;
      const change = { error: result.reason, tries: tries + 1, nextTryAt: now + retryInMs };
      const note = noteOf('WARN', downlink, `Downlink ${id} will be retried: ${result.reason}`);
      return { settled: { change, note }, goesOn: false, retryInMs };
    }
  }
}

const reports = {
  SENT: { text: 'was transmitted', level: 'INFO' },
  ACKNOWLEDGED: { text: 'was acknowledged by the device', level: 'INFO' },
  FAILED: { text: 'failed', level: 'ERROR' },
} as const;

/** Undefined when the report changes nothing. */
function reportConclusionOf(
  downlink: Downlink,
  state: DownlinkState,
  reason: string | null,
): NonNullable<Conclusion['settled']> | undefined {
  const isOpen = downlink.state === 'QUEUED' || downlink.state === 'SENT';
  if (!isOpen || (state !== 'SENT' && state !== 'ACKNOWLEDGED' && state !== 'FAILED'))
    return undefined;
  const { text, level } = reports[state];
  const message = [`Downlink ${downlink.id} ${text}`, reason].filter((part) => part !== null);
  const change = {
    state,
    nextTryAt: null,
    error: null,
    ...(state === 'FAILED' && { error: reason }),
  };
  return { change, note: noteOf(level, downlink, message.join(': ')) };
}

function expiryOf(downlink: Downlink): NonNullable<Conclusion['settled']> {
  const message = `Downlink ${downlink.id} expired before it could be sent`;
  return { change: { state: 'EXPIRED', nextTryAt: null }, note: noteOf('WARN', downlink, message) };
}

function noteOf(level: Note['level'], { id, port, topic }: Downlink, message: string): Note {
  return {
    level,
    source: 'DOWNLINK',
    message,
    details: { downlinkId: id, ...(port === null ? { topic } : { port }) },
  };
}

// Downlink order: an output of one device sends a downlink to a device of the same workspace (contract 9).

/**
 * The order throws Problem 404 for a device of another workspace than that of the device that
 * triggered it.
 */
export function createDownlinkOrders({
  findRoute,
  send,
}: {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly send: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<unknown>;
}): OrderDownlink {
  return async ({ from, to, command, correlationId, idempotencyKey }) => {
    const source = await findRoute(from);
    const target = await findRoute(to);
    if (source.device.workspaceId !== target.device.workspaceId)
      throw problem('notFound', { what: 'device', id: to });
    await send(to, command, { correlationId, idempotencyKey });
  };
}
