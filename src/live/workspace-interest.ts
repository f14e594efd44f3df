// Workspace interest: the subscriptions of one session to one workspace, and what they permit (contract 37).
import type { LiveKind } from '../model/live-kind.ts';
import type { Scope } from '../model/permission.ts';
import type { Principal } from '../model/principal.ts';
import type { StoredSample } from '../model/sample.ts';
import type { Outbox } from './outbox.ts';
import { createPace, type Pace } from './pace.ts';

/** What a principal may follow in a workspace. */
export interface WorkspaceGrant {
  readonly organizationId: string;
  readonly kinds: ReadonlySet<LiveKind>;
  /** The kinds of records whose changes it may see, by the scope that they need. */
  readonly readable: ReadonlySet<Scope>;
}

/** A session that follows a workspace. */
export interface WorkspaceReader {
  readonly outbox: Pick<Outbox, 'sendSample'>;
  /** The shared frame of a live sample, or the one that this session gets instead. */
  readonly frameFor: (sample: StoredSample, frame: Buffer) => Buffer;
  /** Whether a subscription to the device itself sends the sample already. */
  readonly hasOwn: (deviceId: string, topic: string) => boolean;
  /** Ends subscriptions that are no longer permitted, and notifies the client. */
  readonly withdraw: (ended: readonly WorkspaceSubscription[]) => void;
}

export interface WorkspaceSubscription {
  readonly workspaceId: string;
  /** In the order of the table of kinds. */
  readonly kinds: readonly LiveKind[];
  /** Undefined means all samples. */
  perSecond: number | undefined;
  readonly grant: WorkspaceGrant;
  readonly grantedTo: Principal;
}

/** The subscriptions of one session to one workspace. */
export interface WorkspaceInterest {
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly reader: WorkspaceReader;
  readonly subscriptions: Map<string, WorkspaceSubscription>;
  /** Undefined without a limit. */
  pace: Pace | undefined;
  /** What was not sent, by kind, since the client was notified. */
  readonly omitted: Map<LiveKind, number>;
  /** Counts of the audience that are in `omitted` already. */
  readonly counted: Map<LiveKind, number>;
}

/** Of several subscriptions to the samples of a workspace the largest limit counts. */
export function paceOf({ subscriptions, pace }: WorkspaceInterest): Pace | undefined {
  const limits = [...subscriptions.values()]
    .filter(({ kinds }) => kinds.includes('SAMPLE'))
    .map(({ perSecond }) => perSecond ?? Infinity);
  const perSecond = Math.max(...limits);
  if (limits.length === 0 || perSecond === Infinity) return undefined;
  return pace?.perSecond === perSecond ? pace : createPace(perSecond);
}

/** Whether a change of a record that needs the scope may be shown. */
export function mayRead(
  { subscriptions }: WorkspaceInterest,
  kind: LiveKind,
  scope: Scope,
): boolean {
  for (const { kinds, grant } of subscriptions.values())
    if (kinds.includes(kind) && grant.readable.has(scope)) return true;
  return false;
}
