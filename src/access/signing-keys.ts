// Signing keys of access tokens: created when needed, renewed every 90 days, published while a token of theirs is valid.
import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { dayMs, type EpochMs, isWithin } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { Records } from '../storage/records/records.ts';
import {
  insertSigningKey,
  listSigningKeys,
  removeSigningKey,
  type SigningKeyRecord,
} from '../storage/records/rows/credentials.ts';

export const signingAlgorithm = 'ES256';
const renewedAfterMs = 90 * dayMs;
/** Tokens with unknown keys cost at most one read in this time. */
const loadedAgainAfterMs = 1_000;

interface SigningKey {
  readonly id: string;
  readonly created: EpochMs;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly published: JWK;
}

interface KeyRing {
  readonly newest: SigningKey;
  /** Newest first. */
  readonly older: readonly SigningKey[];
}

export interface SigningKeys {
  /** The newest key, which signs. */
  current(): Promise<SigningKey>;
  /** Undefined for an id that is not, or no longer, in use. */
  find(id: string): Promise<SigningKey | undefined>;
  /** The public keys (RFC 7517). */
  published(): Promise<{ readonly keys: readonly JWK[] }>;
  /** Signs with a new key from now on; tokens of the older ones stay valid. */
  renew(): Promise<void>;
  /** Reads the keys again when they are next needed. */
  discard(): void;
  /**
   * Renews a key that is 90 days old, and deletes keys whose last token has expired. Call it
   * periodically.
   */
  runMaintenance(): Promise<void>;
}

/** `tokenLifetimeMs` is how long a superseded key must still verify. */
export function createSigningKeys(parts: {
  readonly records: Pick<Records, 'db' | 'sealer'>;
  readonly now: () => EpochMs;
  readonly tokenLifetimeMs: number;
}): SigningKeys {
  const { records, now, tokenLifetimeMs } = parts;
  let loading: Promise<KeyRing> | undefined;
  let loadedAt = now();

  async function load(): Promise<KeyRing> {
    loadedAt = now();
    const [newest, ...older] = await Promise.all((await listSigningKeys(records)).map(imported));
    return { newest: newest ?? (await create(parts)), older };
  }

  function keyRing(): Promise<KeyRing> {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }

  async function allKeys(): Promise<SigningKey[]> {
    const { newest, older } = await keyRing();
    return [newest, ...older];
  }

  async function renew(): Promise<void> {
    const older = await allKeys();
    loading = Promise.resolve({ newest: await create(parts), older });
  }

  return {
    current: async () => (await keyRing()).newest,
    async find(id) {
      const known = (await allKeys()).find((key) => key.id === id);
      // Another node may have created it.
      if (known !== undefined || isWithin(loadedAgainAfterMs, loadedAt, now())) return known;
      loading = undefined;
      return (await allKeys()).find((key) => key.id === id);
    },
    published: async () => ({ keys: (await allKeys()).map((key) => key.published) }),
    renew,
    discard: () => void (loading = undefined),
    async runMaintenance() {
      if (loading === undefined) return;
      if ((await keyRing()).newest.created + renewedAfterMs <= now()) await renew();
      const { newest, older } = await keyRing();
      // The second newest signed until the newest was created, so the tokens of all older keys
      // expired by then.
      if (older.length === 0 || newest.created + tokenLifetimeMs > now()) return;
      for (const key of older) await removeSigningKey(records.db, key.id);
      loading = Promise.resolve({ newest, older: [] });
    },
  };
}

async function create({
  records,
  now,
}: Pick<Parameters<typeof createSigningKeys>[0], 'records' | 'now'>): Promise<SigningKey> {
  const record = await generated(now());
  await insertSigningKey(records, record);
  return imported(record);
}

async function generated(created: EpochMs): Promise<SigningKeyRecord> {
  const { privateKey, publicKey } = await generateKeyPair(signingAlgorithm, { extractable: true });
  return {
    id: randomUUID(),
    created,
    privateKey: { ...(await exportJWK(privateKey)) },
    publicKey: { ...(await exportJWK(publicKey)) },
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
