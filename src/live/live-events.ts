// Live events: what happens in workspaces, as those see it who follow it (contract 37).
import type { TriedDelivery } from '../outputs/deliveries/attempts/waiting-delivery.ts';
import type { ShownAlarmEvent } from '../rules/alarms/alarm-notifications.ts';
import type {
  FollowedWorkspace,
  LiveEvent,
  WorkspaceFanOut,
} from './sessions/workspace-fan-out.ts';
import type { RecordKind } from '../model/ids.ts';
import { type EpochMs, formatInstant, formatInstantOrNull, latest } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveKind } from '../model/live-kind.ts';
import type { Scope } from '../model/principal.ts';
import type { ChangedRecord, RecordChange } from '../model/record.ts';
import type { Replacement } from '../model/sample-changes.ts';
import type { CompiledRule } from '../rules/evaluation/compiled-rule.ts';
import { type RuleRun, runView } from '../rules/evaluation/rule-run.ts';
import type { EventsElsewhere } from '../cluster/remote-events.ts';
import type { OfflinePlace, WentOffline } from '../storage/records/rows/device-status.ts';
import type { SetTimer } from '../structures/timers.ts';

/** A device that came online, or went offline. */
export interface DeviceTransition {
  readonly workspaceId: string;
  readonly deviceId: string;
  readonly state: 'ONLINE' | 'OFFLINE';
  /** UNKNOWN before the first uplink. */
  readonly previousState: 'ONLINE' | 'OFFLINE' | 'UNKNOWN';
  readonly lastUplinkAt: EpochMs;
}

/** Whether sessions follow a kind, and what they are sent. */
export type EventAudience = EventsElsewhere;

/** The kinds of records whose changes are shown, and the scope that reading them needs. */
const scopeOfRecord: Partial<Readonly<Record<RecordKind, Scope>>> = {
  workspace: 'workspace',
  device: 'asset',
  tag: 'asset',
  customFieldMeta: 'asset',
  deviceConfiguration: 'asset',
  deviceType: 'deviceType',
  deviceConnector: 'dataFlow',
  outputConnector: 'dataFlow',
  dataFlow: 'dataFlow',
  integration: 'integration',
  rule: 'rule',
  calculation: 'rule',
  mute: 'rule',
  onCall: 'rule',
  customLogic: 'customLogic',
  deviceCredential: 'deviceCredential',
  dashboard: 'dashboard',
  dashboardGroup: 'dashboard.group',
  annotation: 'dashboard',
  report: 'dashboard',
  blob: 'blob',
};

const pastTense = { created: 'CREATED', updated: 'UPDATED', deleted: 'DELETED' } as const;

/** `elsewhere` are the sessions of other nodes; undefined without any. */
export class LiveEvents {
  readonly #fanOut: WorkspaceFanOut;
  readonly #elsewhere: () => EventAudience | undefined;

  constructor(
    fanOut: WorkspaceFanOut,
    elsewhere: () => EventAudience | undefined = () => undefined,
  ) {
    this.#fanOut = fanOut;
    this.#elsewhere = elsewhere;
  }

