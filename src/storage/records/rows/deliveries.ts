// Deliveries in the records store: those on their way to the delivery log and, with several nodes, all of them.
import { type Selectable, sql } from 'kysely';
import type {
  Delivery,
  DeliveryCause,
  DeliveryDraft,
  DeliveryOutcome,
  DeliveryState,
} from '../../../model/delivery.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { contextText } from '../../../model/template-context.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { commitOrder, type CommitPlace } from '../commit-order.ts';
import { pageOfRows, type Rows } from '../list.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

const rowsPerStatement = 100;

export interface DeliveryResult extends DeliveryOutcome {
  readonly id: string;
  /** Of the delivery after the attempt; one that has been changed since keeps its state. */
  readonly revision: number;
}

interface SharedDeliveryFilter {
  readonly connectorId: string;
  readonly organizationId: string;
  readonly workspaceIds?: readonly string[] | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly deviceId?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

function matching(db: RecordsDb, filter: SharedDeliveryFilter) {
  const { connectorId, organizationId, workspaceIds, states, deviceId, ids } = filter;
  let query = db
    .selectFrom('deliveries')
    .selectAll()
    .where('connectorId', '=', connectorId)
    .where('organizationId', '=', organizationId);
  if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
  if (states !== undefined) query = query.where(isOneOf('state', states));
  if (deviceId !== undefined) query = query.where('deviceId', '=', deviceId);
  if (ids !== undefined) query = query.where(isOneOf('id', ids));
  return query;
}

const columns = {
  created: 'created',
  updated: 'updated',
  state: 'state',
  tries: 'tries',
  nextAt: 'nextAt',
} as const;

/**
 * Returns the first of `count` sequences behind all that exist, and so behind the place up to which
 * each node has read. No other transaction takes one meanwhile.
 */
async function reserveSequences(step: RecordsDb, count: number): Promise<number> {
  const name = sql`pg_get_serial_sequence('"deliveries"', 'sequence')`;
  const { rows } = await sql<{ first: number }>`select nextval(${name}) as "first"`.execute(step);
  const first = Number(rows[0]?.first);
  await sql`select setval(${name}, ${first + count})`.execute(step);
  return first;
}

/** Deliveries of several nodes, which have no delivery log. */
class SharedDeliveryRows {
  /**
   * Inserts what is not there yet by its key; the transaction is the caller's. Writers of several
   * nodes take turns, so that sequences are in the order of commits.
   */
  async insert(
    step: RecordsDb,
    made: readonly {
      readonly id: string;
      readonly shard: number;
      readonly draft: DeliveryDraft;
    }[],
    now: EpochMs,
  ): Promise<void> {
    for (let from = 0; from < made.length; from += rowsPerStatement) {
      const rows = made.slice(from, from + rowsPerStatement).map(({ id, shard, draft }) => ({
        id,
        shard,
        idempotencyKey: draft.idempotencyKey,
        connectorId: draft.connectorId,
        organizationId: draft.organizationId,
        workspaceId: draft.workspaceId,
        deviceId: draft.deviceId,
        correlationId: draft.correlationId,
        cause: draft.cause,
        ruleId: draft.ruleId ?? null,
        ruleHops: draft.ruleHops ?? 0,
        context: contextText(draft.context),
        state: 'PENDING',
        tries: 0,
        nextAt: now,
        created: now,
        updated: now,
      }));
      await step
        .insertInto('deliveries')
        .values(rows)
        .onConflict((conflict) => conflict.column('idempotencyKey').doNothing())
        .execute();
    }
  }

