// Two platforms on one PostgreSQL: what one changes in the records, the other follows in its caches and lists.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../bench/load/server-process.ts';
import { recordsSettings } from '../../src/storage/records/testing-engine.ts';
import { signIn } from '../access/access-world.ts';
import { startWorld, type World } from '../world/world.ts';

const directories = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'nodes-')));
const nodes: World[] = [];
let environment: Record<string, string>;
/** How soon a node follows: it looks every 200 ms, on machines that have other work. */
const soon = { timeout: 60_000, interval: 20 };

async function start(n: number): Promise<void> {
  const nodeUrl = `http://127.0.0.1:${await freePort()}`;
  const secret = '0123456789 abcdefghij ABCDEFGHIJ';
  nodes[n] = await startWorld({
    directory: directories[n]!,
    environment,
    cluster: { nodeUrl, host: '127.0.0.1', secret, leaseMs: 10_000 },
  });
}

const [first, second] = [() => nodes[0]!, () => nodes[1]!];

beforeAll(async () => {
  environment = { ...(await recordsSettings(directories[0]!)) };
  // Both fill an empty database: only one does.
  await Promise.all([start(0), start(1)]);
});
afterAll(async () => {
  for (const world of nodes) await world.close();
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

test('only one of them fills an empty database', () => {
  expect(first().workspaceId).toBe(second().workspaceId);
});

test('a key that one node revokes is refused by the other, which had it in memory', async () => {
  const owner = await signIn(first().base, 'admin@localhost');
  const key = await owner.must('POST', '/v3/api-keys', {
    name: 'key',
    organizationId: first().organizationId,
    permissions: { asset: ['read'] },
  });
  const use = async () =>
    (
      await second().call(
        'POST',
        '/v3/assets/list',
        { workspaceIds: [second().workspaceId] },
        { 'x-api-key': key.secret },
      )
    ).status;
  expect(await use()).toBe(200);
  await owner.must('DELETE', `/v3/api-keys/${key.id}`);
  await expect.poll(use, soon).toBe(401);
});

test('uplinks on one node follow changes of devices on the other', async () => {
  const device = await first().device();
  expect((await second().capture(device, { a: 1 })).status).toBe(201);
  await first().must('DELETE', `/v3/devices/${device.id}`);
  await expect.poll(async () => (await second().capture(device, { a: 2 })).status, soon).toBe(404);
});

test('lists on one node contain what the other created', async () => {
  const total = async () =>
    (await second().must('POST', '/v3/assets/list', { workspaceIds: [second().workspaceId] }))
      .totalElements;
  const before = await total();
  expect(await total()).toBe(before);
  await first().device({ name: 'listed' });
  await expect.poll(total, soon).toBe(before + 1);
});
