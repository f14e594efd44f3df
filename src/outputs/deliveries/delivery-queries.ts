// Delivery book: lists deliveries that wait or ended, and sends them again (contract 35).
import { type DeliveryLog, keptEnded } from '../../storage/delivery-log/delivery-log.ts';
import { deliveryLogLimits, type StoredDelivery } from '../../storage/delivery-log/record.ts';
import type { DeliveryRow } from '../../storage/delivery-log/row-table.ts';
import type { Deliverer } from './attempts/delivery-worker.ts';
import { deliveryOf, type WaitingDelivery, waitingRecord } from './attempts/waiting-delivery.ts';
import type { DeliveryBook, DeliveryFilter } from '../../inventory/data-flows/deliveries.ts';
import type { Delivery } from '../../model/delivery.ts';
import type { EpochMs } from '../../model/instant.ts';
import { compareBy, type PageRequest } from '../../model/page.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { DeliveryIntake } from './delivery-intake.ts';

type Listed = WaitingDelivery | DeliveryRow;

const sortKeys: Readonly<Record<string, (row: Listed) => string | number>> = {
  created: ({ sequence }) => sequence,
  updated: ({ updated }) => updated,
  state: ({ state }) => state,
  tries: ({ tries }) => tries,
  nextAt: ({ nextAt }) => nextAt,
};
const newestFirst = [{ field: 'created', direction: 'desc' }] as const;

/** The deliveries of the delivery log. */
export class LoggedDeliveries implements DeliveryBook {
  readonly #parts;
  readonly #renewing = createSerialQueue();

  constructor(parts: {
    readonly log: DeliveryLog;
    readonly deliverer: Deliverer;
    readonly intake: DeliveryIntake;
    /** Whether the connector exists. */
    readonly isKnown: (connectorId: string) => Promise<boolean>;
    /** Yields to other work. */
    readonly pause: () => Promise<unknown>;
    readonly now: () => EpochMs;
  }) {
    this.#parts = parts;
  }

  async list(
    filter: DeliveryFilter,
    { page, size, sort }: PageRequest,
  ): Promise<{ readonly rows: readonly Delivery[]; readonly total: number }> {
    const inOrder = compareBy(sort.length > 0 ? sort : newestFirst, sortKeys);
    const rows = await this.#matching(filter);
    const compare = (a: Listed, b: Listed) => inOrder(a, b) || a.sequence - b.sequence;
    const sorted = await sortInTurns(rows, compare, this.#parts.pause);
    const shown: Delivery[] = [];
    for (const row of sorted.slice(page * size, (page + 1) * size)) {
      const delivery = await this.#read(row);
      // What cannot be read was reported.
      if (delivery !== undefined) shown.push(delivery);
    }
    return { rows: shown, total: rows.length };
  }

  renew(which: Parameters<DeliveryBook['renew']>[0], max: number): Promise<number> {
    return this.#renewing.run(() => this.#renewMatching(which, max));
  }

  renewOne(id: string): Promise<Delivery | undefined> {
    return this.#renewing.run(() => this.#renewOne(id));
  }

  async #matching(filter: DeliveryFilter): Promise<Listed[]> {
    const { states, connectorId } = filter;
    const rows: Listed[] = [];
    const takes = takenBy(filter);
    if (states === undefined || states.includes('PENDING')) {
      for (const waiting of this.#parts.deliverer.waitingDeliveries(connectorId))
        if (!waiting.isGone && takes(waiting)) rows.push(waiting);
    }
    if (states?.every((state) => state === 'PENDING') === true) return rows;
    for (const row of await this.#ended(connectorId)) {
      if (takes(row) && states?.includes(row.state) !== false) rows.push(row);
    }
    return rows;
  }

  /** Deliveries that ended and do not wait again. */
  async #ended(connectorId: string): Promise<readonly DeliveryRow[]> {
    const { log, deliverer, now } = this.#parts;
    const { keptMsMax, keptPerConnectorMax } = deliveryLogLimits;
    const rows = await log.endedOf(connectorId, keptPerConnectorMax);
    for (const { id, isResent } of deliverer.waitingDeliveries(connectorId))
      if (isResent) rows.delete(id);
    const kept = keptEnded([...rows.values()], keptPerConnectorMax);
    const since = now() - keptMsMax;
    return [...kept].filter(({ updated }) => updated >= since);
  }

