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

const partsPerPosition = 4_096;

export class DeliveryHandover {
  readonly #parts;
  readonly #worker: RetryingWorker;
  #isRequested: boolean;
  /** Rows up to this one were moved. */
  #after: CommitPlace | undefined;
  /** Of the delivery that was moved last. */
  #sequence: number;
  /** Rows of the start that were not moved yet. */
  #left: number;

  /** Starts to move what is in the records. */
  constructor(parts: {
    /** Rows on their way at the start, as `onTheirWayRows.count` counts them. */
    readonly left: number;
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
  }) {
    this.#parts = parts;
    this.#left = parts.left;
    this.#isRequested = parts.left > 0;
    // What is there at the start is older than everything that the journal will give, and newer
    // than what was moved before the stop.
    const behindJournal = parts.from - 1 - (parts.left + 1) / partsPerPosition;
    this.#sequence = Math.max(behindJournal, parts.newestWaiting ?? behindJournal);
    this.#worker = new RetryingWorker({
      hasWork: () => this.#isRequested,
      work: () => this.#moveAll(),
      failed: parts.failed,
      retryDelaysMs,
      setTimer: parts.setTimer,
    });
    this.#worker.wake();
  }

  /**
   * Resolves when the deliveries are in the records. Those with a known key are ignored. `step` is
   * the transaction of the caller: the deliveries are committed or rolled back with it.
   */
  readonly enqueue = async (
    drafts: readonly DeliveryDraft[],
    step?: TransactionStep,
  ): Promise<void> => {
    const { records, newId, now } = this.#parts;
    const made = drafts.map((draft) => ({
      id: draft.id ?? randomDeliveryId(draft.connectorId, newId()),
      draft,
    }));
    const insert = async ({ db, afterCommit }: TransactionStep) => {
      await onTheirWayRows.insert(db, made, now());
      afterCommit(() => this.#wake());
    };
    await (step === undefined ? transaction(records.db, insert) : insert(step));
  };

  /** Moves what is in the records. Resolves when it waits for its turn, or an attempt failed. */
  move(): Promise<void> {
    return this.#worker.idle();
  }

  readonly close = (): Promise<void> => this.#worker.close();

  #wake(): void {
    this.#isRequested = true;
    this.#worker.retryNow();
  }

  async #moveAll(): Promise<void> {
    this.#isRequested = false;
    try {
      while (await this.#movePage()) await pause();
    } catch (error) {
      this.#isRequested = true;
      throw error;
    }
  }

  /** Resolves to whether there may be more. */
  async #movePage(): Promise<boolean> {
    const { records, log } = this.#parts;
    const rows = await onTheirWayRows.behind(records.db, this.#after, rowsPerPage);
    const last = rows.at(-1);
    if (last === undefined) return false;
    // A crash may have come between the record and the removal of one page.
    const isFirst = this.#after === undefined;
    for (const row of rows) {
      const isKnown = isFirst && (await log.find(row.id)) !== undefined;
      if (!isKnown) this.#moveRow(row);
      this.#left -= 1;
      this.#after = row.place;
    }
    await log.sync();
    await onTheirWayRows.removeUpTo(records.db, last.place);
    return rows.length === rowsPerPage;
  }

  #moveRow({ contextText, ...row }: DeliveryOnItsWay): void {
    const { log, deliverer, position } = this.#parts;
    this.#sequence =
      this.#left > 0
        ? this.#sequence + 1 / partsPerPosition
        : sequenceBehind(this.#sequence, position() - 1);
    const reason = row.state === 'PENDING' ? deliverer.refuse(row) : undefined;
    const record: StoredDelivery = {
      ...row,
      sequence: this.#sequence,
      revision: 0,
      isResent: false,
      context: contextText,
      ...(reason !== undefined && { state: 'DEAD', reason }),
    };
    const place = log.append(record);
    if (record.state === 'PENDING') deliverer.add([waitingRecord(record, place)]);
  }
}
