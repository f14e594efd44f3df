// Workspace fan-out: sends samples and events of a workspace to the sessions that follow it, within a budget (contract 37).
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type LiveKind, liveKinds } from '../../model/live-kind.ts';
import type { Principal, Scope } from '../../model/principal.ts';
import type { StoredSample } from '../../model/sample.ts';
import { type Outbox, sampleFrame, textFrame } from './send-buffer.ts';

// Workspace interest: the subscriptions of one session to one workspace, and what they permit (contract 37).

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
function paceOf({ subscriptions, pace }: WorkspaceInterest): Pace | undefined {
  const limits = [...subscriptions.values()]
    .filter(({ kinds }) => kinds.includes('SAMPLE'))
    .map(({ perSecond }) => perSecond ?? Infinity);
  const perSecond = Math.max(...limits);
  if (limits.length === 0 || perSecond === Infinity) return undefined;
  return pace?.perSecond === perSecond ? pace : new Pace(perSecond);
}

/** Whether a change of a record that needs the scope may be shown. */
function mayRead({ subscriptions }: WorkspaceInterest, kind: LiveKind, scope: Scope): boolean {
  for (const { kinds, grant } of subscriptions.values())
    if (kinds.includes(kind) && grant.readable.has(scope)) return true;
  return false;
}

// Pace: limits samples per second evenly, with two counters (contract 37).

const windowMs = 1_000;

/**
 * The count of the last second is estimated from this window and the rest of the previous one.
 * So a second has no more than the limit, and a constant surplus is thinned evenly.
 */
class Pace {
  readonly perSecond: number;
  #window = 0;
  #previous = 0;
  #current = 0;

  constructor(perSecond: number) {
    this.perSecond = perSecond;
  }

  /** Whether another sample may be sent now. */
  isFree(now: EpochMs): boolean {
    this.#move(now);
    const rest = 1 - (now % windowMs) / windowMs;
    return this.#previous * rest + this.#current < this.perSecond;
  }

  /** Counts a sample that was sent. */
  note(now: EpochMs): void {
    this.#move(now);
    this.#current += 1;
  }

  #move(now: EpochMs): void {
    const index = Math.floor(now / windowMs);
    if (index === this.#window) return;
    this.#previous = index === this.#window + 1 ? this.#current : 0;
    this.#current = 0;
    this.#window = index;
  }
}

// Send budget: the work of workspace subscriptions per organization and second, so that no tenant delays others.

/** Costs in parts of the budget; one part is about 50 ns. */
export const sendCosts = {
  /** A session that is checked. */
  checked: 1,
  /** A frame that is queued and written. */
  sent: 20,
} as const;

/** About 50 ms of a second: 50,000 sent frames. */
const partsPerSecond = 1_000_000;

export class SendBudget {
  /** Only of the current second, so that nothing is kept for organizations that send nothing. */
  readonly #used = new Map<string, number>();
  #second = 0;