  /** Undefined for one that cannot be read. */
  async #read(row: Listed): Promise<Delivery | undefined> {
    const { log } = this.#parts;
    if ('draft' in row && row.draft !== undefined) return row.draft;
    const stored = row.place && (await log.read(row.place));
    return stored && deliveryOf(stored);
  }

  async find(id: string): Promise<Delivery | undefined> {
    const held = this.#parts.intake.held(id);
    if (held !== undefined) return held;
    const row = await this.#parts.log.find(id);
    if (row === undefined || !(await this.#parts.isKnown(row.connectorId))) return undefined;
    return this.#read(row);
  }

  /** Writes that the delivery waits again; undefined when it cannot be read, which was reported. */
  async #waitAgain({
    place,
  }: DeliveryRow): Promise<
    { readonly record: StoredDelivery; readonly waiting: WaitingDelivery } | undefined
  > {
    const { log, now } = this.#parts;
    const stored = await log.read(place);
    if (stored === undefined) return undefined;
    const at = now();
    const again = { state: 'PENDING', tries: 0, nextAt: at, updated: at, reason: null } as const;
    const record = { ...stored, ...again, revision: stored.revision + 1, isResent: true };
    return { record, waiting: waitingRecord(record, log.append(record)) };
  }

  async #renewOne(id: string): Promise<Delivery | undefined> {
    const { log, deliverer } = this.#parts;
    const row = await log.find(id);
    const isEnded = row !== undefined && row.state !== 'PENDING';
    const renewed = isEnded ? await this.#waitAgain(row) : undefined;
    if (renewed === undefined) return this.find(id);
    await log.sync();
    deliverer.add([renewed.waiting]);
    return deliveryOf(renewed.record);
  }

  async #renewMatching(
    which: DeliveryFilter & { readonly ids?: readonly string[] | undefined },
    max: number,
  ): Promise<number> {
    const { log, deliverer } = this.#parts;
    const ids = which.ids && new Set(which.ids);
    const states = which.states ?? ['DELIVERED', 'DEAD'];
    const takes = takenBy(which);
    const rows = (await this.#ended(which.connectorId)).filter(
      (row) => takes(row) && states.includes(row.state) && ids?.has(row.id) !== false,
    );
    const waiting: WaitingDelivery[] = [];
    for (const row of rows.toSorted((a, b) => a.sequence - b.sequence).slice(0, max)) {
      const renewed = await this.#waitAgain(row);
      if (renewed !== undefined) waiting.push(renewed.waiting);
    }
    if (waiting.length > 0) await log.sync();
    deliverer.add(waiting);
    return waiting.length;
  }
}

function takenBy({
  organizationId,
  workspaceIds,
  deviceId,
}: DeliveryFilter): (row: Listed) => boolean {
  const workspaces = workspaceIds && new Set(workspaceIds);
  return (row) =>
    row.organizationId === organizationId &&
    workspaces?.has(row.workspaceId) !== false &&
    (deviceId === undefined || row.deviceId === deviceId);
}

// Sort in turns: a stable merge sort of long lists that yields to other work.

/** Items that are sorted or merged between two pauses. */
const itemsPerTurn = 5_000;

/** Resolves with the items in order; the array itself is not changed. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<unknown>,
): Promise<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += itemsPerTurn) {
    if (from > 0) await pause();
    runs.push(items.slice(from, from + itemsPerTurn).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare, pause));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<unknown>,
): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    const [a, b] = [one[i] as T, other[j] as T];
    // Of equal items the earlier one comes first.
    if (compare(a, b) <= 0) i = merged.push(a) - j;
    else j = merged.push(b) - i;
    if (merged.length % itemsPerTurn === 0) await pause();
  }
  return merged.concat(one.slice(i), other.slice(j));
}
