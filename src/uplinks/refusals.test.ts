// Refusals: how many names of wrong secrets are looked up a second, and whose come first.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { besidesPlatform } from '../../tests/world/restricted-keys.ts';
import { startWorld, type World } from '../../tests/world/world.ts';
import { Refusals } from './refusals.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('20 names of wrong secrets a writing, one network after the other, and all in the end', async () => {
  const { dataFlowId, connectorId } = await world.device();
  const { workspaceId } = world;
  const names = Array.from({ length: 30 }, (_, i) => `named ${i}`);
  const devices = names.map((deviceId) => ({ deviceId, name: deviceId, dataFlowId }));
  const { id } = await world.must('POST', '/v3/devices/bulk/create', { workspaceId, devices });
  const succeeded = async () => (await world.must('GET', `/v3/operations/${id}`)).succeeded;
  await expect.poll(succeeded, { timeout: 60_000 }).toBe(true);
  await besidesPlatform(world, async (records) => {
    const due: (() => void)[] = [];
    const failures: unknown[] = [];
    const refusals = new Refusals(
      records,
      () => 1,
      (task) => {
        due.push(task);
        return () => undefined;
      },
      (error) => void failures.push(error),
    );
    const failure = { status: 401, message: 'no' };
    const guess = (address: string, deviceId: string | null, user?: string) =>
      refusals.add(
        { address, ...(user !== undefined && { connectorId: user }) },
        { transport: 'MQTT', failure, deviceId, bytes: 0 },
      );
    for (const name of names.slice(0, 29)) guess('192.0.2.1', name);
    guess('198.51.100.1', names[29] ?? '');
    guess('203.0.113.1', null, connectorId);
    // With the right secret there is no guess.
    refusals.add(
      { connectorId },
      { transport: 'HTTP', failure: { status: 404, message: 'no' }, deviceId: 'x', bytes: 0 },
    );
    const written = async () =>
      (await records.db.selectFrom('refusals').select('deviceId').execute()).map(
        (row) => row.deviceId,
      );
    due.shift()?.();
    await expect.poll(async () => (await written()).length).toBe(21);
    expect(await written()).toEqual(expect.arrayContaining([names[29], null, 'x']));
    due.shift()?.();
    await expect.poll(async () => (await written()).length).toBe(32);
    expect(due).toEqual([]);
    await refusals.close();
    expect(failures).toEqual([]);
  });
});
