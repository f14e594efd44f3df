// Workspace interest: the subscriptions of one session to one workspace, and what they permit (contract 37).
import type { EpochMs } from '../../model/instant.ts';
import type { LiveKind } from '../../model/live-kind.ts';
import type { Scope } from '../../model/permission.ts';
import type { Principal } from '../../model/principal.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { Outbox } from './send-buffer.ts';

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

// Pace: limits samples per second evenly, with two counters (contract 37).

interface Pace {
  readonly perSecond: number;
  /** Whether another sample may be sent now. */
  readonly isFree: (now: EpochMs) => boolean;
  /** Counts a sample that was sent. */
  readonly note: (now: EpochMs) => void;
}

const windowMs = 1_000;

/**
 * The count of the last second is estimated from this window and the rest of the previous one. So
 * a second has no more than the limit, and a constant surplus is thinned evenly.
 */
function createPace(perSecond: number): Pace {
  let window = 0;
  let previous = 0;
  let current = 0;

  function move(now: EpochMs): void {
    const index = Math.floor(now / windowMs);
    if (index === window) return;
    previous = index === window + 1 ? current : 0;
    current = 0;
    window = index;
  }

  return {
    perSecond,
    isFree(now) {
      move(now);
      const rest = 1 - (now % windowMs) / windowMs;
      return previous * rest + current < perSecond;
    },
    note(now) {
      move(now);
      current += 1;
    },
  };
}
