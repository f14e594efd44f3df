// Created devices: those that a device connector creates for senders that name them first.
import { type DeviceConnector, deviceCreationOf } from '../../model/connector.ts';
import { Problem, type ProblemName, problem } from '../../model/problem.ts';
import { devicesOfDataFlow, oldestFlowOf } from '../../records/rows/data-flows.ts';
import { placesByName } from '../../records/rows/named-devices.ts';
import type { Records } from '../../records/records.ts';
import { createSerialQueue, type SerialQueue } from '../../structures/serial-queue.ts';
import { change } from '../record-change.ts';
import { createDeviceStep } from './device-steps.ts';

/** Why a name has no device. */
export interface CreationRefusal {
  readonly errorCode: string;
  readonly message: string;
}

export type CreateDevices = (
  connector: DeviceConnector,
  names: readonly string[],
) => Promise<ReadonlyMap<string, CreationRefusal>>;

/**
 * Creates a device for each name in the oldest data flow of the connector, up to `devicesMax`
 * devices. Returns the names that have none afterwards. Requests of one connector take turns, so
 * that they do not pass the limit together.
 */
export function createDeviceCreation(records: Records): CreateDevices {
  const queues = new Map<string, { readonly queue: SerialQueue; waiting: number }>();

  return async (connector, names) => {
    const own = queues.get(connector.id) ?? { queue: createSerialQueue(), waiting: 0 };
    queues.set(connector.id, own);
    own.waiting++;
    try {
      return await own.queue.run(() => createAll(records, connector, names));
    } finally {
      own.waiting--;
      if (own.waiting === 0) queues.delete(connector.id);
    }
  };
}

async function createAll(
  records: Records,
  connector: DeviceConnector,
  names: readonly string[],
): Promise<ReadonlyMap<string, CreationRefusal>> {
  const { id, organizationId, workspaceId } = connector;
  const devicesMax = deviceCreationOf(connector)?.devicesMax ?? 0;
  const flow = await oldestFlowOf(records.db, id);
  if (flow === undefined) return refusedAll(names, problem('createdDevicesWithoutFlow'));
  let room = devicesMax - (await devicesOfDataFlow(records.db, flow.id));
  const refused = new Map<string, CreationRefusal>();
  let failure: Problem | undefined;
  // A request before this one may have created some.
  const existing = await placesByName(records.db, organizationId, names);
  for (const name of names.filter((one) => !existing.has(one))) {
    if (room <= 0) failure ??= problem('createdDevicesMax', { devicesMax });
    if (failure === undefined) {
      const draft = { name, deviceId: name, workspaceId, dataFlowId: flow.id };
      const result = await created(() => change(records, (step) => createDeviceStep(step, draft)));
      if (result === undefined) room--;
      else if (ofOneName.has(result.problem)) refused.set(name, refusalOf(result));
      else if (result.problem !== 'deviceIdNotUnique') failure = result;
    }
    // What refuses one refuses the others, such as a quota.
    if (failure !== undefined) refused.set(name, refusalOf(failure));
  }
  return refused;
}

/** Problems of a name: the next one can be good. */
const ofOneName: ReadonlySet<ProblemName> = new Set(['invalidRequest']);

/** The Problem that refused it; undefined when it is done. */
async function created(work: () => Promise<unknown>): Promise<Problem | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return error;
    throw error;
  }
}

function refusedAll(names: readonly string[], failure: Problem) {
  return new Map(names.map((name) => [name, refusalOf(failure)]));
}

function refusalOf({ code, message }: Problem): CreationRefusal {
  return { errorCode: code, message };
}
