// Workspace fan-out: sends samples and events of a workspace to the sessions that follow it (contract 37).
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type LiveKind, liveKinds } from '../../model/live-kind.ts';
import type { Scope } from '../../model/permission.ts';
import type { StoredSample } from '../../model/sample.ts';
import { type SendBudget, createSendBudget, sendCosts } from './send-budget.ts';
import { sampleFrame, textFrame } from './text-frame.ts';
import { mayRead, paceOf, type WorkspaceInterest } from './workspace-interest.ts';

/** An event without the members that all events have. */
export type EventContent = JsonObject | Readonly<Record<string, unknown>>;

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
  const budgets = new Map(liveKinds.map((kind) => [kind, createSendBudget()]));
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

interface SendingSample extends Sending {
  readonly cursorOf: (sample: StoredSample) => string;
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
  { audience, followers, budget, now, cursorOf }: SendingSample,
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