  /** False if the organization has not enough left in this second; then nothing is taken. */
  take(organizationId: string, now: EpochMs, parts: number): boolean {
    const current = Math.floor(now / 1_000);
    if (current !== this.#second) {
      this.#used.clear();
      this.#second = current;
    }
    const after = (this.#used.get(organizationId) ?? 0) + parts;
    if (after > partsPerSecond) return false;
    this.#used.set(organizationId, after);
    return true;
  }
}

/** An event without the members that all events have. */
type EventContent = JsonObject | Readonly<Record<string, unknown>>;

export interface LiveEvent {
  readonly workspaceId: string;
  readonly kind: LiveKind;
  /** Called at most once, and only if a session gets the event. */
  readonly content: () => EventContent;
  /** Of a changed record: the scope that reading it needs. */
  readonly scope?: Scope;
}

export interface WorkspaceFanOut {
  /** Whether the kind is followed in the workspace. */
  readonly wants: (workspaceId: string, kind: LiveKind) => boolean;
  /** The workspaces in which the kind is followed. */
  readonly wanting: (kind: LiveKind) => readonly FollowedWorkspace[];
  /** The followed workspaces of the organization. */
  readonly inOrganization: (organizationId: string) => readonly string[];
  /** Sends the event to all that follow its kind. Costs a look-up when none does. */
  readonly publish: (event: LiveEvent) => void;
  /** Whether a session would be sent a sample of the workspace now. */
  readonly takesSamples: (workspaceId: string) => boolean;
  /** Counts events that are not created, or that were lost on the way from another node. */
  readonly omit: (workspaceId: string, kind: LiveKind, count: number) => void;
  /** Sends the sample; returns its frame, if there is one. */
  readonly publishSample: (
    sample: StoredSample,
    frame: Buffer | undefined,
    cursorOf: (sample: StoredSample) => string,
  ) => Buffer | undefined;
  readonly add: (interest: WorkspaceInterest) => void;
  /** Call when the kinds of the interest have changed. */
  readonly changed: (interest: WorkspaceInterest) => void;
  readonly remove: (interest: WorkspaceInterest) => void;
  readonly interests: (workspaceId?: string) => readonly WorkspaceInterest[];
  /** Events that the interest was not sent since the last call, by kind. */
  readonly takeOmitted: (interest: WorkspaceInterest) => ReadonlyMap<LiveKind, number>;
  /** Followed workspaces. */
  readonly size: number;
}

/** A workspace in which a kind is followed. */
export interface FollowedWorkspace {
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly since: EpochMs;
}

interface Audience {
  readonly organizationId: string;
  readonly interests: Set<WorkspaceInterest>;
  readonly byKind: Map<LiveKind, Set<WorkspaceInterest>>;
  /** When the kinds began to be followed. */
  readonly since: Map<LiveKind, EpochMs>;
  /** Events that no session was sent, because the organization had used up its second. */
  readonly unsent: Map<LiveKind, number>;
}

type Audiences = Map<string, Audience>;

/** An empty index; one per process. */
export function createWorkspaceFanOut(now: () => EpochMs): WorkspaceFanOut {
  const audiences: Audiences = new Map();
  // One for each kind, so that many samples do not keep alarms from being sent.
  const budgets = new Map(liveKinds.map((kind) => [kind, new SendBudget()]));
  const followersOf = (workspaceId: string, kind: LiveKind) =>
    audiences.get(workspaceId)?.byKind.get(kind);

  function sending(workspaceId: string, kind: LiveKind): Sending | undefined {
    const audience = audiences.get(workspaceId);
    const followers = audience?.byKind.get(kind);
    const budget = budgets.get(kind);
    if (audience === undefined || followers === undefined || budget === undefined) return undefined;
    return { audience, followers, budget, now: now() };
  }

  return {
    wants: (workspaceId, kind) => followersOf(workspaceId, kind) !== undefined,
    wanting: (kind) => followedIn(audiences, kind),
    inOrganization: (organizationId) =>
      [...audiences].filter(([, each]) => each.organizationId === organizationId).map(([id]) => id),
    publish(event) {
      const to = sending(event.workspaceId, event.kind);
      if (to !== undefined) sendEvent(event, to);
    },
    takesSamples(workspaceId) {
      const to = sending(workspaceId, 'SAMPLE');
      return to !== undefined && isFree(to);
    },
    omit(workspaceId, kind, omitted) {
      const audience = audiences.get(workspaceId);
      if (audience?.byKind.has(kind) === true) count(audience.unsent, kind, omitted);
    },
    publishSample(sample, known, cursorOf) {
      const to = sending(sample.workspaceId, 'SAMPLE');
      return to === undefined ? known : sendSample(sample, known, { ...to, cursorOf });
    },
    add(interest) {
      const { workspaceId, organizationId } = interest;
      const audience = audiences.get(workspaceId) ?? newAudience(organizationId);
      audiences.set(workspaceId, audience);
      audience.interests.add(interest);
      for (const [kind, unsent] of audience.unsent) interest.counted.set(kind, unsent);
    },
    changed(interest) {
      const audience = audiences.get(interest.workspaceId);
      if (audience?.interests.has(interest) !== true) return;
      leave(audience, interest);
      for (const { kinds } of interest.subscriptions.values())
        for (const kind of kinds) {
          audience.byKind.set(kind, (audience.byKind.get(kind) ?? new Set()).add(interest));
          if (!audience.since.has(kind)) audience.since.set(kind, now());
        }
      dropUnfollowed(audience);
      interest.pace = paceOf(interest);
    },
    remove(interest) {
      const audience = audiences.get(interest.workspaceId);
      if (audience === undefined) return;
      leave(audience, interest);
      dropUnfollowed(audience);
      audience.interests.delete(interest);
      if (audience.interests.size === 0) audiences.delete(interest.workspaceId);
    },
    interests: (workspaceId) => interestsIn(audiences, workspaceId),
    takeOmitted: (interest) => takeOmitted(audiences.get(interest.workspaceId), interest),
    get size() {
      return audiences.size;
    },
  };
}

function newAudience(organizationId: string): Audience {
  return {
    organizationId,
    interests: new Set(),
    byKind: new Map(),
    since: new Map(),
    unsent: new Map(),
  };
}

function interestsIn(audiences: Audiences, workspaceId?: string): WorkspaceInterest[] {
  if (workspaceId !== undefined) return [...(audiences.get(workspaceId)?.interests ?? [])];
  return [...audiences.values()].flatMap(({ interests }) => [...interests]);
}

function followedIn(audiences: Audiences, kind: LiveKind): FollowedWorkspace[] {
  return [...audiences].flatMap(([workspaceId, { organizationId, since }]) => {
    const from = since.get(kind);
    return from === undefined ? [] : [{ workspaceId, organizationId, since: from }];
  });
}

function leave({ byKind }: Audience, interest: WorkspaceInterest): void {
  for (const followers of byKind.values()) followers.delete(interest);
}

function dropUnfollowed({ byKind, since }: Audience): void {
  for (const [kind, followers] of byKind) {
    if (followers.size > 0) continue;
    byKind.delete(kind);
    since.delete(kind);
  }
}

interface Sending {
  readonly audience: Audience;
  readonly followers: ReadonlySet<WorkspaceInterest>;
  readonly budget: SendBudget;
  readonly now: EpochMs;
}

function isFree({ audience, followers, budget, now }: Sending): boolean {
  if (!budget.take(audience.organizationId, now, followers.size * sendCosts.checked)) return false;
  return followers.values().some(({ pace }) => pace?.isFree(now) ?? true);
}

function sendEvent(
  { workspaceId, kind, content, scope }: LiveEvent,
  { audience, followers, budget, now }: Sending,
): void {
  const { organizationId, unsent } = audience;
  if (!budget.take(organizationId, now, followers.size * sendCosts.sent))
    return count(unsent, kind, 1);
  let frame: Buffer | undefined;
  for (const interest of followers) {
    if (scope !== undefined && !mayRead(interest, kind, scope)) continue;
    frame ??= textFrame(
      JSON.stringify({
        type: 'event',
        kind,
        workspaceId,
        timestamp: formatInstant(now),
        ...content(),
      }),
    );
    if (!interest.reader.outbox.sendSample(frame)) count(interest.omitted, kind, 1);
  }
}

function sendSample(
  sample: StoredSample,
  known: Buffer | undefined,
  {
    audience,
    followers,
    budget,
    now,
    cursorOf,
  }: Sending & {
    readonly cursorOf: (sample: StoredSample) => string;
  },
): Buffer | undefined {
  const { organizationId, unsent } = audience;
  if (!budget.take(organizationId, now, followers.size * sendCosts.checked)) {
    count(unsent, 'SAMPLE', 1);
    return known;
  }
  let frame = known;
  for (const interest of followers) {
    const { reader, pace, omitted } = interest;
    if (reader.hasOwn(sample.deviceId, sample.topic)) continue;
    if (pace?.isFree(now) === false || !budget.take(organizationId, now, sendCosts.sent)) {
      count(omitted, 'SAMPLE', 1);
      continue;
    }
    frame ??= sampleFrame(sample, now, cursorOf(sample));
    if (reader.outbox.sendSample(reader.frameFor(sample, frame))) pace?.note(now);
    else count(omitted, 'SAMPLE', 1);
  }
  return frame;
}

function count(counts: Map<LiveKind, number>, kind: LiveKind, amount: number): void {
  counts.set(kind, (counts.get(kind) ?? 0) + amount);
}

const nothing: ReadonlyMap<LiveKind, number> = new Map();

function takeOmitted(
  audience: Audience | undefined,
  { omitted, counted, subscriptions }: WorkspaceInterest,
): ReadonlyMap<LiveKind, number> {
  for (const [kind, unsent] of audience?.unsent ?? nothing) {
    const missed = unsent - (counted.get(kind) ?? 0);
    if (missed === 0) continue;
    counted.set(kind, unsent);
    if (subscriptions.values().some(({ kinds }) => kinds.includes(kind)))
      count(omitted, kind, missed);
  }
  if (omitted.size === 0) return nothing;
  const taken = new Map(omitted);
  omitted.clear();
  return taken;
}
