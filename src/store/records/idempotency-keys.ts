// What was answered to an Idempotency-Key, kept for a day (contract, decisions and section 35).
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { fromJsonTextOrNull, toJsonText, toJsonTextOrNull } from './columns.ts';
import type { RecordsDb } from './database.ts';

export interface KeptAnswer {
  /** Hash of credential, route and key. */
  readonly id: string;
  readonly bodyHash: string;
  readonly firstSeenAt: EpochMs;
  /** Null until the first request was answered. */
  readonly answer: { readonly status: number; readonly body: Json } | null;
}

/** The kept answer, unless it was first seen at `seenAfter` or earlier. */
export async function findKeptAnswer(db: RecordsDb, id: string, seenAfter: EpochMs): Promise<KeptAnswer | undefined> {
  const query = db.selectFrom('idempotencyKeys').selectAll().where('id', '=', id);
  const row = await query.where('firstSeenAt', '>', seenAfter).executeTakeFirst();
  return row && { ...row, firstSeenAt: Number(row.firstSeenAt), answer: fromJsonTextOrNull(row.answer) };
}

/** Replaces an outdated one of the same key. */
export async function insertKeptAnswer(db: RecordsDb, { answer, ...kept }: KeptAnswer): Promise<void> {
  const row = { ...kept, answer: toJsonTextOrNull(answer) };
  const { id: _, ...rest } = row;
  await db
    .insertInto('idempotencyKeys')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

/** Of a body that was hashed while it came in, the hash is known only now. */
export async function saveKeptAnswer(
  db: RecordsDb,
  id: string,
  answer: NonNullable<KeptAnswer['answer']>,
  bodyHash?: string,
): Promise<void> {
  await db
    .updateTable('idempotencyKeys')
    .set({ answer: toJsonText(answer), ...(bodyHash === undefined ? {} : { bodyHash }) })
    .where('id', '=', id)
    .execute();
}

export async function removeKeptAnswer(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('idempotencyKeys').where('id', '=', id).execute();
}

/** Drops what was first seen at `seenAfter` or earlier. */
export async function dropOldKeptAnswers(db: RecordsDb, seenAfter: EpochMs): Promise<void> {
  await db.deleteFrom('idempotencyKeys').where('firstSeenAt', '<=', seenAfter).execute();
}
