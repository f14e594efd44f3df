// Delivery log in the records store: deliveries with their results, and their retention (contract 35).
import { type Expression, expressionBuilder, type Selectable, type SqlBool } from 'kysely';
import type {
  Delivery,
  DeliveryCause,
  DeliveryDraft,
  DeliveryOutcome,
  DeliveryState,
  PendingDelivery,
} from '../../model/delivery.ts';
import { dayMs, type EpochMs } from '../../model/instant.ts';
import type { PageRequest } from '../../model/page.ts';
import { fromJsonText, ifGiven, isOneOf, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordTables } from '../schema.ts';

const deliveryLogLimits = {
  /** Delivered and dead deliveries are kept for this time, up to this number per connector. */
  keptMsMax: 7 * dayMs,
  keptPerConnectorMax: 10_000,
} as const;

// Few enough for every engine's parameter limit, many enough to be quick.
const rowsPerStatement = 100;

/** A new delivery; `refused` makes it a dead one at once, with the reason. */
export interface NewDelivery {
  readonly id: string;
  readonly draft: DeliveryDraft;
  readonly refused?: string;
}

/** Inserts what is not there yet by its key; the transaction is the caller's. */
export async function insertDeliveries(
  step: RecordsDb,
  made: readonly NewDelivery[],
  now: EpochMs,
): Promise<void> {
  for (let from = 0; from < made.length; from += rowsPerStatement) {
    const rows = made.slice(from, from + rowsPerStatement).map(({ id, draft, refused }) => ({
      ...draft,
      id,
      ruleId: draft.ruleId ?? null,
      ruleHops: draft.ruleHops ?? 0,
      context: toJsonText(draft.context),
      state: refused === undefined ? 'PENDING' : 'DEAD',
      tries: 0,
      nextAt: now,
      created: now,
      updated: now,
      reason: refused ?? null,
    }));
    await step
      .insertInto('deliveries')
      .values(rows)
      .onConflict((conflict) => conflict.column('idempotencyKey').doNothing())
      .execute();
  }
}

/** Waiting deliveries after the sequence, oldest first. */
export async function findPendingDeliveries(
  db: RecordsDb,
  after: number,
  max: number,
): Promise<PendingDelivery[]> {
  return db
    .selectFrom('deliveries')
    .select(['sequence', 'connectorId', 'deviceId', 'tries', 'nextAt'])
    .where('state', '=', 'PENDING')
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(max)
    .execute();
}

export async function findDelivery(
  db: RecordsDb,
  by: { sequence: number } | { id: string },
): Promise<Delivery | undefined> {
  const query = db.selectFrom('deliveries').selectAll();
  const row = await ('id' in by
    ? query.where('id', '=', by.id)
    : query.where('sequence', '=', by.sequence)
  ).executeTakeFirst();
  return row && fromRow(row);
}

/** Writes the results of attempts in the caller's transaction. */
export async function saveDeliveryOutcomes(
  step: RecordsDb,
  outcomes: readonly DeliveryOutcome[],
): Promise<void> {
  for (const { sequence, ...changed } of outcomes) {
    await step.updateTable('deliveries').set(changed).where('sequence', '=', sequence).execute();
  }
}

export interface DeliveryFilter {
  readonly connectorId: string;
  /**
   * Of the global connector everybody's deliveries are in one list; the rows of other organizations
   * do not exist for anybody.
   */
  readonly organizationId: string;
  /** Absent: every workspace of the organization. */
  readonly workspaceIds?: readonly string[] | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly deviceId?: string | undefined;
}

/** Newest first unless the page asks for another order. */
export async function listDeliveries(
  db: RecordsDb,
  filter: DeliveryFilter,
  page: PageRequest,
): Promise<Rows<Delivery>> {
  const query = db.selectFrom('deliveries').selectAll().where(matching(filter));
  const columns = {
    created: 'sequence',
    updated: 'updated',
    state: 'state',
    tries: 'tries',
    nextAt: 'nextAt',
  };
  const defaultSort = [{ field: 'created', direction: 'desc' }] as const;
  const order = { columns, defaultSort, idColumn: 'sequence' };
  const { rows, total } = await pageOfRows(query, page, order);
  return { rows: rows.map(fromRow), total };
}

