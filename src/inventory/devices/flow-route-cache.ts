// Flow route cache: data flows with their connector, device type and outputs, each shared by its devices.
import { defaultWorkspaceSettings, type ImplausibleTimes } from '../../model/workspace.ts';
import type { DataFlow, DeviceConnector } from '../../model/connector.ts';
import type { DeviceType } from '../../model/device-type.ts';
import { UnreadableRecord } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  dataFlowRows,
  deviceConnectorRows,
  type OpenOutputConnector,
  outputConnectorRows,
} from '../../storage/records/rows/data-flows.ts';
import { deviceTypeRows } from '../../storage/records/rows/device-types.ts';
import { workspaceRows } from '../../storage/records/rows/workspaces.ts';
import { createCacheByPart, type RecordChanges } from '../../structures/caches.ts';

/** A data flow with its connector, device type and outputs. */
export interface FlowRoute {
  readonly flow: DataFlow;
  readonly connector: DeviceConnector;
  readonly type: DeviceType | null;
  /** For how many days samples are kept, by the flow or else its workspace; null without limit. */
  readonly keptDays: number | null;
  /** What becomes of samples with times that cannot be right. */
  readonly implausibleTimes: ImplausibleTimes;
  readonly outputs: readonly { readonly connector: OpenOutputConnector; readonly topic: string }[];
}

/** A flow that devices share. A stale flow is read again, without its devices. */
export interface SharedFlow {
  readonly route: FlowRoute;
  isStale: boolean;
}

/** Flows of devices, each read once and shared. */
export interface FlowCache {
  /** Undefined when it must be read. */
  cached(id: string): SharedFlow | undefined;
  /** The cached flow, or the stored one. */
  read(id: string): Promise<SharedFlow>;
  /** Marks the flow as stale. */
  delete(id: string): void;
  /** Marks the flows that contain the record as stale. */
  deleteUsersOf(id: string): void;
}

export function createFlowCache(
  records: Records,
  flowsMax: number,
  changes: RecordChanges,
): FlowCache {
  const flows = createCacheByPart<SharedFlow>(flowsMax, (flow) => {
    flow.isStale = true;
  });
  const reading = new Map<string, { readonly revision: number; flow: Promise<SharedFlow> }>();
  return {
    cached: flows.get,
    async read(id) {
      const cached = flows.get(id);
      if (cached !== undefined) return cached;
      const { revision } = changes;
      const before = reading.get(id);
      // A read that began before the last change may be outdated.
      if (before?.revision === revision) return before.flow;
      const started = { revision, flow: readAndCache(id, revision) };
      reading.set(id, started);
      try {
        return await started.flow;
      } finally {
        if (reading.get(id) === started) reading.delete(id);
      }
    },
    delete: flows.delete,
    deleteUsersOf: flows.deleteUsersOf,
  };

  async function readAndCache(id: string, revision: number): Promise<SharedFlow> {
    const route = await readFlow(records, id);
    const { connector, type, outputs } = route;
    const used = [connector, ...outputs.map((output) => output.connector)].map((part) => part.id);
    used.push(route.flow.workspaceId);
    if (type !== null) used.push(type.id);
    // A flow that changed during the read can be outdated here: the result is used once.
    const isStale = [id, ...used].some((part) => changes.hasChanged(part, revision));
    const flow = { route, isStale };
    if (!isStale) flows.set(id, flow, used);
    return flow;
  }
}

async function readFlow(records: Records, id: string): Promise<FlowRoute> {
  const flow = await dataFlowRows.find(records.db, id);
  if (flow === undefined) throw new UnreadableRecord(`Data flow ${id} of a device is missing`);
  const connector = await deviceConnectorRows.find(records, flow.deviceConnectorId);
  if (connector === undefined)
    throw new UnreadableRecord(`The device connector of data flow ${id} is missing`);
  const type =
    flow.deviceTypeId === null
      ? null
      : ((await deviceTypeRows.find(records.db, flow.deviceTypeId)) ?? null);
  const ids = [...new Set(flow.outputs.map((output) => output.outputConnectorId))];
  const found = new Map(
    (await outputConnectorRows.findOpen(records.db, ids)).map((output) => [output.id, output]),
  );
  const outputs = flow.outputs.flatMap(({ outputConnectorId, topic }) => {
    const output = found.get(outputConnectorId);
    return output === undefined ? [] : [{ connector: output, topic }];
  });
  const workspace = await workspaceRows.find(records.db, flow.workspaceId);
  const keptDays = flow.retentionDays ?? workspace?.settings.retentionDays ?? null;
  const { implausibleTimes } = workspace?.settings ?? defaultWorkspaceSettings;
  return { flow, connector, type, outputs, keptDays, implausibleTimes };
}