  /** Deliveries of the shards that wait, in the order of their commits. */
  async waiting(
    db: RecordsDb,
    {
      shards,
      behind,
      upTo,
    }: {
      readonly shards: readonly number[];
      readonly behind: number;
      /** Up to this sequence; all without it. */
      readonly upTo?: number;
    },
    max: number,
  ): Promise<Delivery[]> {
    if (shards.length === 0) return [];
    let query = db
      .selectFrom('deliveries')
      .selectAll()
      .where('state', '=', 'PENDING')
      .where('shard', 'in', [...shards])
      .where('sequence', '>', behind);
    if (upTo !== undefined) query = query.where('sequence', '<=', upTo);
    return (await query.orderBy('sequence').limit(max).execute()).map(fromRow);
  }

  /** The sequence of the newest delivery; 0 without any. */
  async newest(db: RecordsDb): Promise<number> {
    const query = db.selectFrom('deliveries').select(({ fn }) => fn.max('sequence').as('newest'));
    return Number((await query.executeTakeFirst())?.newest ?? 0);
  }

  async find(db: RecordsDb, id: string): Promise<Delivery | undefined> {
    const query = db.selectFrom('deliveries').selectAll().where('id', '=', id);
    const row = await query.executeTakeFirst();
    return row && fromRow(row);
  }

  /** Writes what attempts resulted in. */
  async saveResults(step: RecordsDb, results: readonly DeliveryResult[]): Promise<void> {
    for (let from = 0; from < results.length; from += rowsPerStatement) {
      const rows = results.slice(from, from + rowsPerStatement).map((one) => {
        const { id, revision, state, tries, nextAt, updated, payload, answer, reason } = one;
        return sql`(cast(${id} as text), cast(${revision} as bigint), cast(${state} as text),
          cast(${tries} as bigint), cast(${nextAt} as bigint), cast(${updated} as bigint),
          cast(${payload} as text), cast(${answer} as text), cast(${reason} as text))`;
      });
      await sql`
        update "deliveries" as "d" set "revision" = "r"."revision", "state" = "r"."state",
          "tries" = "r"."tries", "nextAt" = "r"."nextAt", "updated" = "r"."updated",
          "payload" = "r"."payload", "answer" = "r"."answer", "reason" = "r"."reason"
        from (values ${sql.join(rows)}) as "r" ("id", "revision", "state", "tries", "nextAt",
          "updated", "payload", "answer", "reason")
        where "d"."id" = "r"."id" and "d"."revision" < "r"."revision"`.execute(step);
    }
  }

  /** Newest first unless the page asks for another order. */
  async list(
    db: RecordsDb,
    filter: SharedDeliveryFilter,
    page: PageRequest,
  ): Promise<Rows<Delivery>> {
    const defaultSort = [{ field: 'created', direction: 'desc' }] as const;
    const { rows, total } = await pageOfRows(matching(db, filter), page, { columns, defaultSort });
    return { rows: rows.map(fromRow), total };
  }

  /**
   * Lets deliveries that ended wait again, at most `max`, oldest first, behind all that wait. Returns
   * their number.
   */
  async renew(
    step: RecordsDb,
    filter: SharedDeliveryFilter,
    { at, max }: { readonly at: EpochMs; readonly max: number },
  ): Promise<number> {
    const rows = await matching(step, filter)
      .clearSelect()
      .select('id')
      .where('state', '!=', 'PENDING')
      .orderBy('created')
      .orderBy('sequence')
      .limit(max)
      .execute();
    const first = await reserveSequences(step, rows.length);
    for (let from = 0; from < rows.length; from += rowsPerStatement) {
      const places = rows
        .slice(from, from + rowsPerStatement)
        .map(
          ({ id }, place) => sql`(cast(${id} as text), cast(${first + from + place} as bigint))`,
        );
      await sql`
        update "deliveries" as "d" set "sequence" = "r"."sequence", "revision" = "d"."revision" + 1,
          "state" = 'PENDING', "tries" = 0, "nextAt" = ${at}, "updated" = ${at}, "reason" = null,
          "isResent" = 1
        from (values ${sql.join(places)}) as "r" ("id", "sequence")
        where "d"."id" = "r"."id"`.execute(step);
    }
    return rows.length;
  }

