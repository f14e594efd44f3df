// Shared deliveries: with several nodes, the holder of a shard of connectors attempts what waits in the records.
import type { Deliverer } from '../outputs/deliveries/attempts/delivery-worker.ts';
import {
  type WaitingDelivery,
  waitingDraft,
  type TriedDelivery,
} from '../outputs/deliveries/attempts/waiting-delivery.ts';
import { deliveryLogLimits } from '../storage/delivery-log/record.ts';
import type { Delivery } from '../model/delivery.ts';
import type { EpochMs } from '../model/instant.ts';
import { type RecordsDb, transaction } from '../storage/records/records.ts';
import { type DeliveryResult, sharedDeliveryRows } from '../storage/records/rows/deliveries.ts';
import { RetryingWorker } from '../structures/retrying-worker.ts';
import { createSerialQueue } from '../structures/work-queues.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { DeliveryBook, DeliveryFilter } from '../inventory/data-flows/deliveries.ts';

const sharedDeliveryLimits = {
  rowsPerPage: 1_000,
  /** Deliveries whose contexts are in memory; those of others are read for each attempt. */
  heldMax: 4_000,
  heldBytesMax: 64 * 1024 * 1024,
  /** Results that are written together. */
  resultsPerWrite: 500,
  /** With more results that are not written, no delivery starts. */
  resultsMax: 2_000,
  writeEveryMs: 50,
  removedPerStep: 1_000,
} as const;
const retryDelaysMs = [500, 1_000, 5_000] as const;

interface SharedDeliveriesParts {
  readonly db: RecordsDb;
  readonly deliverer: () => Pick<
    Deliverer,
    'add' | 'wake' | 'refuse' | 'waitingDeliveries' | 'release'
  >;
  readonly shardOf: (connectorId: string) => number;
  /** Called for each attempt whose result will be written. */
  readonly recorded: (tried: TriedDelivery) => void;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
  readonly failed: (error: unknown) => void;
  /** Yields to other work. */
  readonly pause: () => Promise<unknown>;
}

interface ResultWriter {
  readonly add: (result: DeliveryResult) => void;
  readonly isBehind: () => boolean;
  readonly written: () => Promise<void>;
  readonly close: () => Promise<void>;
}

interface State {
  readonly results: ResultWriter;
  /** Everything up to this sequence was read, for the shards. */
  place: number | undefined;
  readonly shards: Set<number>;
  held: number;
  heldBytes: number;
}

export class SharedDeliveries {
  readonly #parts: SharedDeliveriesParts;
  readonly #results: ResultWriter;
  readonly #state: State;
  readonly #reading = createSerialQueue();
  #isWoken = false;

