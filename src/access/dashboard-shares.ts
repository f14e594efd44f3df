// Tokens of shared dashboards: each reads one dashboard and the data of the devices that it names (contract 37).
import type { EpochMs } from '../model/instant.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import {
  idsInConfiguration,
  type SharedDashboard,
  shareTokenPrefix,
} from '../model/shared-dashboard.ts';
import type { RecordsDb } from '../records/records.ts';
import {
  dashboardOfToken,
  findConfiguration,
  type SharedBy,
} from '../records/rows/dashboard-shares.ts';
import { secretHash } from '../records/secret-encryption.ts';
import { createBoundedMap } from '../structures/bounded-map.ts';
import type { RequestHeaders } from './authenticator.ts';

const tokenLengthMax = 200;
const dashboardsKept = 1_000;

export interface ShareAuthenticator {
  /**
   * The principal of a token of a shared dashboard; undefined when the headers have none. Throws
   * Problem 401 for one that is unknown, revoked or expired, and for a second credential.
   */
  authenticate(headers: RequestHeaders): Promise<Principal> | undefined;
}

type Ids = Pick<SharedDashboard, 'deviceIds' | 'tagIds'>;

export function createShareAuthenticator(parts: {
  readonly db: RecordsDb;
  readonly now: () => EpochMs;
}): ShareAuthenticator {
  const { db, now } = parts;
  /** By dashboard and version, because a configuration may be large. */
  const known = createBoundedMap<string, Ids>(dashboardsKept);

  async function idsOf({ dashboardId, version }: SharedBy): Promise<Ids> {
    const kept = known.use(`${dashboardId} ${version}`);
    if (kept !== undefined) return kept;
    const current = await findConfiguration(db, dashboardId);
    if (current === undefined) throw problem('invalidToken');
    const ids = idsInConfiguration(current.configuration);
    known.set(`${dashboardId} ${current.version}`, ids);
    return ids;
  }

  async function principalOf(token: string): Promise<Principal> {
    if (token.length > tokenLengthMax) throw problem('invalidToken');
    const found = await dashboardOfToken(db, secretHash(token), now());
    if (found === undefined) throw problem('invalidToken');
    const { dashboardId, organizationId, workspaceId } = found;
    return {
      // Like a key without any permission; only `share` says what it reads.
      kind: 'API_KEY',
      id: dashboardId,
      name: 'Shared dashboard',
      organizationId,
      workspaces: new Set(),
      permissions: {},
      share: { dashboardId, workspaceId, ...(await idsOf(found)) },
    };
  }

  return {
    authenticate(headers) {
      const { authorization } = headers;
      if (typeof authorization !== 'string') return undefined;
      const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
      if (!token?.startsWith(shareTokenPrefix)) return undefined;
      if (headers['x-api-key'] !== undefined) throw problem('twoCredentials');
      return principalOf(token);
    },
  };
}
