// The keys that sign access tokens: made when needed, renewed every quarter, published as long as a token of theirs lives.
import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { Records } from '../records/records.ts';
import {
  insertSigningKey,
  listSigningKeys,
  removeSigningKey,
  type SigningKeyRecord,
} from '../records/rows/signing-keys.ts';

export const signingAlgorithm = 'ES256';
const renewedAfterMs = 90 * dayMs;

interface SigningKey {
  readonly id: string;
  readonly created: EpochMs;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly published: JWK;
}

export interface SigningKeys {
  /** The newest key, which signs. */
  current(): Promise<SigningKey>;
  /** Undefined for an id that is not, or no longer, in use. */
  find(id: string): Promise<SigningKey | undefined>;
  /** What the world may know (RFC 7517). */
  published(): Promise<{ readonly keys: readonly JWK[] }>;
  /** Signs with a new key from now on; tokens of the older ones stay valid. */
  renew(): Promise<void>;
  /** Renews a key that is a quarter old, and forgets keys whose last token has expired. To be called now and then. */
  runMaintenance(): Promise<void>;
}

/** `tokenLifetimeMs` is how long a superseded key must still verify. */
export function signingKeys(parts: {
  readonly records: Pick<Records, 'db' | 'sealer'>;
  readonly now: () => EpochMs;
  readonly tokenLifetimeMs: number;
}): SigningKeys {
  const { records, now, tokenLifetimeMs } = parts;
  let loading: Promise<SigningKey[]> | undefined;

  const load = async (): Promise<SigningKey[]> => {
    const found = await listSigningKeys(records);
    if (found.length > 0) return Promise.all(found.map(imported));
    return [await make()];
  };
  const make = async (): Promise<SigningKey> => {
    const { privateKey, publicKey } = await generateKeyPair(signingAlgorithm, {
      extractable: true,
    });
    const record: SigningKeyRecord = {
      id: randomUUID(),
      created: now(),
      privateKey: { ...(await exportJWK(privateKey)) },
      publicKey: { ...(await exportJWK(publicKey)) },
    };
    await insertSigningKey(records, record);
    return imported(record);
  };
  const keys = (): Promise<SigningKey[]> => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const renew = async () => {
    const older = await keys();
    loading = Promise.resolve([await make(), ...older]);
  };

  return {
    current: async () => (await keys())[0]!,
    find: async (id) => (await keys()).find((key) => key.id === id),
    published: async () => ({ keys: (await keys()).map((key) => key.published) }),
    renew,
    async runMaintenance() {
      if (loading === undefined) return;
      if ((await keys())[0]!.created + renewedAfterMs <= now()) await renew();
      const [newest, ...older] = await keys();
      // The second newest signed until the newest was made, so all that are older ended at the same time or before.
      if (older.length === 0 || newest!.created + tokenLifetimeMs > now()) return;
      for (const key of older) await removeSigningKey(records.db, key.id);
      loading = Promise.resolve([newest!]);
    },
  };
}

async function imported(record: SigningKeyRecord): Promise<SigningKey> {
  const { id, created } = record;
  const read = async (jwk: JsonObject) =>
    (await importJWK(jwk as JWK, signingAlgorithm)) as CryptoKey;
  const published: JWK = {
    ...(record.publicKey as JWK),
    kid: id,
    alg: signingAlgorithm,
    use: 'sig',
  };
  return {
    id,
    created,
    privateKey: await read(record.privateKey),
    publicKey: await read(record.publicKey),
    published,
  };
}