  constructor(parts: SharedDeliveriesParts) {
    this.#parts = parts;
    this.#results = createResultWriter(parts);
    this.#state = {
      results: this.#results,
      place: undefined,
      shards: new Set(),
      held: 0,
      heldBytes: 0,
    };
  }

  readonly load = (
    waiting: WaitingDelivery,
  ): Delivery | undefined | Promise<Delivery | undefined> => {
    if (waiting.isGone) {
      letGo(this.#state, waiting);
      return undefined;
    }
    return waiting.draft ?? sharedDeliveryRows.find(this.#parts.db, waiting.id);
  };

  /** Resolves when all results so far are written. */
  readonly written = (): Promise<void> => this.#results.written();

  /** Removes deliveries that ended long ago, for all nodes. */
  readonly removeOld = (): Promise<void> => removeOld(this.#parts);

  readonly close = async (): Promise<void> => {
    await this.#reading.idle();
    await this.#results.close();
  };

  /** Begins to read deliveries of the shards. */
  take(shards: readonly number[]): void {
    this.#reading.run(() => takeShards(this.#parts, this.#state, shards)).catch(this.#parts.failed);
  }

  /** Resolves when nothing of the shards is attempted any longer, and all results are written. */
  async leave(shards: readonly number[]): Promise<void> {
    const left = new Set(shards);
    await this.#reading.run(async () => {
      for (const shard of left) this.#state.shards.delete(shard);
    });
    const isLeft = ({ connectorId }: WaitingDelivery) => left.has(this.#parts.shardOf(connectorId));
    const leaving = [...this.#parts.deliverer().waitingDeliveries()].filter(isLeft);
    await this.#parts.deliverer().release(isLeft);
    for (const waiting of leaving) letGo(this.#state, waiting);
    await this.#results.written();
  }

  /** Reads what was added. Resolves when the deliverer has it. */
  wake(): Promise<void> {
    if (this.#isWoken) return this.#reading.idle();
    this.#isWoken = true;
    return this.#reading.run(async () => {
      this.#isWoken = false;
      await readOn(this.#parts, this.#state);
    });
  }

  record(tried: TriedDelivery): void {
    const { waiting, outcome } = tried;
    if (outcome.state !== 'PENDING') letGo(this.#state, waiting);
    if (waiting.isGone) return;
    this.#results.add({ ...outcome, id: waiting.id, revision: waiting.revision });
    waiting.revision += 1;
    waiting.updated = outcome.updated;
    this.#parts.recorded(tried);
  }

  /** Whether no attempt may start, because too many results are not written. */
  isBehind(): boolean {
    return this.#results.isBehind();
  }

  /** Drops those that match, because their connector or device was deleted. */
  drop(isDropped: (waiting: WaitingDelivery) => boolean): void {
    for (const waiting of this.#parts.deliverer().waitingDeliveries())
      if (isDropped(waiting)) waiting.isGone = true;
  }
}

/** Reads what waits in the shards up to the place; what is behind comes with that of the others. */
async function takeShards(
  parts: SharedDeliveriesParts,
  state: State,
  shards: readonly number[],
): Promise<void> {
  const fresh = shards.filter((shard) => !state.shards.has(shard));
  state.place ??= await sharedDeliveryRows.newest(parts.db);
  for (let behind = -1; ; ) {
    const page = { shards: fresh, behind, upTo: state.place };
    const rows = await sharedDeliveryRows.waiting(parts.db, page, sharedDeliveryLimits.rowsPerPage);
    addRows(parts, state, rows);
    behind = rows.at(-1)?.sequence ?? behind;
    if (rows.length < sharedDeliveryLimits.rowsPerPage) break;
    await parts.pause();
  }
  for (const shard of fresh) state.shards.add(shard);
  await readOn(parts, state);
}

async function readOn(parts: SharedDeliveriesParts, state: State): Promise<void> {
  const { rowsPerPage } = sharedDeliveryLimits;
  for (let isMore = state.shards.size > 0; isMore; ) {
    const page = { shards: [...state.shards], behind: state.place ?? -1 };
    const rows = await sharedDeliveryRows.waiting(parts.db, page, rowsPerPage);
    addRows(parts, state, rows);
    state.place = rows.at(-1)?.sequence ?? state.place;
    isMore = rows.length === rowsPerPage;
    if (isMore) await parts.pause();
  }
}

function addRows(parts: SharedDeliveriesParts, state: State, rows: readonly Delivery[]): void {
  const deliverer = parts.deliverer();
  for (const row of rows) {
    const reason = deliverer.refuse(row);
    if (reason === undefined) {
      deliverer.add([waitingOf(state, row)]);
      continue;
    }
    const { id, tries, payload, answer, revision } = row;
    const at = parts.now();
    state.results.add({
      id,
      tries,
      payload,
      answer,
      reason,
      revision: revision + 1,
      state: 'DEAD',
      nextAt: at,
      updated: at,
    });
  }
}

function waitingOf(state: State, row: Delivery): WaitingDelivery {
  const { heldMax, heldBytesMax } = sharedDeliveryLimits;
  const waiting = waitingDraft(row);
  waiting.revision = row.revision + 1;
  const bytes = contextBytes(row);
  if (state.held < heldMax && state.heldBytes + bytes <= heldBytesMax) {
    state.held += 1;
    state.heldBytes += bytes;
  } else waiting.draft = undefined;
  return waiting;
}

const contextBytes = ({ contextText = '' }: Delivery): number => 2 * contextText.length;

function letGo(state: State, waiting: WaitingDelivery): void {
  if (waiting.draft === undefined) return;
  state.held -= 1;
  state.heldBytes -= contextBytes(waiting.draft);
  waiting.draft = undefined;
}

/** Writes results in batches, again after a failure; after a crash the attempts are repeated. */
function createResultWriter({
  db,
  deliverer,
  setTimer,
  failed,
}: SharedDeliveriesParts): ResultWriter {
  const waiting: DeliveryResult[] = [];
  const { resultsPerWrite, resultsMax, writeEveryMs } = sharedDeliveryLimits;
  let cancelWait: (() => void) | undefined;
  let isDue = false;
  const worker = new RetryingWorker({
    hasWork: () => isDue && waiting.length > 0,
    async work() {
      const wasBehind = waiting.length > resultsMax;
      while (waiting.length > 0) {
        const some = waiting.slice(0, resultsPerWrite);
        await transaction(db, (step) => sharedDeliveryRows.saveResults(step.db, some), 'lazy');
        waiting.splice(0, some.length);
      }
      isDue = false;
      if (wasBehind) deliverer().wake();
    },
    failed,
    retryDelaysMs,
    setTimer,
  });
  function due(): void {
    cancelWait?.();
    cancelWait = undefined;
    isDue = true;
    worker.wake();
  }
  async function written(): Promise<void> {
    due();
    await worker.idle();
  }
  return {
    add(result: DeliveryResult) {
      waiting.push(result);
      if (waiting.length >= resultsPerWrite) due();
      else cancelWait ??= setTimer(due, writeEveryMs);
    },
    isBehind: () => waiting.length > resultsMax,
    written,
    async close() {
      await written();
      await worker.close();
    },
  };
}

async function removeOld({ db, now, pause }: SharedDeliveriesParts): Promise<void> {
  const { keptMsMax, keptPerConnectorMax: kept } = deliveryLogLimits;
  const { removedPerStep: max } = sharedDeliveryLimits;
  const before = now() - keptMsMax;
  while ((await removeDeliveriesBefore(db, before, max)) === max) await pause();
  for (const connectorId of await connectorsWithSurplus(db, kept))
    while ((await removeSurplusDeliveries(db, connectorId, { kept, max })) === max) await pause();
}

// Shared delivery removal: deliveries of several nodes that ended long ago, or are too many of one connector.

/** Removes deliveries that ended before the time. Returns their number, at most `max`. */
async function removeDeliveriesBefore(
  db: RecordsDb,
  before: EpochMs,
  max: number,
): Promise<number> {
  const old = db
    .selectFrom('deliveries')
    .select('id')
    .where('state', '!=', 'PENDING')
    .where('updated', '<', before)
    .limit(max);
  const { numDeletedRows } = await db
    .deleteFrom('deliveries')
    .where('id', 'in', old)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Connectors with more deliveries that ended than are kept. */
async function connectorsWithSurplus(db: RecordsDb, kept: number): Promise<string[]> {
  const rows = await db
    .selectFrom('deliveries')
    .select('connectorId')
    .where('state', '!=', 'PENDING')
    .groupBy('connectorId')
    .having(({ fn }) => fn.countAll(), '>', kept)
    .execute();
  return rows.map(({ connectorId }) => connectorId);
}

/** Removes the oldest ones of the connector that ended, at most `max`. Returns their number. */
async function removeSurplusDeliveries(
  db: RecordsDb,
  connectorId: string,
  { kept, max }: { readonly kept: number; readonly max: number },
): Promise<number> {
  const surplus = db
    .selectFrom('deliveries')
    .select('id')
    .where('connectorId', '=', connectorId)
    .where('state', '!=', 'PENDING')
    .orderBy('updated', 'desc')
    .orderBy('id')
    .offset(kept)
    .limit(max);
  const { numDeletedRows } = await db
    .deleteFrom('deliveries')
    .where('id', 'in', surplus)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

// Shared delivery book: with several nodes, each lists deliveries of the records and sends them again.

export function createSharedDeliveryBook(parts: {
  readonly db: RecordsDb;
  /** Resolves when the results of this node are in the records. */
  readonly written: () => Promise<void>;
  /** Lets the nodes that hold the connectors read what waits. */
  readonly wakeHolders: (connectorIds: readonly string[]) => void;
  readonly now: () => EpochMs;
}): DeliveryBook {
  const { db, written, wakeHolders, now } = parts;

  async function renew(
    filter: DeliveryFilter & { readonly ids?: readonly string[] | undefined },
    max: number,
  ): Promise<number> {
    await written();
    return transaction(db, async (step) => {
      const count = await sharedDeliveryRows.renew(step.db, filter, { at: now(), max });
      step.afterCommit(() => wakeHolders([filter.connectorId]));
      return count;
    });
  }

  return {
    async list(filter, page) {
      await written();
      return sharedDeliveryRows.list(db, filter, page);
    },
    find: (id) => sharedDeliveryRows.find(db, id),
    renew,
    async renewOne(id) {
      await written();
      const delivery = await sharedDeliveryRows.find(db, id);
      if (delivery === undefined || delivery.state === 'PENDING') return delivery;
      const { connectorId, organizationId } = delivery;
      await renew({ connectorId, organizationId, ids: [id] }, 1);
      return sharedDeliveryRows.find(db, id);
    },
  };
}
