// Delivery handover: moves deliveries from the records to the log: those of rules, and what several nodes left.
import { setImmediate as pause } from 'node:timers/promises';
import { type DeliveryDraft, sequenceBehind } from '../../model/delivery.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { DeliveryLog } from '../../storage/delivery-log/delivery-log.ts';
import { randomDeliveryId, type StoredDelivery } from '../../storage/delivery-log/record.ts';
import type { CommitPlace } from '../../storage/records/commit-order.ts';
import {
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../../storage/records/records.ts';
import { type DeliveryOnItsWay, onTheirWayRows } from '../../storage/records/rows/deliveries.ts';
import { RetryingWorker } from '../../structures/retrying-worker.ts';
import type { SetTimer } from '../../structures/timers.ts';
import type { Deliverer } from './attempts/delivery-worker.ts';
import { waitingRecord } from './attempts/waiting-delivery.ts';

const rowsPerPage = 1_000;
const retryDelaysMs = [1_000] as const;

interface DeliveryHandoverParts {
  readonly records: { readonly db: RecordsDb };
  readonly log: DeliveryLog;
  readonly deliverer: Pick<Deliverer, 'refuse' | 'add'>;
  /** The position behind the newest journal entry. */
  readonly position: () => number;
  /** The journal position from which the follower creates deliveries; older ones are rows. */
  readonly from: number;
  /** The sequence of the newest delivery that waits in the log at the start, if any. */
  readonly newestWaiting: number | undefined;
  readonly newId: () => string;
  readonly now: () => EpochMs;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

export async function createDeliveryHandover(parts: DeliveryHandoverParts): Promise<{
  /**
   * Resolves when the deliveries are in the records. Those with a known key are ignored. `step` is
   * the transaction of the caller: the deliveries are committed or rolled back with it.
   */
  enqueue(drafts: readonly DeliveryDraft[], step?: TransactionStep): Promise<void>;
  /** Moves what is in the records. Resolves when it waits for its turn, or an attempt failed. */
  move(): Promise<void>;
  close(): Promise<void>;
}> {
  const { records, newId, now, failed, setTimer } = parts;
  const left = await onTheirWayRows.count(records.db);
  // What is there at the start is older than everything that the journal will give, and newer than
  // what was moved before the stop.
  const behindJournal = parts.from - 1 - (left + 1) / partsPerPosition;
  const state: State = {
    after: undefined,
    sequence: Math.max(behindJournal, parts.newestWaiting ?? behindJournal),
    left,
  };
  let isRequested = left > 0;
  const worker = new RetryingWorker({
    hasWork: () => isRequested,
    async work() {
      isRequested = false;
      try {
        while (await movePage(parts, state)) await pause();
      } catch (error) {
        isRequested = true;
        throw error;
      }
    },
    failed,
    retryDelaysMs,
    setTimer,
  });
  const wake = (): void => {
    isRequested = true;
    worker.retryNow();
  };
  worker.wake();
  return {
    async enqueue(drafts, step) {
      const made = drafts.map((draft) => ({
        id: draft.id ?? randomDeliveryId(draft.connectorId, newId()),
        draft,
      }));
      const insert = async ({ db, afterCommit }: TransactionStep) => {
        await onTheirWayRows.insert(db, made, now());
        afterCommit(wake);
      };
      await (step === undefined ? transaction(records.db, insert) : insert(step));
    },
    move: () => worker.idle(),
    close: () => worker.close(),
  };
}

const partsPerPosition = 4_096;

interface State {
  /** Rows up to this one were moved. */
  after: CommitPlace | undefined;
  /** Of the delivery that was moved last. */
  sequence: number;
  /** Rows of the start that were not moved yet. */
  left: number;
}

/** Resolves to whether there may be more. */
async function movePage(parts: DeliveryHandoverParts, state: State): Promise<boolean> {
  const { records, log } = parts;
  const rows = await onTheirWayRows.behind(records.db, state.after, rowsPerPage);
  const last = rows.at(-1);
  if (last === undefined) return false;
  // A crash may have come between the record and the removal of one page.
  const isFirst = state.after === undefined;
  for (const row of rows) {
    const isKnown = isFirst && (await log.find(row.id)) !== undefined;
    if (!isKnown) moveRow(parts, state, row);
    state.left -= 1;
    state.after = row.place;
  }
  await log.sync();
  await onTheirWayRows.removeUpTo(records.db, last.place);
  return rows.length === rowsPerPage;
}

function moveRow(
  { log, deliverer, position }: DeliveryHandoverParts,
  state: State,
  { contextText, ...row }: DeliveryOnItsWay,
): void {
  state.sequence =
    state.left > 0
      ? state.sequence + 1 / partsPerPosition
      : sequenceBehind(state.sequence, position() - 1);
  const reason = row.state === 'PENDING' ? deliverer.refuse(row) : undefined;
  const record: StoredDelivery = {
    ...row,
    sequence: state.sequence,
    revision: 0,
    isResent: false,
    context: contextText,
    ...(reason !== undefined && { state: 'DEAD', reason }),
  };
  const place = log.append(record);
  if (record.state === 'PENDING') deliverer.add([waitingRecord(record, place)]);
}
