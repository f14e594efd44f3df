// Created devices: those that a device connector creates for senders that name them first.
import { type DeviceConnector, deviceCreationOf } from '../../model/connector.ts';
import { Problem, type ProblemName, problem } from '../../model/problem.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import type { Records } from '../../storage/records/records.ts';
import { createSerialQueue, type SerialQueue } from '../../structures/serial-queue.ts';
import { change } from '../record-change.ts';
import { changeDevices } from './device-batch.ts';

/** Why a name has no device. */
interface CreationRefusal {
  readonly errorCode: string;
  readonly message: string;
}

type CreateDevices = (
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
  const flow = await dataFlowRows.oldestOf(records.db, id);
  if (flow === undefined) return refusedAll(names, problem('createdDevicesWithoutFlow'));
  const refused = new Map<string, CreationRefusal>();
  // Counted first: what another node creates after it exists below, and is not refused.
  const room = Math.max(0, devicesMax - (await dataFlowRows.devicesOf(records.db, flow.id)));
  // A request before this one may have created some.
  const existing = await deviceRows.placesByName(records.db, organizationId, names);
  const absent = names.filter((one) => !existing.has(one));
  const drafts = absent.map((name) => ({ name, deviceId: name, workspaceId, dataFlowId: flow.id }));
  let failure: Problem | undefined;
  for (let at = 0, created = 0; at < drafts.length; ) {
    if (created >= room) failure ??= problem('createdDevicesMax', { devicesMax });
    // What refuses one refuses the others, such as a quota.
    if (failure !== undefined) {
      for (const { name } of drafts.slice(at)) refused.set(name, refusalOf(failure));
      break;
    }
    const some = drafts.slice(at, at + Math.min(devicesPerTransaction, room - created));
    at += some.length;
    const changes = some.map((draft) => ({ work: 'create', draft }) as const);
    const outcomes = await change(records, (step) => changeDevices(step, changes));
    for (const [i, outcome] of outcomes.entries()) {
      if (!(outcome instanceof Problem)) created++;
      else if (outcome.problem !== 'deviceIdNotUnique')
        refused.set(some[i]?.name ?? '', refusalOf(outcome));
      if (outcome instanceof Problem && !ofOneName.has(outcome.problem)) failure = outcome;
    }
  }
  return refused;
}

/** More would hold the records for longer than other changes should wait. */
const devicesPerTransaction = 50;

/** Problems of a name: the next one can be good. */
const ofOneName: ReadonlySet<ProblemName> = new Set(['invalidRequest', 'deviceIdNotUnique']);

function refusedAll(names: readonly string[], failure: Problem) {
  return new Map(names.map((name) => [name, refusalOf(failure)]));
}

function refusalOf({ code, message }: Problem): CreationRefusal {
  return { errorCode: code, message };
}
