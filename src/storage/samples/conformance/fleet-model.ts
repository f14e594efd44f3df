// Fleet model: the rows of each device as a plain list.
import type { JsonObject } from '../../../model/json.ts';
import type { RetentionTimes } from '../sample-store.ts';
import { canonical } from './reference-store.ts';
import type { Given } from './sample-entries.ts';

export interface ModelRow extends Given {
  readonly topic: string;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
  /** Place in the order of storing. */
  readonly order: number;
  /** False when rules have hidden it: then it may be gone, even under later rules. */
  isSure: boolean;
}

export interface FleetModel {
  readonly add: (deviceId: string, samples: readonly Given[]) => void;
  readonly drop: (deviceId: string) => void;
  /** The store has no rules when it is opened again. */
  readonly retain: (rules: RetentionTimes | undefined) => void;
  readonly rowsOf: (deviceId: string) => readonly ModelRow[];
  /** Devices with rows. */
  readonly deviceIds: () => readonly string[];
  readonly find: (deviceId: string, sample: SampleName) => ModelRow | undefined;
}

interface SampleName {
  readonly topic: string;
  readonly at: number;
  readonly data: JsonObject;
}

function keepFromOf(
  rules: RetentionTimes | undefined,
  { workspaceId, dataFlowId }: Pick<ModelRow, 'workspaceId' | 'dataFlowId'>,
): number {
  const ofFlow = dataFlowId === null ? undefined : rules?.dataFlows.get(dataFlowId);
  return ofFlow ?? rules?.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}

export function createFleetModel(): FleetModel {
  const devices = new Map<string, Map<string, ModelRow>>();
  let rules: RetentionTimes | undefined;
  let order = 0;

  return {
    add: (deviceId, samples) => {
      const rows = devices.get(deviceId) ?? new Map<string, ModelRow>();
      devices.set(deviceId, rows);
      for (const given of samples) {
        const { topic = 'default', workspaceId = 'w1', dataFlowId = 'f1' } = given;
        const name = nameOf({ ...given, topic });
        if (given.stored === false || rows.has(name)) continue;
        const row = { ...given, topic, workspaceId, dataFlowId, order: order++ };
        rows.set(name, { ...row, isSure: given.at >= keepFromOf(rules, row) });
      }
    },
    drop: (deviceId) => void devices.delete(deviceId),
    retain: (next) => {
      rules = next;
      for (const rows of devices.values())
        for (const row of rows.values()) if (row.at < keepFromOf(rules, row)) row.isSure = false;
    },
    rowsOf: (deviceId) => [...(devices.get(deviceId)?.values() ?? [])],
    deviceIds: () => [...devices.keys()],
    find: (deviceId, sample) => devices.get(deviceId)?.get(nameOf(sample)),
  };
}

function nameOf({ topic, at, data }: SampleName): string {
  return JSON.stringify([topic, at, canonical(data)]);
}