  /** Of connectors with deliveries that wait. */
  async waitingByConnector(
    db: RecordsDb,
    connectorIds: readonly string[],
  ): Promise<
    ReadonlyMap<
      string,
      {
        readonly waiting: number;
        /** When one that failed is attempted again. */
        readonly nextRetry: EpochMs | undefined;
      }
    >
  > {
    if (connectorIds.length === 0) return new Map();
    const rows = await db
      .selectFrom('deliveries')
      .select(({ fn }) => [
        'connectorId',
        fn.countAll<number>().as('waiting'),
        sql<number | null>`min(case when "tries" > 0 then "nextAt" end)`.as('nextRetry'),
      ])
      .where('state', '=', 'PENDING')
      .where(isOneOf('connectorId', connectorIds))
      .groupBy('connectorId')
      .execute();
    return new Map(
      rows.map(({ connectorId, waiting, nextRetry }) => [
        connectorId,
        {
          waiting: Number(waiting),
          nextRetry: nextRetry === null ? undefined : Number(nextRetry),
        },
      ]),
    );
  }

  /** Connectors of rows that have no shard, because one process has made them. */
  async connectorsWithoutShard(db: RecordsDb): Promise<string[]> {
    const query = db.selectFrom('deliveries').select('connectorId').where('shard', 'is', null);
    return (await query.distinct().execute()).map(({ connectorId }) => connectorId);
  }

  async setShard(step: RecordsDb, connectorId: string, shard: number): Promise<void> {
    await step
      .updateTable('deliveries')
      .set({ shard })
      .where('connectorId', '=', connectorId)
      .where('shard', 'is', null)
      .execute();
  }
}

export const sharedDeliveryRows = new SharedDeliveryRows();

function fromRow({
  context,
  ruleId,
  idempotencyKey: _,
  shard: _shard,
  isResent,
  ...row
}: Selectable<RecordTables['deliveries']>): Delivery {
  return {
    ...row,
    ...(ruleId === null ? {} : { ruleId }),
    cause: row.cause as DeliveryCause,
    state: row.state as DeliveryState,
    isResent: isResent === 1,
    context: fromJsonText<Delivery['context']>(context),
    contextText: context,
  };
}

// Few enough for every engine's parameter limit, many enough to be quick.
const deliveriesPerStatement = 100;

/** A row with its context as a JSON string; its sequence is its place among the rows. */
export type DeliveryOnItsWay = Omit<Delivery, 'context' | 'revision' | 'isResent'> & {
  readonly contextText: string;
  readonly place: CommitPlace;
};

/** Deliveries on their way to the delivery log. */
class OnTheirWayRows {
  /** Inserts what is not there yet by its key; the transaction is the caller's. */
  async insert(
    step: RecordsDb,
    made: readonly {
      readonly id: string;
      readonly draft: Omit<DeliveryDraft, 'sequence'>;
    }[],
    now: EpochMs,
  ): Promise<void> {
    for (let from = 0; from < made.length; from += deliveriesPerStatement) {
      const rows = made.slice(from, from + deliveriesPerStatement).map(({ id, draft }) => ({
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
  async behind(
    db: RecordsDb,
    behind: CommitPlace | undefined,
    max: number,
  ): Promise<DeliveryOnItsWay[]> {
    const query = db.selectFrom('deliveries').selectAll();
    const rows = await commitOrder(db).rowsBehind(query, behind, max);
    return rows.map(waitingDelivery);
  }

  async count(db: RecordsDb): Promise<number> {
    const { count } = await db
      .selectFrom('deliveries')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Removes the rows up to the place, which the delivery log has. */
  async removeUpTo(db: RecordsDb, upTo: CommitPlace): Promise<void> {
    await db.deleteFrom('deliveries').where(commitOrder(db).isUpTo(upTo)).execute();
  }
}

export const onTheirWayRows = new OnTheirWayRows();

function waitingDelivery({
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
