// Registering LoRa devices with their network server, activating them there, and learning their names there (contract 35, 36).
import type { Device } from '../../model/device.ts';
import type { EpochMs } from '../../model/instant.ts';
import { type JsonObject, objectOrEmpty } from '../../model/json.ts';
import {
  type NetworkWork,
  networkWorks,
  type Operation,
  type OperationAction,
} from '../../model/operation.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { change, nextVersion } from '../record-crud.ts';

/**
 * Tells the network server of the device's integration, which agrees unless the value says why not.
 * It runs outside of any transaction, and after a crash again for the same device, so that it must
 * be harmless to repeat. A refusal is thrown as a Problem and becomes the outcome of that device
 * alone.
 */
export type TellNetworkServer = (
  device: Device,
  work: NetworkWork,
) => Promise<NotTold | undefined | void>;

/** `skipped`: nobody can be told. `unreachable`: the server gave no answer. */
type NotTold = { readonly skipped: string } | { readonly unreachable: string };

/** What became of a question: a refusal, the reason why nobody was asked, or consent. */
export type NetworkAnswer = Problem | { readonly skipped: string } | 'agreed';

/** By the action's id; undefined for devices of no network server. */
export type NetworkAnswers = ReadonlyMap<string, NetworkAnswer | undefined>;

const wanted = {
  register: { registered: true },
  deregister: { registered: false },
  activate: { active: true },
  deactivate: { active: false },
} as const satisfies Record<
  NetworkWork,
  Partial<{ readonly registered: boolean | null; readonly active: boolean | null }>
>;

export function isNetworkWork(work: string): work is NetworkWork {
  return (networkWorks as readonly string[]).includes(work);
}

function isSo(device: Device, work: NetworkWork): boolean {
  return Object.entries(wanted[work]).every(
    ([name, value]) => device[name as keyof Device] === value,
  );
}

/**
 * Sends one request per device until the time is up. Undefined for operations without network
 * servers.
 */
export async function askNetworkServers(
  records: Records,
  operation: Operation,
  actions: readonly OperationAction[],
  tell: TellNetworkServer | undefined,
  isTimeUp: () => boolean,
): Promise<NetworkAnswers | undefined> {
  const { work } = operation.plan;
  if (tell === undefined || !(isNetworkWork(work) || work === 'delete')) return undefined;
  const asked = work === 'delete' ? 'deregister' : work;
  const answers = new Map<string, NetworkAnswer | undefined>();
  // A server that gave no answer is not waited for again, device by device.
  const silent = new Map<string, Problem>();
  for (const { id, input } of actions) {
    const device = await deviceRows.find(records, String(input?.['id']));
    if (device?.workspaceId !== operation.workspaceId) answers.set(id, undefined);
    else answers.set(id, await answerOf(tell, device, asked, silent));
    if (isTimeUp() && silent.size === 0) break;
  }
  const isUnasked = [...answers.values()].every((answer) => answer === undefined);
  return work === 'delete' && isUnasked ? undefined : answers;
}

async function answerOf(
  tell: TellNetworkServer,
  device: Device,
  work: NetworkWork,
  silent: Map<string, Problem>,
): Promise<NetworkAnswer | undefined> {
  const { connectivity, integrationId } = device;
  if (connectivity !== 'LORA') return undefined;
  if (integrationId === null) return work === 'register' ? withoutServer : undefined;
  // Devices count as registered since before servers were asked.
  if (work !== 'register' && isSo(device, work)) return undefined;
  const known = silent.get(integrationId);
  if (known !== undefined) return known;
  const answer = await askNetworkServer(tell, device, work);
  if (!(answer instanceof Silence)) return answer;
  silent.set(integrationId, answer.problem);
  return answer.problem;
}

const withoutServer = { skipped: 'the device belongs to no integration' };

class Silence {
  readonly problem: Problem;

  constructor(reason: string) {
    this.problem = problem('networkServerRefused', { reason });
  }
}

async function askNetworkServer(
  tell: TellNetworkServer,
  device: Device,
  work: NetworkWork,
): Promise<NetworkAnswer | Silence> {
  try {
    const told = await tell(device, work);
    if (!told) return 'agreed';
    return 'skipped' in told ? told : new Silence(told.unreachable);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

export function isSkip(answer: NetworkAnswer | undefined): answer is { readonly skipped: string } {
  return answer !== undefined && answer !== 'agreed' && !(answer instanceof Problem);
}

export function reasonOf(answer: NetworkAnswer | undefined): { readonly reason?: string } {
  if (answer instanceof Problem) return { reason: answer.message };
  return isSkip(answer) ? { reason: answer.skipped } : {};
}

/** What became of a deleted device at its network server; empty for one that none knows. */
export interface Deregistration {
  readonly deregistered?: boolean;
  readonly reason?: string;
}

/** A device is deleted whatever its network server says, and its deletion tells that. */
export function deregistrationTold(answer: NetworkAnswer | undefined): Deregistration {
  if (answer === undefined) return {};
  return { deregistered: answer === 'agreed', ...reasonOf(answer) };
}

/** Before a device is deleted alone. What its server says does not keep it. */
export async function deregisterDeleted(
  records: Records,
  id: string,
  tell: TellNetworkServer | undefined,
): Promise<Deregistration> {
  const device = await deviceRows.find(records, id);
  if (tell === undefined || device === undefined) return {};
  return deregistrationTold(await answerOf(tell, device, 'deregister', new Map()));
}

/**
 * The device after the work; one that is as wanted already stays as it is. Throws 409 for a device
 * that no network server could know. Without consent, a registered device is one of which nothing
 * is known.
 */
export function registeredDevice(
  device: Device,
  work: NetworkWork,
  isAgreed: boolean,
  now: EpochMs,
): Device {
  const { connectivity, deviceId } = device;
  if (connectivity !== 'LORA') throw problem('notRegistrable', { deviceId, connectivity, work });
  const isUnknown = !isAgreed && work === 'register' && device.registered === false;
  if (!isUnknown && (!isAgreed || isSo(device, work))) return device;
  return {
    ...device,
    ...(isUnknown ? { registered: null } : wanted[work]),
    ...nextVersion(device, undefined, now),
  };
}

// Name of a device in The Things Stack, learned from its uplinks, because downlinks need it (contract 36).

function ttnPropertiesOf({ loraProperties }: Device): JsonObject {
  return objectOrEmpty(loraProperties?.['ttnProperties']);
}

/** Writes only a new name. The version stays, because no user changed the device. */
export async function learnServerDeviceId(
  records: Records,
  device: Device,
  serverDeviceId: string,
): Promise<void> {
  if (ttnPropertiesOf(device)['deviceId'] === serverDeviceId) return;
  await change(records, async (step) => {
    const current = await deviceRows.find(step, device.id);
    if (current === undefined) return;
    const ttnProperties = { ...ttnPropertiesOf(current), deviceId: serverDeviceId };
    await deviceRows.save(step, {
      ...current,
      loraProperties: { ...current.loraProperties, ttnProperties },
    });
    step.announce({ kind: 'device', id: device.id, action: 'updated' });
  });
}