function matching(filter: DeliveryFilter): Expression<SqlBool> {
  const { connectorId, organizationId, workspaceIds, states, deviceId } = filter;
  const eb = expressionBuilder<RecordTables, 'deliveries'>();
  const conditions = [
    eb('connectorId', '=', connectorId),
    eb('organizationId', '=', organizationId),
    workspaceIds && isOneOf('workspaceId', workspaceIds),
    states && isOneOf('state', states),
    ifGiven(deviceId, (id) => isOneOf('deviceId', [id])),
  ];
  return eb.and(conditions.filter((condition) => condition !== undefined));
}

/**
 * Queues delivered and dead deliveries again, at most `max`, oldest first. Returns their sequences.
 */
export async function renewDeliveries(
  step: RecordsDb,
  which:
    | { readonly id: string }
    | (DeliveryFilter & { readonly ids?: readonly string[] | undefined }),
  now: EpochMs,
  max: number,
): Promise<number[]> {
  const all = step.selectFrom('deliveries').select('sequence').where('state', '!=', 'PENDING');
  let query = 'id' in which ? all.where('id', '=', which.id) : all.where(matching(which));
  if ('ids' in which && which.ids !== undefined) query = query.where('id', 'in', [...which.ids]);
  const rows = await query.orderBy('sequence').limit(max).execute();
  const sequences = rows.map((row) => row.sequence);
  const renewed = { state: 'PENDING', tries: 0, nextAt: now, updated: now, reason: null };
  for (const sequence of sequences) {
    await step.updateTable('deliveries').set(renewed).where('sequence', '=', sequence).execute();
  }
  return sequences;
}

/** The waiting deliveries with these sequences. */
export async function findRenewed(
  db: RecordsDb,
  sequences: readonly number[],
): Promise<PendingDelivery[]> {
  if (sequences.length === 0) return [];
  return db
    .selectFrom('deliveries')
    .select(['sequence', 'connectorId', 'deviceId', 'tries', 'nextAt'])
    .where('sequence', 'in', [...sequences])
    .where('state', '=', 'PENDING')
    .orderBy('sequence')
    .execute();
}

/** Deletes up to `max` expired deliveries. Returns their number. */
export async function dropOldDeliveries(db: RecordsDb, now: EpochMs, max: number): Promise<number> {
  const old = await db
    .selectFrom('deliveries')
    .select('sequence')
    .where('state', '!=', 'PENDING')
    .where('updated', '<', now - deliveryLogLimits.keptMsMax)
    .limit(max)
    .execute();
  const crowded = await db.selectFrom('deliveries').select('connectorId').distinct().execute();
  const dropped = old.map((row) => row.sequence);
  for (const { connectorId } of crowded) {
    if (dropped.length >= max) break;
    const ended = db
      .selectFrom('deliveries')
      .select('sequence')
      .where('connectorId', '=', connectorId);
    const tooMany = await ended
      .where('state', 'in', ['DELIVERED', 'DEAD'])
      .orderBy('sequence', 'desc')
      .limit(max - dropped.length)
      .offset(deliveryLogLimits.keptPerConnectorMax)
      .execute();
    dropped.push(...tooMany.map((row) => row.sequence));
  }
  for (let from = 0; from < dropped.length; from += rowsPerStatement) {
    const some = dropped.slice(from, from + rowsPerStatement);
    await db.deleteFrom('deliveries').where('sequence', 'in', some).execute();
  }
  return dropped.length;
}

function fromRow({ context, ruleId, ...row }: Selectable<RecordTables['deliveries']>): Delivery {
  return {
    ...row,
    ...(ruleId === null ? {} : { ruleId }),
    cause: row.cause as DeliveryCause,
    state: row.state as DeliveryState,
    context: fromJsonText(context),
  };
}
