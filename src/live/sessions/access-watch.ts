// Access watch: a subscription ends with its device, workspace or permission (contract 36).
import type { Principal } from '../../model/principal.ts';
import type { RecordChange } from '../../model/record.ts';
import type { AccessChanges } from './session-access.ts';
import type { FanOut, Reader, Subscription } from './fan-out.ts';
import type {
  WorkspaceFanOut,
  WorkspaceInterest,
  WorkspaceSubscription,
} from './workspace-fan-out.ts';

/** Devices looked at before others get their turn. */
const sliceDevices = 500;

export class AccessWatch implements AccessChanges {
  readonly #fanOut: FanOut;
  readonly #readable: (principal: Principal, assetId: string) => Promise<boolean>;
  readonly #pause: () => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  readonly #due = new Set<string>();
  #changes = 0;
  #working = false;

  constructor(parts: {
    readonly fanOut: FanOut;
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
