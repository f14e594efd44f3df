// Keys that sign access tokens: the private part sealed, the public part as it is published.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { Records, RecordsDb } from '../records.ts';

export interface SigningKeyRecord {
  /** The key id in the head of tokens. */
  readonly id: string;
  readonly privateKey: JsonObject;
  readonly publicKey: JsonObject;
  readonly created: EpochMs;
}

type Store = Pick<Records, 'db' | 'sealer'>;

export async function insertSigningKey(
  { db, sealer }: Store,
  key: SigningKeyRecord,
): Promise<void> {
  const row = {
    id: key.id,
    created: key.created,
    privateKey: sealer.seal(toJsonText(key.privateKey)),
    publicKey: toJsonText(key.publicKey),
  };
  await db.insertInto('signingKeys').values(row).execute();
}

/** Newest first. */
export async function listSigningKeys({ db, sealer }: Store): Promise<SigningKeyRecord[]> {
  const rows = await db
    .selectFrom('signingKeys')
    .selectAll()
    .orderBy('created', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    ...row,
    privateKey: fromJsonText<JsonObject>(sealer.open(row.privateKey)),
    publicKey: fromJsonText<JsonObject>(row.publicKey),
  }));
}

export async function removeSigningKey(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('signingKeys').where('id', '=', id).execute();
}
