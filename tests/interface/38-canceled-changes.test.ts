// Contract 38: a deletion or recalculation that is canceled half-way: what was done is counted and logged, the rest is as it was.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const devicesTotal = 8;
/** Several pieces of work for each device. */
const samplesEach = 12_000;
const perRequest = 6_000;
const stepMs = 10_000;
const startMs = Date.UTC(2026, 2, 2);
const endMs = startMs + samplesEach * stepMs;
const interval = { from: new Date(startMs).toISOString(), to: new Date(endMs).toISOString() };
const slow = { timeout: 120_000, interval: 100 };

interface Made {
  readonly typeId: string;
  readonly deviceIds: readonly string[];
}

/** Devices of one type, whose formula gives three times `n`. */
async function filled(name: string): Promise<Made> {
  const { workspaceId, organizationId } = world;
  const connector = await world.must('POST', '/v3/device-connectors', {
    ...{ workspaceId, name, connectivity: 'HTTP' },
  });
  const calculatedKeys = [{ key: 'times', expression: 'n * 3' }];
  const type = await world.must('POST', '/v3/device-types', {
    ...{ name, organizationId, calculatedKeys },
  });
  const flow = await world.must('POST', '/v3/data-flows', {
    ...{ workspaceId, name },
    deviceConnector: { id: connector.id },
    deviceType: { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
  });
  const deviceIds: string[] = [];
  for (let device = 0; device < devicesTotal; device++) {
    const deviceId = `${name}-${device}`;
    const made = { workspaceId, name: deviceId, deviceId, dataFlowId: flow.id };
    deviceIds.push((await world.must('POST', '/v3/devices', made)).id);
  }
  for (const deviceId of deviceIds)
    for (let from = 0; from < samplesEach; from += perRequest) {
      const samples = Array.from({ length: perRequest }, (_, i) => ({
        deviceId,
        timestamp: new Date(startMs + (from + i) * stepMs).toISOString(),
        data: { n: from + i, wrong: from + i },
      }));
      await world.must('POST', '/v3/samples/bulk', samples);
    }
  return { typeId: type.id, deviceIds };
}

/** The answer of each device, from samples and from hours, which must agree. */
async function counted(deviceIds: readonly string[], asked: object): Promise<number[]> {
  const body = { topic: 'default', accumulator: 'COUNT', interval, deviceIds, ...asked };
  const answers: number[][] = [];
  for (const source of ['raw', 'aggregated/hourly']) {
    const path = `/v3/devices/query/batch/${source}/kpi?size=100`;
    const { content } = await world.must('POST', path, body);
    const byDevice = new Map<string, number | null>(
      content.map((row: { deviceId: string; kpi: number | null }) => [row.deviceId, row.kpi]),
    );
    answers.push(deviceIds.map((id) => byDevice.get(id) ?? 0));
  }
  expect(answers[1]).toEqual(answers[0]);
  return answers[0] ?? [];
}

/** What the operation says of each device, in their order; devices that it did not begin have 0. */
async function toldBy(id: string, deviceIds: readonly string[]) {
  const { content } = await world.must('GET', `/v3/operations/${id}/actions?size=100`);
  const data = new Map<string, { samples?: number; errorCode?: string }>(
    content.map((action: { data: { id: string } }) => [action.data.id, action.data]),
  );
  return {
    samples: deviceIds.map((each) => data.get(each)?.samples ?? 0),
    errors: [...data.values()].flatMap(({ errorCode }) => errorCode ?? []),
    ended: content.length as number,
  };
}

/** What the audit log says of each device. */
async function logged(deviceIds: readonly string[]): Promise<number[]> {
  const found: number[] = [];
  for (const id of deviceIds) {
    const path = `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${id}`;
    const { content } = await world.must('GET', path);
    const changes = content
      .filter(({ resourceType }: { resourceType: string }) => resourceType === 'SAMPLES')
      .flatMap((entry: { changes: { field: string; after: number }[] }) => entry.changes);
    found.push(
      changes
        .filter(({ field }: { field: string }) => field === 'samples')
        .reduce((sum: number, { after }: { after: number }) => sum + after, 0),
    );
  }
  return found;
}

/** Cancels the operation when its first device is done. */
async function canceled(id: string): Promise<void> {
  const path = `/v3/operations/${id}`;
  const reached = async () => (await world.must('GET', `${path}?actions=none`)).actionsCompleted;
  await expect.poll(reached, { ...slow, interval: 5 }).toBeGreaterThan(0);
  const answer = await world.must('POST', `${path}/cancel`);
  expect(answer).toMatchObject({ canceled: true, succeeded: false });
  // A piece that was begun is still done and counted; the next operation of the organization comes behind.
  const { id: deviceId } = await world.device();
  const next = { workspaceId: world.workspaceId, deviceIds: [deviceId], all: true };
  await completed((await world.must('POST', '/v3/samples/delete', next)).id);
}

async function completed(id: string): Promise<void> {
  const read = () => world.must('GET', `/v3/operations/${id}?actions=none`);
  await expect.poll(async () => (await read()).succeeded, slow).toBe(true);
}

async function mustBeCounted(
  id: string,
  deviceIds: readonly string[],
  changed: () => Promise<number[]>,
): Promise<number[]> {
  const differing = async () => {
    const [told, now] = [await toldBy(id, deviceIds), await changed()];
    return now.filter((samples, at) => samples !== told.samples[at]);
  };
  await expect.poll(differing, slow).toEqual([]);
  const now = await changed();
  const { errors, ended } = await toldBy(id, deviceIds);
  const operation = await world.must('GET', `/v3/operations/${id}?actions=none`);
  expect(operation).toMatchObject({ actionsCompleted: ended, actionsFailed: errors.length });
  const inPart = now.filter((samples) => samples > 0 && samples < samplesEach);
  expect(errors).toEqual(inPart.map(() => '40915_CHANGE_CANCELED'));
  expect(now).toContain(samplesEach);
  expect(now).toContain(0);
  expect(await logged(deviceIds)).toEqual(now);
  return now;
}

test('a deletion of a data key: devices have it whole, not at all, or from a time on, and all is told', {
  timeout: 300_000,
}, async () => {
  const { deviceIds } = await filled('deleted');
  const { id } = await world.must('POST', '/v3/samples/delete', {
    ...{ workspaceId: world.workspaceId, deviceIds, keys: ['wrong'] },
    reason: 'canceled later',
  });
  await canceled(id);
  const removed = async () =>
    (await counted(deviceIds, { dataKey: 'wrong' })).map((left) => samplesEach - left);
  await mustBeCounted(id, deviceIds, removed);
  expect(await counted(deviceIds, { dataKey: 'n' })).toEqual(deviceIds.map(() => samplesEach));
  // The rest can be deleted later.
  const again = await world.must('POST', '/v3/samples/delete', {
    ...{ workspaceId: world.workspaceId, deviceIds, keys: ['wrong'] },
  });
  await completed(again.id);
  expect(await removed()).toEqual(deviceIds.map(() => samplesEach));
  expect(await logged(deviceIds)).toEqual(deviceIds.map(() => samplesEach));
});

test('a recalculation: samples have the old or the new value, and the next one changes the others', {
  timeout: 300_000,
}, async () => {
  const { typeId, deviceIds } = await filled('computed');
  await world.must('PUT', `/v3/device-types/${typeId}`, {
    calculatedKeys: [{ key: 'times', expression: 'n * 3 + 1' }],
  });
  const path = `/v3/device-types/${typeId}/recalculate`;
  const { id } = await world.must('POST', path, { source: 'SAMPLES' });
  await canceled(id);
  const changed = () => counted(deviceIds, { expression: 'times == n * 3 + 1 ? 1 : null' });
  const now = await mustBeCounted(id, deviceIds, changed);
  const rest = now.map((count) => samplesEach - count);
  expect(await counted(deviceIds, { expression: 'times == n * 3 ? 1 : null' })).toEqual(rest);
  const again = await world.must('POST', path, { source: 'SAMPLES' });
  await completed(again.id);
  expect((await toldBy(again.id, deviceIds)).samples).toEqual(rest);
  expect(await changed()).toEqual(deviceIds.map(() => samplesEach));
});
