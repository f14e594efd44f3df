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

interface DeliveryBookParts {
  readonly log: DeliveryLog;
  readonly deliverer: Deliverer;
  readonly intake: DeliveryIntake;
  /** Whether the connector exists. */
  readonly isKnown: (connectorId: string) => Promise<boolean>;
  /** Yields to other work. */
  readonly pause: () => Promise<unknown>;
  readonly now: () => EpochMs;
}

type Listed = WaitingDelivery | DeliveryRow;

const sortKeys: Readonly<Record<string, (row: Listed) => string | number>> = {
  created: ({ sequence }) => sequence,
  updated: ({ updated }) => updated,
  state: ({ state }) => state,
  tries: ({ tries }) => tries,
  nextAt: ({ nextAt }) => nextAt,
};
const newestFirst = [{ field: 'created', direction: 'desc' }] as const;

export function createDeliveryBook(parts: DeliveryBookParts): DeliveryBook {
  const renewing = createSerialQueue();
  return {
    list: (filter, page) => list(parts, filter, page),
    find: (id) => find(parts, id),
    renew: (which, max) => renewing.run(() => renewMatching(parts, which, max)),
    renewOne: (id) => renewing.run(() => renewOne(parts, id)),
  };
}

async function list(
  parts: DeliveryBookParts,
  filter: DeliveryFilter,
  { page, size, sort }: PageRequest,
): Promise<{ readonly rows: readonly Delivery[]; readonly total: number }> {
  const inOrder = compareBy(sort.length > 0 ? sort : newestFirst, sortKeys);
  const rows = await matching(parts, filter);
  const compare = (a: Listed, b: Listed) => inOrder(a, b) || a.sequence - b.sequence;
  const sorted = await sortInTurns(rows, compare, parts.pause);
  const shown: Delivery[] = [];
  for (const row of sorted.slice(page * size, (page + 1) * size)) {
    const delivery = await read(parts, row);
    // What cannot be read was reported.
    if (delivery !== undefined) shown.push(delivery);
  }
  return { rows: shown, total: rows.length };
}

async function matching(parts: DeliveryBookParts, filter: DeliveryFilter): Promise<Listed[]> {
  const { states, connectorId } = filter;
  const rows: Listed[] = [];
  const takes = takenBy(filter);
  if (states === undefined || states.includes('PENDING')) {
    for (const waiting of parts.deliverer.waitingDeliveries(connectorId))
      if (!waiting.isGone && takes(waiting)) rows.push(waiting);
  }
  if (states?.every((state) => state === 'PENDING') === true) return rows;
  for (const row of await ended(parts, connectorId)) {
    if (takes(row) && states?.includes(row.state) !== false) rows.push(row);
  }
  return rows;
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

/** Deliveries that ended and do not wait again. */
async function ended(
  { log, deliverer, now }: DeliveryBookParts,
  connectorId: string,
): Promise<readonly DeliveryRow[]> {
  const { keptMsMax, keptPerConnectorMax } = deliveryLogLimits;
  const rows = await log.endedOf(connectorId, keptPerConnectorMax);
  for (const { id, isResent } of deliverer.waitingDeliveries(connectorId))
    if (isResent) rows.delete(id);
  const kept = keptEnded([...rows.values()], keptPerConnectorMax);
  const since = now() - keptMsMax;
  return [...kept].filter(({ updated }) => updated >= since);
}

/** Undefined for one that cannot be read. */
async function read({ log }: DeliveryBookParts, row: Listed): Promise<Delivery | undefined> {
  if ('draft' in row && row.draft !== undefined) return row.draft;
  const stored = row.place && (await log.read(row.place));
  return stored && deliveryOf(stored);
}

async function find(parts: DeliveryBookParts, id: string): Promise<Delivery | undefined> {
  const held = parts.intake.held(id);
  if (held !== undefined) return held;
  const row = await parts.log.find(id);
  if (row === undefined || !(await parts.isKnown(row.connectorId))) return undefined;
  return read(parts, row);
}

/** Writes that the delivery waits again; undefined when it cannot be read, which was reported. */
async function renew(
  { log, now }: DeliveryBookParts,
  { place }: DeliveryRow,
): Promise<{ readonly record: StoredDelivery; readonly waiting: WaitingDelivery } | undefined> {
  const stored = await log.read(place);
  if (stored === undefined) return undefined;
  const at = now();
  const again = { state: 'PENDING', tries: 0, nextAt: at, updated: at, reason: null } as const;
  const record = { ...stored, ...again, revision: stored.revision + 1, isResent: true };
  return { record, waiting: waitingRecord(record, log.append(record)) };
}

async function renewOne(parts: DeliveryBookParts, id: string): Promise<Delivery | undefined> {
  const { log, deliverer } = parts;
  const row = await log.find(id);
  const isEnded = row !== undefined && row.state !== 'PENDING';
  const renewed = isEnded ? await renew(parts, row) : undefined;
  if (renewed === undefined) return find(parts, id);
  await log.sync();
  deliverer.add([renewed.waiting]);
  return deliveryOf(renewed.record);
}

async function renewMatching(
  parts: DeliveryBookParts,
  which: DeliveryFilter & { readonly ids?: readonly string[] | undefined },
  max: number,
): Promise<number> {
  const { log, deliverer } = parts;
  const ids = which.ids && new Set(which.ids);
  const states = which.states ?? ['DELIVERED', 'DEAD'];
  const takes = takenBy(which);
  const rows = (await ended(parts, which.connectorId)).filter(
    (row) => takes(row) && states.includes(row.state) && ids?.has(row.id) !== false,
  );
  const waiting: WaitingDelivery[] = [];
  for (const row of rows.toSorted((a, b) => a.sequence - b.sequence).slice(0, max)) {
    const renewed = await renew(parts, row);
    if (renewed !== undefined) waiting.push(renewed.waiting);
  }
  if (waiting.length > 0) await log.sync();
  deliverer.add(waiting);
  return waiting.length;
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
