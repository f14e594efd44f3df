// Tokens of shared dashboards: each reads one dashboard and the series of its tiles (contract 37, 42).
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import {
  namesOfShare,
  type SharedNames,
  type SharedSeries,
  shareTokenPrefix,
  withDevices,
} from '../model/shared-dashboard.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { type SharedBy, dashboardRows } from '../storage/records/rows/dashboards.ts';
import { customFieldRows } from '../storage/records/rows/custom-fields.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { secretHash } from '../storage/records/secret-encryption.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { RequestHeaders } from './authenticator.ts';

const tokenLengthMax = 200;
const sharesKept = 1_000;
/** Devices at the places and with the values of custom fields that a token reads, each. */
const devicesMax = 2_000;

/** A token in use is noted in the audit log once in this time. */
const useEveryMs = hourMs;

export class ShareAuthenticator {
  readonly #db: RecordsDb;
  readonly #now: () => EpochMs;
  readonly #used: (share: SharedBy, before: EpochMs) => void;
  /** By share and version of the dashboard, because a configuration may be large. */
  readonly #known = createBoundedMap<string, SharedNames>(sharesKept);

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

  async #namesOf({ id, dashboardId, version, variables }: SharedBy): Promise<SharedNames> {
    const kept = this.#known.use(`${id} ${version}`);
    if (kept !== undefined) return kept;
    const current = await dashboardRows.findConfiguration(this.#db, dashboardId);
    if (current === undefined) throw problem('invalidToken');
    const names = namesOfShare(current.configuration, variables);
    this.#known.set(`${id} ${current.version}`, names);
    return names;
  }

  /** Devices come and go at places, so they are looked up for each request. */
  async #seriesOf({ series, places, fields }: SharedNames): Promise<SharedSeries> {
    if (places.size === 0 && fields.length === 0) return series;
    const atPlaces = await placeRows.devicesByPlace(this.#db, [...places], devicesMax);
    const found = atPlaces.flatMap(({ placeId, deviceId }) => {
      const topics = series.get(placeId);
      return topics === undefined ? [] : [{ deviceId, topics }];
    });
    for (const { metaId, value, topics } of fields)
      for (const deviceId of await customFieldRows.devicesWithValue(this.#db, {
        metaId,
        value,
        max: devicesMax,
      }))
        found.push({ deviceId, topics });
    return withDevices(series, found);
  }

  async #principalOf(token: string): Promise<Principal> {
    if (token.length > tokenLengthMax) throw problem('invalidToken');
    const found = await dashboardRows.ofToken(this.#db, secretHash(token), this.#now());
    if (found === undefined) throw problem('invalidToken');
    const { id, dashboardId, organizationId, workspaceId, lastUsed } = found;
    const before = this.#now() - useEveryMs;
    if (lastUsed === null || lastUsed < before) this.#used(found, before);
    const names = await this.#namesOf(found);
    return {
      // Like a key without any permission; only `share` says what it reads.
      kind: 'API_KEY',
      id,
      name: 'Shared dashboard',
      organizationId,
      workspaces: new Set(),
      permissions: {},
      share: { dashboardId, workspaceId, blobs: names.blobs, series: await this.#seriesOf(names) },
    };
  }
}
