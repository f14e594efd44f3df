// Check word: a string sealed with the secrets key, so that a start notices another key.
import type { Kysely } from 'kysely';
import type { RecordTables } from './schema.ts';
import type { Sealer } from './secret-encryption.ts';

const checkWord = 'heliograph';

/** Keeps a word sealed with the key of the first start, so that another key is noticed. */
export async function keepCheckWord(db: Kysely<RecordTables>, sealer: Sealer): Promise<void> {
  const kept = await db.selectFrom('keyCheck').select('word').limit(1).executeTakeFirst();
  if (kept === undefined)
    await db
      .insertInto('keyCheck')
      .values({ word: sealer.seal(checkWord) })
      .execute();
}
