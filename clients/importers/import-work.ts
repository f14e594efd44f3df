// Import work: applies a plan: connector, configuration, and devices in operations that the platform works on.
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../typescript/client.ts';
import type { ImportPlan, PlannedDevice, PlannedLine } from './import-plan.ts';
import type { Source } from './moved.ts';
import { idsByName } from './platform-state.ts';

/** Devices of one operation. */
const devicesPerOperation = 2_000;
const firstPauseMs = 100;
const pauseMsMax = 2_000;

export interface WorkParts {
  readonly client: Client;
  readonly workspaceId: string;
  readonly organizationId: string;
  readonly source: Source;
  readonly signal: AbortSignal;
}

/** Resolves with a line for each device that the platform refused. Throws HeliographError. */
export async function applyPlan(plan: ImportPlan, on: WorkParts): Promise<readonly PlannedLine[]> {
  await createConnector(plan, on);
  await applyConfiguration(plan, on);
  const fresh = plan.devices.filter(({ id }) => id === null);
  const known = plan.devices.filter(({ id }) => id !== null);
  return [
    ...(await sendDevices(fresh, '/v3/devices/bulk/create', on)),
    ...(await sendDevices(known, '/v3/devices/bulk/update', on)),
  ];
}

/** Devices of a network server belong to an integration, which gets its API key later. */
async function createConnector({ connector }: ImportPlan, on: WorkParts): Promise<void> {
  if (!connector.isNew) return;
  const { client, workspaceId, organizationId, source, signal } = on;
  const { name } = connector;
  const body =
    source.integration === null
      ? { name, workspaceId, connectivity: 'HTTP' as const }
      : { name, workspaceId, organizationId, type: source.integration, properties: {} };
  const path = source.integration === null ? '/v3/device-connectors' : '/v3/integrations';
  const answer = await client.send('post', path, { body, signal });
  await answer.body?.cancel();
}

async function applyConfiguration({ document }: ImportPlan, on: WorkParts): Promise<void> {
  if (Object.values(document).every((items) => items.length === 0)) return;
  const { client, workspaceId, signal } = on;
  const body = { format: 'heliograph-workspace/1', ...document };
  const call = { path: { id: workspaceId }, body, signal };
  const answer = await client.send('put', '/v3/workspaces/{id}/configuration', call);
  await answer.body?.cancel();
}

type BulkPath = '/v3/devices/bulk/create' | '/v3/devices/bulk/update';

async function sendDevices(
  devices: readonly PlannedDevice[],
  path: BulkPath,
  on: WorkParts,
): Promise<PlannedLine[]> {
  if (devices.length === 0) return [];
  const { client, workspaceId, signal } = on;
  const flows = await idsByName(on, '/v3/data-flows');
  const tags = await idsByName(on, '/v3/tags');
  const lines: PlannedLine[] = [];
  for (let at = 0; at < devices.length; at += devicesPerOperation) {
    const part = devices.slice(at, at + devicesPerOperation);
    const drafts = part.map((device) => draftOf(device, flows, tags));
    const body = { workspaceId, devices: drafts };
    const answer = await client.send('post', path, { body, signal });
    const { id } = (await answer.json()) as { readonly id: string };
    lines.push(...(await refusals(id, part, on)));
  }
  return lines;
}

function draftOf(
  { id, deviceId, dataFlow, tags, members }: PlannedDevice,
  flows: ReadonlyMap<string, string>,
  tagIds: ReadonlyMap<string, string>,
): object {
  const named = { tags: (tags ?? []).map((name) => ({ id: tagIds.get(name) })) };
  if (id !== null) return { id, ...members, ...named };
  return { deviceId, dataFlowId: flows.get(dataFlow), ...members, ...named };
}

/** Waits until the platform has worked on all devices. */
async function refusals(
  operationId: string,
  devices: readonly PlannedDevice[],
  { client, signal }: WorkParts,
): Promise<PlannedLine[]> {
  const path = { id: operationId };
  const call = { path, query: { actions: 'none' as const }, signal };
  for (let waitMs = firstPauseMs; ; waitMs = Math.min(waitMs * 2, pauseMsMax)) {
    const operation = await client.get('/v3/operations/{id}', call);
    if (operation.completed !== null) break;
    await pause(waitMs, undefined, { signal });
  }
  const refused: PlannedLine[] = [];
  const failed = { path, query: { state: 'FAILED' as const }, signal };
  for await (const { data } of client.pages('/v3/operations/{id}/actions', failed))
    refused.push(refusedLine(data, devices));
  return refused;
}

interface ActionData {
  readonly name: string;
  readonly id?: string;
  readonly deviceId?: string;
  readonly error?: string;
}

function refusedLine(data: ActionData, devices: readonly PlannedDevice[]): PlannedLine {
  const device = devices.find(
    ({ id, deviceId, members }) =>
      deviceId === data.deviceId ||
      (id !== null && id === data.id) ||
      members['name'] === data.name,
  );
  return {
    outcome: 'error',
    kind: 'device',
    name: device?.deviceId ?? data.name,
    place: device?.place ?? null,
    reason: data.error ?? 'the platform refused it',
  };
}
