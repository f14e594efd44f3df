// Tokens of shared dashboards: each reads one dashboard and the series of its tiles (contract 37, 42).
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { seriesOfTiles, type SharedSeries, shareTokenPrefix } from '../model/shared-dashboard.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import {
  dashboardOfToken,
  findConfiguration,
  type SharedBy,
} from '../storage/records/rows/dashboards.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { RequestHeaders } from './authenticator.ts';

const tokenLengthMax = 200;
const dashboardsKept = 1_000;

/** A token in use is noted in the audit log once in this time. */
const useEveryMs = hourMs;

export class ShareAuthenticator {
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  readonly #used: (share: SharedBy, before: EpochMs) => void;
  /** By dashboard and version, because a configuration may be large. */
  readonly #known = createBoundedMap<string, SharedSeries>(dashboardsKept);

  constructor(parts: {
    readonly db: RecordsDb;
    readonly now: () => EpochMs;
    /** Notes the use in the records and in the audit log. */
    readonly used: (share: SharedBy, before: EpochMs) => void;
  }) {
    const { db, now, used } = parts;
    this.#db = db;
    this.#now = now;
    this.#used = used;
  }

  /**
   * The principal of a token of a shared dashboard; undefined when the headers have none. Throws
   * Problem 401 for one that is unknown, revoked or expired, and for a second credential.
   */
  authenticate(headers: RequestHeaders): Promise<Principal> | undefined {
    const { authorization } = headers;
    if (typeof authorization !== 'string') return undefined;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    if (!token?.startsWith(shareTokenPrefix)) return undefined;
    if (headers['x-api-key'] !== undefined) throw problem('twoCredentials');
    return this.#principalOf(token);
  }

  async #seriesOf({ dashboardId, version }: SharedBy): Promise<SharedSeries> {
    const kept = this.#known.use(`${dashboardId} ${version}`);
    if (kept !== undefined) return kept;
    const current = await findConfiguration(this.#db, dashboardId);
    if (current === undefined) throw problem('invalidToken');
    const series = seriesOfTiles(current.configuration);
    this.#known.set(`${dashboardId} ${current.version}`, series);
    return series;
  }

  async #principalOf(token: string): Promise<Principal> {
    if (token.length > tokenLengthMax) throw problem('invalidToken');
    const found = await dashboardOfToken(this.#db, secretHash(token), this.#now());
    if (found === undefined) throw problem('invalidToken');
    const { id, dashboardId, organizationId, workspaceId, lastUsed } = found;
    const before = this.#now() - useEveryMs;
    if (lastUsed === null || lastUsed < before) this.#used(found, before);
    return {
      // Like a key without any permission; only `share` says what it reads.
      kind: 'API_KEY',
      id,
      name: 'Shared dashboard',
      organizationId,
      workspaces: new Set(),
      permissions: {},
      share: { dashboardId, workspaceId, series: await this.#seriesOf(found) },
    };
  }
}
