// Expiry of API keys: accepted before it, rejected from then on with a reason, and its live connections end.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLive } from '../world/live-socket.ts';
import { startWorld, type World } from '../world/world.ts';
import { type Acting, actingBy, signIn } from './access-world.ts';

const start = Date.UTC(2026, 0, 1);
const hour = 3_600_000;
let now = start;
let world: World;
let owner: Acting;
beforeAll(async () => {
  world = await startWorld({ now: () => now });
  owner = await signIn(world.base, 'admin@localhost');
});
afterAll(() => world.close());

const drafted = (expiration: unknown) => ({
  name: 'short',
  organizationId: world.organizationId,
  permissions: { asset: ['read'] },
  expiration,
});

test('a key with an expiration ends at that time, also where it is known already', async () => {
  const expiration = new Date(start + hour).toISOString();
  const made = await owner.must('POST', '/v3/api-keys', drafted(expiration));
  expect(made.expiration).toBe(expiration);
  const key = actingBy(world.base, { 'x-api-key': made.secret });
  const live = await openLive(
    `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${made.secret}`,
  );
  const closed = new Promise<number>((resolve) => live.socket.once('close', resolve));
  now = start + hour - 1;
  expect((await key.call('GET', '/v3/auth/me')).status).toBe(200);
  await world.platform.runMaintenance();
  expect(live.socket.readyState).toBe(live.socket.OPEN);

  now = start + hour;
  const refused = await key.call('GET', '/v3/auth/me');
  expect([refused.status, refused.body.errorCode]).toEqual([401, '40105_API_KEY_EXPIRED']);
  expect(refused.body.message).toContain(expiration);
  await world.platform.runMaintenance();
  expect(await closed).toBe(4401);
  // It stays in the list, with its last use, until it is deleted.
  const read = await owner.must('GET', `/v3/api-keys/${made.id}`);
  expect([read.expiration, read.lastUsed]).toEqual([
    expiration,
    new Date(start + hour - 1).toISOString(),
  ]);
  const audit = `/v3/audit-logs?organizationId=${world.organizationId}&resourceId=${made.id}`;
  expect((await owner.must('GET', audit)).content[0].changes).toContainEqual({
    field: 'expiration',
    after: expiration,
  });
});

test.each([null, undefined])('without an expiration (%s) a key stays', async (expiration) => {
  const made = await owner.must('POST', '/v3/api-keys', drafted(expiration));
  expect(made.expiration).toBeNull();
});

test.each([
  ['in the past', '2020-01-01T00:00:00Z'],
  ['now', () => new Date(now).toISOString()],
  ['no time', 'tomorrow'],
  ['a number', 5],
])('an expiration that is %s is a 400 that names the member', async (_, expiration) => {
  const sent = typeof expiration === 'function' ? expiration() : expiration;
  const answer = await owner.call('POST', '/v3/api-keys', drafted(sent));
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringContaining('body expiration'),
  ]);
});
