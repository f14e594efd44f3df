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

export class FleetModel {
  readonly #devices = new Map<string, Map<string, ModelRow>>();
  #rules: RetentionTimes | undefined;
  #order = 0;

  add(deviceId: string, samples: readonly Given[]): void {
    const rows = this.#devices.get(deviceId) ?? new Map<string, ModelRow>();
    this.#devices.set(deviceId, rows);
    for (const given of samples) {
      const { topic = 'default', workspaceId = 'w1', dataFlowId = 'f1' } = given;
      const name = nameOf({ ...given, topic });
      if (given.stored === false || rows.has(name)) continue;
      const row = { ...given, topic, workspaceId, dataFlowId, order: this.#order++ };
      rows.set(name, { ...row, isSure: given.at >= keepFromOf(this.#rules, row) });
    }
  }

  drop(deviceId: string): void {
    this.#devices.delete(deviceId);
  }

  /** The store has no rules when it is opened again. */
  retain(next: RetentionTimes | undefined): void {
    this.#rules = next;
    for (const rows of this.#devices.values())
      for (const row of rows.values())
        if (row.at < keepFromOf(this.#rules, row)) row.isSure = false;
  }

  rowsOf(deviceId: string): readonly ModelRow[] {
    return [...(this.#devices.get(deviceId)?.values() ?? [])];
  }

  /** Devices with rows. */
  deviceIds(): readonly string[] {
    return [...this.#devices.keys()];
  }

  find(deviceId: string, sample: SampleName): ModelRow | undefined {
    return this.#devices.get(deviceId)?.get(nameOf(sample));
  }
}

function nameOf({ topic, at, data }: SampleName): string {
  return JSON.stringify([topic, at, canonical(data)]);
}
