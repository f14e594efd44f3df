// Live events: what happens in workspaces, as those see it who follow it (contract 37).
import type { TriedDelivery } from '../deliveries/attempts/delivery-worker.ts';
import type { ShownAlarmEvent } from '../alarms/alarm-notifications.ts';
import type { LiveEvent, WorkspaceFanOut } from './sessions/workspace-fan-out.ts';
import type { RecordKind } from '../model/ids.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveKind } from '../model/live-kind.ts';
import type { Scope } from '../model/permission.ts';
import type { ChangedRecord, RecordChange } from '../model/record.ts';
import type { CompiledRule } from '../rules/evaluation/compiled-rule.ts';
import { type RuleRun, runView } from '../rules/evaluation/rule-run.ts';
import type { EventsElsewhere } from '../cluster/remote-events.ts';

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

export interface LiveEvents {
  /** Whether a session of any node follows the kind in the workspace. */
  readonly wants: (workspaceId: string, kind: LiveKind) => boolean;
  /** Whether a session of any node follows the kind in any workspace. */
  readonly wantsAny: (kind: LiveKind) => boolean;
  /** Every node notices it. */
  readonly recordChanged: (change: RecordChange) => void;
  /** Every node notices it. */
  readonly deviceWentOffline: (transition: DeviceTransition) => void;
  readonly deviceCameOnline: (transition: DeviceTransition) => void;
  readonly alarmChanged: (event: ShownAlarmEvent) => void;
  readonly delivered: (tried: TriedDelivery) => void;
  readonly ran: (compiled: CompiledRule, run: RuleRun) => void;
  /** `operation` is shown as answers show it. */
  readonly operationMoved: (workspaceId: string, operation: object) => void;
}

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
  customLogic: 'customLogic',
  deviceCredential: 'deviceCredential',
  dashboard: 'dashboard',
  dashboardGroup: 'dashboard.group',
  blob: 'blob',
};

const pastTense = { created: 'CREATED', updated: 'UPDATED', deleted: 'DELETED' } as const;

/** `elsewhere` are the sessions of other nodes; undefined without any. */
export function createLiveEvents(
  fanOut: WorkspaceFanOut,
  elsewhere: () => EventAudience | undefined = () => undefined,
): LiveEvents {
  function publish(event: LiveEvent): void {
    fanOut.publish(event);
    elsewhere()?.publish(event);
  }

  function transitionOf({ workspaceId, lastUplinkAt, ...device }: DeviceTransition): LiveEvent {
    const content = () => ({ ...device, lastUplink: formatInstant(lastUplinkAt) });
    return { workspaceId, kind: 'DEVICE_STATE', content };
  }

  return {
    wants: (workspaceId, kind) =>
      fanOut.wants(workspaceId, kind) || elsewhere()?.wants(workspaceId, kind) === true,
    wantsAny: (kind) => fanOut.wanting(kind).length > 0 || elsewhere()?.wantsAny(kind) === true,
    recordChanged(change) {
      if (change.kind === 'conditionState') return;
      const scope = scopeOfRecord[change.kind];
      if (change.about === undefined || scope === undefined || fanOut.size === 0) return;
      const content = recordContent(change, change.about);
      for (const workspaceId of workspacesOf(change.about, fanOut))
        fanOut.publish({ workspaceId, kind: 'RECORD_CHANGED', scope, content });
    },
    deviceWentOffline: (transition) => fanOut.publish(transitionOf(transition)),
    deviceCameOnline: (transition) => publish(transitionOf(transition)),
    alarmChanged({ change, alarm }) {
      const { workspaceId } = alarm;
      publish({ workspaceId, kind: 'ALARM', content: () => ({ change, alarm }) });
    },
    delivered(tried) {
      const { workspaceId } = tried.waiting;
      const content = () => ({ delivery: deliveryContent(tried) });
      publish({ workspaceId, kind: 'DELIVERY', content });
    },
    ran(compiled, run) {
      const { id, name, workspaceId } = compiled.rule;
      const content = () => ({ rule: { id, name }, run: runView(compiled, run) });
      publish({ workspaceId, kind: 'RULE_RUN', content });
    },
    operationMoved(workspaceId, operation) {
      publish({ workspaceId, kind: 'OPERATION', content: () => ({ operation }) });
    },
  };
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
