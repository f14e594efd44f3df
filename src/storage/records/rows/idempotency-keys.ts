// Idempotency keys: the answers to requests, stored for one day (contract, decisions and section 35).
import type { EpochMs } from '../../../model/instant.ts';
import type { StoredPart } from '../../../model/journal-entry.ts';
import { fromJsonText, fromJsonTextOrNull, toJsonText, toJsonTextOrNull } from '../columns.ts';
import { sql } from 'kysely';
import { nodeOf } from './shared-records.ts';
import type { RecordsDb } from '../records.ts';

interface KeptAnswer {
  /** Hash of credential, route and key. */
  readonly id: string;
  readonly bodyHash: string;
  readonly firstSeenAt: EpochMs;
  /** Null until the first request was answered. */
  readonly answer: { readonly status: number; readonly body: unknown } | null;
  /** Parts of an unanswered request that are in the journal. */
  readonly durable: readonly StoredPart[];
}

type NewAnswer = Omit<KeptAnswer, 'durable'> & { readonly journalPosition: number };

class KeptAnswerRows {
  /** The kept answer, unless it was first seen at `seenAfter` or earlier. */
  async find(db: RecordsDb, id: string, seenAfter: EpochMs): Promise<KeptAnswer | undefined> {
    const query = db.selectFrom('idempotencyKeys').selectAll().where('id', '=', id);
    const row = await query.where('firstSeenAt', '>', seenAfter).executeTakeFirst();
    return (
      row && {
        id: row.id,
        bodyHash: row.bodyHash,
        firstSeenAt: Number(row.firstSeenAt),
        answer: fromJsonTextOrNull(row.answer),
        durable: fromJsonText(row.durableParts),
      }
    );
  }

  /**
   * Replaces an outdated one of the same key. Whatever its request stores is in the journal from
   * `journalPosition` on.
   */
  async insert(db: RecordsDb, { answer, ...kept }: NewAnswer): Promise<void> {
    const content = { answer: toJsonTextOrNull(answer), durableParts: toJsonText([]) };
    const row = { ...kept, ...content, node: nodeOf(db) };
    const { id: _, ...rest } = row;
    await db
      .insertInto('idempotencyKeys')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
      .execute();
  }

  /**
   * For one of several nodes: as `insert`, unless the key is known and was first seen after
   * `seenAfter`. Returns whether it was inserted.
   */
  async reserve(
    db: RecordsDb,
    { answer, ...kept }: NewAnswer,
    { runBy, seenAfter }: { readonly runBy: string; readonly seenAfter: EpochMs },
  ): Promise<boolean> {
    const content = { answer: toJsonTextOrNull(answer), durableParts: toJsonText([]) };
    const row = { ...kept, ...content, node: nodeOf(db), runBy };
    const { id: _, ...rest } = row;
    const inserted = await db
      .insertInto('idempotencyKeys')
      .values(row)
      .onConflict((conflict) =>
        conflict
          .column('id')
          .doUpdateSet(rest)
          .where('idempotencyKeys.firstSeenAt', '<=', seenAfter),
      )
      .returning('id')
      .execute();
    return inserted.length > 0;
  }

  /**
   * Makes this process the one that does the work of a request without an answer, unless a process of
   * a live node does it. `runBy` begins with the id of its node. Returns whether this one does it now.
   */
  async takeOver(
    db: RecordsDb,
    id: string,
    { runBy, journalPosition }: { readonly runBy: string; readonly journalPosition: number },
  ): Promise<boolean> {
    const node = nodeOf(db);
    const ofOther = sql<string>`split_part("runBy", '/', 1)`;
    const isLive = sql<boolean>`exists (
      select 1 from "nodes" where "nodes"."id" = ${ofOther} and "nodes"."seenUntil" > now())`;
    const taken = await db
      .updateTable('idempotencyKeys')
      .set({ runBy, node, journalPosition })
      .where('id', '=', id)
      .where('answer', 'is', null)
      .where(({ eb, or, not }) =>
        or([eb('runBy', 'is', null), eb(ofOther, '=', node), not(eb(isLive, '=', true))]),
      )
      .returning('id')
      .execute();
    return taken.length > 0;
  }

  /** Of a body that was hashed while it came in, the hash is known only now. */
  async save(
    db: RecordsDb,
    id: string,
    answer: NonNullable<KeptAnswer['answer']>,
    bodyHash?: string,
  ): Promise<void> {
    await db
      .updateTable('idempotencyKeys')
      .set({
        answer: toJsonText(answer),
        durableParts: toJsonText([]),
        ...(bodyHash !== undefined && { bodyHash }),
      })
      .where('id', '=', id)
      .execute();
  }

  /**
   * Keeps what is durable of a request without an answer; with a position, whatever else it stores
   * comes behind that.
   */
  async saveDurable(
    db: RecordsDb,
    id: string,
    durable: readonly StoredPart[],
    journalPosition?: number,
  ): Promise<void> {
    await db
      .updateTable('idempotencyKeys')
      .set({
        durableParts: toJsonText(durable),
        runBy: null,
        ...(journalPosition !== undefined && { journalPosition }),
      })
      .where('id', '=', id)
      .where('answer', 'is', null)
      .execute();
  }

  /**
   * Keys whose requests to this node a crash or a failure cut off, unless first seen at `seenAfter` or
   * earlier.
   */
  async unanswered(
    db: RecordsDb,
    seenAfter: EpochMs,
  ): Promise<
    {
      readonly id: string;
      readonly journalPosition: number;
      readonly durable: readonly StoredPart[];
    }[]
  > {
    const query = db
      .selectFrom('idempotencyKeys')
      .select(['id', 'journalPosition', 'durableParts']);
    const rows = await query
      .where('answer', 'is', null)
      .where('firstSeenAt', '>', seenAfter)
      .where('node', '=', nodeOf(db))
      .execute();
    return rows.map(({ id, journalPosition, durableParts }) => ({
      id,
      journalPosition: Number(journalPosition),
      durable: fromJsonText(durableParts),
    }));
  }

  async remove(db: RecordsDb, id: string): Promise<void> {
    await db.deleteFrom('idempotencyKeys').where('id', '=', id).execute();
  }

  /** Drops what was first seen at `seenAfter` or earlier. */
  async dropOld(db: RecordsDb, seenAfter: EpochMs): Promise<void> {
    await db.deleteFrom('idempotencyKeys').where('firstSeenAt', '<=', seenAfter).execute();
  }
}

export const keptAnswerRows = new KeptAnswerRows();
