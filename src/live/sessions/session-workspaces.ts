// The workspaces that one session follows: each combination of workspace and kinds once (contract 37).
import type { AcknowledgedItem } from '../../contract/live-messages.ts';
import { type LiveKind, liveKinds } from '../../model/live-kind.ts';
import type { Principal } from '../../model/principal.ts';
import type { SubscriptionRoom } from './session-subscriptions.ts';
import type { WorkspaceFanOut } from './workspace-fan-out.ts';
import type {
  WorkspaceGrant,
  WorkspaceInterest,
  WorkspaceReader,
  WorkspaceSubscription,
} from './workspace-interest.ts';

/** An item of a message. */
export interface WorkspaceTarget {
  readonly workspaceId: string;
  /** In the order of the table, each once; none means all of the workspace's subscriptions. */
  readonly kinds: readonly LiveKind[];
  readonly perSecond: number | undefined;
}

export interface SessionWorkspaces {
  readonly find: (target: WorkspaceTarget) => WorkspaceSubscription | undefined;
  /** Opens a combination with room that was taken, or changes the limit of one that is open. */
  readonly open: (target: WorkspaceTarget, grant: WorkspaceGrant, grantedTo: Principal) => void;
  readonly close: (subscription: WorkspaceSubscription) => void;
  readonly closeTarget: (target: WorkspaceTarget) => void;
  readonly clear: () => void;
  readonly acknowledged: () => readonly AcknowledgedItem[];
  /** Calls the function for each kind of which something was omitted since the last call. */
  readonly reportOmitted: (
    report: (workspaceId: string, kind: LiveKind, omitted: number) => void,
  ) => void;
  readonly size: number;
}

export function createSessionWorkspaces(
  fanOut: WorkspaceFanOut,
  reader: WorkspaceReader,
  room: SubscriptionRoom,
): SessionWorkspaces {
  const interests = new Map<string, WorkspaceInterest>();
  let size = 0;

  function interestIn(workspaceId: string, { organizationId }: WorkspaceGrant): WorkspaceInterest {
    const known = interests.get(workspaceId);
    if (known !== undefined) return known;
    const interest = newInterest(workspaceId, organizationId, reader);
    interests.set(workspaceId, interest);
    fanOut.add(interest);
    return interest;
  }

  function close(subscription: WorkspaceSubscription): void {
    const interest = interests.get(subscription.workspaceId);
    const key = keyOf(subscription.kinds);
    if (interest === undefined || interest.subscriptions.get(key) !== subscription) return;
    interest.subscriptions.delete(key);
    size--;
    room.give(1);
    if (interest.subscriptions.size > 0) return fanOut.changed(interest);
    interests.delete(subscription.workspaceId);
    fanOut.remove(interest);
  }

  const all = () =>
    [...interests.values()].flatMap(({ subscriptions }) => [...subscriptions.values()]);

  return {
    find: ({ workspaceId, kinds }) => interests.get(workspaceId)?.subscriptions.get(keyOf(kinds)),
    open({ workspaceId, kinds, perSecond }, grant, grantedTo) {
      const interest = interestIn(workspaceId, grant);
      const key = keyOf(kinds);
      const known = interest.subscriptions.get(key);
      if (known === undefined) {
        interest.subscriptions.set(key, { workspaceId, kinds, perSecond, grant, grantedTo });
        size++;
      } else known.perSecond = perSecond;
      fanOut.changed(interest);
    },
    close,
    closeTarget({ workspaceId, kinds }) {
      const open = [...(interests.get(workspaceId)?.subscriptions.values() ?? [])];
      const isMeant = (each: WorkspaceSubscription) =>
        kinds.length === 0 || keyOf(each.kinds) === keyOf(kinds);
      for (const subscription of open.filter(isMeant)) close(subscription);
    },
    clear() {
      for (const subscription of all()) close(subscription);
    },
    acknowledged: () => all().map(workspaceItemOf),
    reportOmitted(report) {
      for (const interest of interests.values())
        for (const [kind, omitted] of fanOut.takeOmitted(interest))
          report(interest.workspaceId, kind, omitted);
    },
    get size() {
      return size;
    },
  };
}

/** The kinds in the order of their table, each once. */
export function inTableOrder(kinds: readonly LiveKind[]): readonly LiveKind[] {
  return liveKinds.filter((kind) => kinds.includes(kind));
}

export function workspaceItemOf({
  workspaceId,
  kinds,
  perSecond,
}: WorkspaceSubscription): AcknowledgedItem {
  return { workspaceId, kinds, ...(perSecond !== undefined && { perSecond }), valid: true };
}

function keyOf(kinds: readonly LiveKind[]): string {
  return kinds.join();
}

function newInterest(
  workspaceId: string,
  organizationId: string,
  reader: WorkspaceReader,
): WorkspaceInterest {
  return {
    workspaceId,
    organizationId,
    reader,
    pace: undefined,
    subscriptions: new Map(),
    omitted: new Map(),
    counted: new Map(),
  };
}
