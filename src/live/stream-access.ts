// Stream access: which devices and workspaces a principal may subscribe to (contract 6, 36, 37).
import { authorize, isPermittedAt } from '../access/authorize.ts';
import { placeOf } from '../inventory/record-crud.ts';
import type { AssetsOfPlace } from './sessions/session-access.ts';
import type { WorkspaceGrant } from './sessions/workspace-fan-out.ts';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import { type Principal, principalIn, type Scope, scopes } from '../model/principal.ts';
import { Problem } from '../model/problem.ts';
import type { Place } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { placeRows } from '../storage/records/rows/places.ts';
import { tagRows } from '../storage/records/rows/tags.ts';

/** What a kind of events shows, and so the scope that following it needs, with that of workspaces. */
const scopeOfKind = {
  SAMPLE: 'asset',
  DEVICE_STATE: 'asset',
  ALARM: 'rule',
  DELIVERY: 'dataFlow',
  RULE_RUN: 'rule',
  OPERATION: 'asset',
  // Each record needs its own scope in addition.
  RECORD_CHANGED: 'workspace',
  SAMPLES_CHANGED: 'asset',
} as const satisfies Readonly<Record<LiveKind, Scope>>;

export class StreamAccess {
  readonly #records: OpenRecords;

  constructor(records: OpenRecords) {
    this.#records = records;
  }

  /**
   * Returns those of the devices that exist and that the principal may read. `isOver` ends the
   * search early.
   */
  readonly readableOf = async (
    principal: Principal,
    deviceIds: readonly string[],
    isOver?: () => boolean,
  ): Promise<ReadonlySet<string>> => {
    const readable = new Set<string>();
    for (const [id, place] of await deviceRows.placesOf(this.#records.db, deviceIds, isOver)) {
      const acting = principalIn(principal, place.organizationId);
      if (mayRead(acting, { ...place, what: 'device', id })) readable.add(id);
    }
    return readable;
  };

  readonly isReadable = async (principal: Principal, id: string): Promise<boolean> =>
    (await this.readableOf(principal, [id])).has(id);

  /** Returns undefined for a tag that does not exist or that the principal cannot read. */
  readonly devicesOfTag = async (
    principal: Principal,
    tagId: string,
  ): Promise<readonly string[] | undefined> => {
    const place = await placeOf(this.#records, 'tag', tagId).catch(undefinedIfRejected);
    if (place === undefined) return undefined;
    const acting = principalIn(principal, place.organizationId);
    if (!mayRead(acting, place)) return undefined;
    return tagRows.deviceIdsOf(this.#records.elsewhere(acting.organizationId), tagId);
  };

  /** As `tagRows.devicesOf`, at the place and below it. */
  readonly devicesOfPlace: AssetsOfPlace = async (principal, placeId) => {
    const place = await placeOf(this.#records, 'place', placeId).catch(undefinedIfRejected);
    if (place === undefined || place.workspaceId === null) return undefined;
    const acting = principalIn(principal, place.organizationId);
    if (!mayRead(acting, place)) return undefined;
    const rows = await placeRows.devicesOf(this.#records.elsewhere(acting.organizationId), placeId);
    return { workspaceId: place.workspaceId, assetIds: rows.map(({ id }) => id) };
  };

  /** Returns undefined for a workspace that does not exist or that the principal cannot read. */
  readonly followable = async (
    principal: Principal,
    workspaceId: string,
  ): Promise<WorkspaceGrant | undefined> => {
    const place = await placeOf(this.#records, 'workspace', workspaceId).catch(undefinedIfRejected);
    return place && grantIn(principal, place);
  };
}

function mayRead(principal: Principal, place: Place): boolean {
  try {
    authorize(principal, 'asset', 'read', place);
    return true;
  } catch (error) {
    undefinedIfRejected(error);
    return false;
  }
}

function grantIn(principal: Principal, place: Place): WorkspaceGrant | undefined {
  const { organizationId } = place;
  const acting = principalIn(principal, organizationId);
  if (organizationId === null || acting.organizationId !== organizationId) return undefined;
  const readable = new Set(scopes.filter((scope) => isPermittedAt(acting, [scope, 'read'], place)));
  if (!readable.has('workspace')) return undefined;
  const kinds = liveKinds.filter((kind) => readable.has(scopeOfKind[kind]));
  // Members of several workspaces and keys may read their organization, but not its credentials.
  readable.delete('organization');
  return { organizationId, kinds: new Set(kinds), readable };
}

/** Throws errors of the server itself: a failing disk does not say who may read what. */
function undefinedIfRejected(error: unknown): undefined {
  if (!(error instanceof Problem && error.status < 500)) throw error;
}