  /** Every node notices it. */
  readonly recordChanged = (change: RecordChange): void => {
    if (change.kind === 'conditionState') return;
    const scope = scopeOfRecord[change.kind];
    if (change.about === undefined || scope === undefined || this.#fanOut.size === 0) return;
    const content = recordContent(change, change.about);
    for (const workspaceId of workspacesOf(change.about, this.#fanOut))
      this.#fanOut.publish({ workspaceId, kind: 'RECORD_CHANGED', scope, content });
  };

  /** Every node notices it. */
  readonly deviceWentOffline = (transition: DeviceTransition): void =>
    this.#fanOut.publish(this.#transitionOf(transition));

  readonly deviceCameOnline = (transition: DeviceTransition): void =>
    this.#publish(this.#transitionOf(transition));

  readonly alarmChanged = ({ change, alarm }: ShownAlarmEvent): void => {
    const { workspaceId } = alarm;
    this.#publish({ workspaceId, kind: 'ALARM', content: () => ({ change, alarm }) });
  };

  readonly ran = (compiled: CompiledRule, run: RuleRun): void => {
    const { id, name, workspaceId } = compiled.rule;
    const content = () => ({ rule: { id, name }, run: runView(compiled, run) });
    this.#publish({ workspaceId, kind: 'RULE_RUN', content });
  };

  /** Whether a session of any node follows the kind in the workspace. */
  wants(workspaceId: string, kind: LiveKind): boolean {
    return (
      this.#fanOut.wants(workspaceId, kind) || this.#elsewhere()?.wants(workspaceId, kind) === true
    );
  }

  /** Whether a session of any node follows the kind in any workspace. */
  wantsAny(kind: LiveKind): boolean {
    return this.#fanOut.wanting(kind).length > 0 || this.#elsewhere()?.wantsAny(kind) === true;
  }

  delivered(tried: TriedDelivery): void {
    const { workspaceId } = tried.waiting;
    const content = () => ({ delivery: deliveryContent(tried) });
    this.#publish({ workspaceId, kind: 'DELIVERY', content });
  }

  /** Samples of the device were removed or replaced. */
  samplesChanged(deviceId: string, { cause, ranges, workspaceId }: Replacement): void {
    const all = ranges.flatMap(({ topics }) => topics ?? []);
    const topics = ranges.some((range) => range.topics === null) ? null : [...new Set(all)];
    const from = formatInstant(Math.min(...ranges.map((range) => range.from)));
    // A range without an end reaches further than the times that clients read and may send back.
    const to = formatInstant(Math.min(latest, Math.max(...ranges.map((range) => range.to))));
    const content = () => ({ deviceId, topics, from, to, cause });
    this.#publish({ workspaceId, kind: 'SAMPLES_CHANGED', content });
  }

  /** `operation` is shown as answers show it. */
  operationMoved(workspaceId: string, operation: object): void {
    this.#publish({ workspaceId, kind: 'OPERATION', content: () => ({ operation }) });
  }

  #publish(event: LiveEvent): void {
    this.#fanOut.publish(event);
    this.#elsewhere()?.publish(event);
  }

  #transitionOf({ workspaceId, lastUplinkAt, ...device }: DeviceTransition): LiveEvent {
    const content = () => ({ ...device, lastUplink: formatInstant(lastUplinkAt) });
    return { workspaceId, kind: 'DEVICE_STATE', content };
  }
}

/** A record of the organization concerns all of its workspaces. */
function workspacesOf(
  { organizationId, workspaceId, leftWorkspaceId }: ChangedRecord,
  { inOrganization }: WorkspaceFanOut,
): readonly string[] {
  if (workspaceId === null) return inOrganization(organizationId);
  if (leftWorkspaceId === null) return [workspaceId];
  return [workspaceId, leftWorkspaceId];
}

function recordContent(
  { kind, id, action }: RecordChange,
  { name, by, workspaceId: recordWorkspaceId }: ChangedRecord,
): () => JsonObject {
  const { type, id: actorId, name: actorName } = by;
  const resourceType = kind.replace(/[a-z](?=[A-Z])/g, '$&_').toUpperCase();
  return () => ({
    action: pastTense[action],
    record: { type: resourceType, id, name, workspaceId: recordWorkspaceId },
    by: { type, id: actorId, name: actorName },
  });
}

function deliveryContent({ waiting, delivery, outcome }: TriedDelivery): JsonObject {
  const { id, connectorId, deviceId, cause, ruleId, correlationId } = delivery;
  const isPending = outcome.state === 'PENDING';
  return {
    id,
    outputConnectorId: connectorId,
    deviceId,
    state: outcome.state,
    tries: outcome.tries,
    created: formatInstant(waiting.created),
    updated: formatInstant(outcome.updated),
    nextTry: formatInstantOrNull(isPending ? outcome.nextAt : null),
    cause,
    ruleId: ruleId ?? null,
    correlationId,
    reason: outcome.reason,
  };
}

// Offline watch: notices devices that go offline, in workspaces where their states are followed (contract 37).

/** Devices that are read in one pass. */
const devicesPerPass = 1_000;
const passEveryMs = 2_000;

export class OfflineWatch {
  readonly #followed: () => readonly FollowedWorkspace[];
  readonly #settled: () => Promise<void>;
  readonly #goneOffline: (
    workspace: FollowedWorkspace,
    range: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
  ) => Promise<readonly WentOffline[]>;
  readonly #deviceChanged: (transition: DeviceTransition) => void;
  readonly #now: () => EpochMs;
  #places = new Map<string, OfflinePlace>();
  #running: Promise<void> | undefined;
  readonly #stop: () => void;

  constructor(parts: {
    /** The workspaces in which the states of devices are followed. */
    readonly followed: () => readonly FollowedWorkspace[];
    /** Resolves when the records contain all uplinks until now. */
    readonly settled: () => Promise<void>;
    readonly goneOffline: (
      workspace: FollowedWorkspace,
      range: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
    ) => Promise<readonly WentOffline[]>;
    readonly deviceChanged: (transition: DeviceTransition) => void;
    readonly now: () => EpochMs;
    readonly setRepeatingTimer: SetTimer;
    readonly failed: (error: unknown) => void;
  }) {
    const { followed, settled, goneOffline, deviceChanged, now } = parts;
    this.#followed = followed;
    this.#settled = settled;
    this.#goneOffline = goneOffline;
    this.#deviceChanged = deviceChanged;
    this.#now = now;
    this.#stop = parts.setRepeatingTimer(() => void this.look().catch(parts.failed), passEveryMs);
  }

  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#running?.catch(() => undefined);
  };

  /** Does a pass now, as happens every two seconds. */
  look(): Promise<void> {
    this.#running ??= this.#pass().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #pass(): Promise<void> {
    const workspaces = this.#followed();
    const to = this.#now();
    const next = new Map<string, OfflinePlace>();
    if (workspaces.length > 0) await this.#settled();
    for (const workspace of workspaces) {
      const { workspaceId, since } = workspace;
      const after = this.#places.get(workspaceId) ?? { onlineUntil: since, deviceId: '' };
      next.set(workspaceId, await this.#report(workspace, after, to));
    }
    this.#places = next;
  }

  async #report(
    workspace: FollowedWorkspace,
    after: OfflinePlace,
    to: EpochMs,
  ): Promise<OfflinePlace> {
    if (after.onlineUntil >= to) return after;
    const devices = await this.#goneOffline(workspace, { after, to, max: devicesPerPass });
    const { workspaceId } = workspace;
    for (const { deviceId, lastUplinkAt } of devices)
      this.#deviceChanged({
        workspaceId,
        deviceId,
        lastUplinkAt,
        state: 'OFFLINE',
        previousState: 'ONLINE',
      });
    const last = devices.at(-1);
    if (last !== undefined && devices.length === devicesPerPass) return last;
    // Behind all devices of this instant.
    return { onlineUntil: to, deviceId: '\uffff' };
  }
}
