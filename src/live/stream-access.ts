// Stream access: which devices and workspaces a principal may subscribe to (contract 6, 36, 37).
import { authorize, isPermittedAt } from '../access/authorize.ts';
import { placeOf } from '../inventory/record-crud.ts';
import type { AccessChanges, AssetsOfPlace } from './sessions/client-message.ts';
import type {
  WorkspaceFanOut,
  WorkspaceGrant,
  WorkspaceInterest,
  WorkspaceSubscription,
} from './sessions/workspace-fan-out.ts';
import { type LiveKind, liveKinds } from '../model/live-kind.ts';
import { type Scope, scopes } from '../model/permission.ts';
import { type Principal, principalIn } from '../model/principal.ts';
import { Problem } from '../model/problem.ts';
import type { Place, RecordChange } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { placesOfDevices } from '../storage/records/rows/devices.ts';
import { devicesOfPlace } from '../storage/records/rows/places.ts';
import { deviceIdsOfTag } from '../storage/records/rows/tags.ts';
import type { FanOut, Reader, Subscription } from './sessions/fan-out.ts';

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
    for (const [id, place] of await placesOfDevices(this.#records.db, deviceIds, isOver)) {
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
    return deviceIdsOfTag(this.#records.elsewhere(acting.organizationId), tagId);
  };

  /** As `devicesOfTag`, at the place and below it. */
  readonly devicesOfPlace: AssetsOfPlace = async (principal, placeId) => {
    const place = await placeOf(this.#records, 'place', placeId).catch(undefinedIfRejected);
    if (place === undefined || place.workspaceId === null) return undefined;
    const acting = principalIn(principal, place.organizationId);
    if (!mayRead(acting, place)) return undefined;
    const rows = await devicesOfPlace(this.#records.elsewhere(acting.organizationId), placeId);
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

// Access watch: a subscription ends with its device, workspace or permission (contract 36).

/** Devices looked at before others get their turn. */
const sliceDevices = 500;

export class AccessWatch implements AccessChanges {
  readonly #fanOut: Pick<FanOut, 'interestsIn'>;
  readonly #readable: (principal: Principal, assetId: string) => Promise<boolean>;
  readonly #pause: () => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  readonly #due = new Set<string>();
  #changes = 0;
  #working = false;

  constructor(parts: {
    readonly fanOut: Pick<FanOut, 'interestsIn'>;
    readonly readable: (principal: Principal, assetId: string) => Promise<boolean>;
    readonly pause: () => Promise<unknown>;
    readonly failed: (error: unknown) => void;
  }) {
    const { fanOut, readable, pause, failed } = parts;
    this.#fanOut = fanOut;
    this.#readable = readable;
    this.#pause = pause;
    this.#failed = failed;
  }

  /** Call for every record change. */
  readonly recordChanged = ({ kind, id, action }: RecordChange): void => {
    if (kind !== 'device' || action === 'created') return;
    this.#changes += 1;
    if (this.#fanOut.interestsIn(id).length > 0) this.check([id]);
  };

  /** One more with every device that changed. */
  changes(): number {
    return this.#changes;
  }

  /** Ends the subscriptions of these devices that must end. */
  check(assetIds: readonly string[]): void {
    for (const id of assetIds) this.#due.add(id);
    if (this.#working || this.#due.size === 0) return;
    this.#working = true;
    this.#work()
      .catch(this.#failed)
      .finally(() => (this.#working = false));
  }

  async #lostOf(assetId: string): Promise<[Reader, Subscription][]> {
    const lost: [Reader, Subscription][] = [];
    const verdicts = new Map<Principal, boolean>();
    for (const { reader, wildcard, topics } of this.#fanOut.interestsIn(assetId)) {
      for (const subscription of [wildcard, ...topics.values()]) {
        if (subscription === undefined) continue;
        const { grantedTo } = subscription;
        const may = verdicts.get(grantedTo) ?? (await this.#readable(grantedTo, assetId));
        verdicts.set(grantedTo, may);
        if (!may) lost.push([reader, subscription]);
      }
    }
    return lost;
  }

  /** One message tells a session of all that it lost in a slice. */
  async #work(): Promise<void> {
    while (this.#due.size > 0) {
      const ended = new Map<Reader, Subscription[]>();
      for (const assetId of [...this.#due].slice(0, sliceDevices)) {
        this.#due.delete(assetId);
        for (const [reader, subscription] of await this.#lostOf(assetId)) {
          ended.set(reader, [...(ended.get(reader) ?? []), subscription]);
        }
      }
      for (const [reader, subscriptions] of ended) reader.withdraw(subscriptions);
      await this.#pause();
    }
  }
}

// Workspace watch: a subscription to a workspace ends with the workspace or its credential (contract 36, 37).

/** Call the returned function for every record change. */
export function createWorkspaceWatch(fanOut: WorkspaceFanOut): (change: RecordChange) => void {
  return ({ kind, id, action }) => {
    if (action !== 'deleted') return;
    if (kind === 'workspace') end(fanOut.interests(id), () => true);
    else if (kind === 'organization')
      end(fanOut.interests(), ({ grant }) => grant.organizationId === id);
    else if (kind === 'apiKey' || kind === 'oauthClient')
      end(fanOut.interests(), ({ grantedTo }) => grantedTo.id === id);
  };
}

function end(
  interests: readonly WorkspaceInterest[],
  isEnded: (subscription: WorkspaceSubscription) => boolean,
): void {
  for (const { reader, subscriptions } of interests) {
    const ended = [...subscriptions.values()].filter(isEnded);
    if (ended.length > 0) reader.withdraw(ended);
  }
}
