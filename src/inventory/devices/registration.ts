// Registering LoRa devices with their network server, and activating them there, as items of an operation (contract 4, 19).
import type { Device } from '../../model/device.ts';
import type { NetworkWork, Operation, OperationAction } from '../../model/operation.ts';
import { networkWorks } from '../../model/operation.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { Records } from '../../records/records.ts';
import { findDevice, saveDevice } from '../../records/rows/devices.ts';
import { found, nextVersion, type Step } from '../record-change.ts';

/**
 * Tells the network server of the device's integration. It runs outside of any transaction, and
 * after a crash again for the same device, so that it must be harmless to repeat. A refusal is
 * thrown as a Problem and becomes the outcome of that device alone.
 */
export type TellNetworkServer = (device: Device, work: NetworkWork) => Promise<void>;

/**
 * What network servers said about the next devices, by the action's id: a refusal, or undefined for
 * consent.
 */
export type NetworkAnswers = ReadonlyMap<string, Problem | undefined>;

const wanted = {
  register: { registered: true },
  deregister: { registered: false },
  activate: { active: true },
  deactivate: { active: false },
} as const satisfies Record<NetworkWork, Partial<Pick<Device, 'registered' | 'active'>>>;

function isNetworkWork(work: string): work is NetworkWork {
  return (networkWorks as readonly string[]).includes(work);
}

function isSo(device: Device, work: NetworkWork): boolean {
  return Object.entries(wanted[work]).every(
    ([name, value]) => device[name as keyof Device] === value,
  );
}

interface NetworkQuestions {
  readonly operation: Operation;
  readonly actions: readonly OperationAction[];
  readonly tell: TellNetworkServer | undefined;
  readonly isTimeUp: () => boolean;
}

/**
 * Sends one request per device until the time is up. Undefined for operations without network
 * servers.
 */
export async function askNetworkServers(
  records: Records,
  { operation, actions, tell, isTimeUp }: NetworkQuestions,
): Promise<NetworkAnswers | undefined> {
  const { work } = operation.plan;
  if (tell === undefined || !isNetworkWork(work)) return undefined;
  const answers = new Map<string, Problem | undefined>();
  for (const { id, input } of actions) {
    const device = await findDevice(records, String(input?.['id']));
    const isAsked =
      device?.workspaceId === operation.workspaceId &&
      device.integrationId !== null &&
      !isSo(device, work);
    if (isAsked) answers.set(id, await answerOf(tell, device, work));
    else answers.set(id, undefined);
    if (isTimeUp()) break;
  }
  return answers;
}

async function answerOf(
  tell: TellNetworkServer,
  device: Device,
  work: NetworkWork,
): Promise<Problem | undefined> {
  try {
    await tell(device, work);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/**
 * A device that is as wanted already stays as it is. Throws 409 for a device that no network server
 * could know.
 */
export async function registrationStep(step: Step, id: string, work: NetworkWork): Promise<Device> {
  const device = found(await findDevice(step, id), 'device', id);
  const { connectivity, deviceId } = device;
  if (connectivity !== 'LORA') throw problem('notRegistrable', { deviceId, connectivity, work });
  if (isSo(device, work)) return device;
  const record: Device = {
    ...device,
    ...wanted[work],
    ...nextVersion(device, undefined, step.now()),
  };
  await saveDevice(step, record);
  step.announce({ kind: 'device', id, action: 'updated' });
  return record;
}
