// Deliveries on their way to the delivery log: those of rules, and what several nodes left.
import type { Selectable } from 'kysely';
import type {
  Delivery,
  DeliveryCause,
  DeliveryDraft,
  DeliveryState,
} from '../../../model/delivery.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { toJsonText } from '../columns.ts';
import { type CommitPlace, commitOrder } from '../commit-order.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

// Few enough for every engine's parameter limit, many enough to be quick.
const rowsPerStatement = 100;

export interface NewDelivery {
  readonly id: string;
  readonly draft: Omit<DeliveryDraft, 'sequence'>;
}

/** A row with its context as a JSON string; its sequence is its place among the rows. */
export type DeliveryOnItsWay = Omit<Delivery, 'context' | 'revision' | 'isResent'> & {
  readonly contextText: string;
  readonly place: CommitPlace;
};

/** Inserts what is not there yet by its key; the transaction is the caller's. */
export async function insertDeliveries(
  step: RecordsDb,
  made: readonly NewDelivery[],
  now: EpochMs,
): Promise<void> {
  for (let from = 0; from < made.length; from += rowsPerStatement) {
    const rows = made.slice(from, from + rowsPerStatement).map(({ id, draft }) => ({
      ...draft,
      id,
      ruleId: draft.ruleId ?? null,
      ruleHops: draft.ruleHops ?? 0,
      context: toJsonText(draft.context),
      state: 'PENDING',
      tries: 0,
      nextAt: now,
      created: now,
      updated: now,
      reason: null,
      shard: null,
    }));
    await step
      .insertInto('deliveries')
      .values(rows)
      .onConflict((conflict) => conflict.column('idempotencyKey').doNothing())
      .execute();
  }
}

/** Rows behind the place, in order of commit. */
export async function findDeliveriesOnTheirWay(
  db: RecordsDb,
  behind: CommitPlace | undefined,
  max: number,
): Promise<DeliveryOnItsWay[]> {
  const query = db.selectFrom('deliveries').selectAll();
  const rows = await commitOrder(db).rowsBehind(query, behind, max);
  return rows.map(fromRow);
}

export async function countDeliveriesOnTheirWay(db: RecordsDb): Promise<number> {
  const { count } = await db
    .selectFrom('deliveries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Removes the rows up to the place, which the delivery log has. */
export async function removeDeliveriesOnTheirWay(db: RecordsDb, upTo: CommitPlace): Promise<void> {
  await db.deleteFrom('deliveries').where(commitOrder(db).isUpTo(upTo)).execute();
}

function fromRow({
  context,
  ruleId,
  idempotencyKey: _,
  shard: _shard,
  revision: _revision,
  isResent: _isResent,
  ...row
}: Selectable<RecordTables['deliveries']> & {
  readonly place: CommitPlace;
}): DeliveryOnItsWay {
  return {
    ...row,
    ...(ruleId === null ? {} : { ruleId }),
    cause: row.cause as DeliveryCause,
    state: row.state as DeliveryState,
    contextText: context,
  };
}
