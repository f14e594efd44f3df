// Deliveries that several nodes left as rows of the records: the only platform delivers waiting ones and lists ended ones.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { startWorld } from '../world/world.ts';
import { startReceiver } from './receivers.ts';

const directory = mkdtempSync(join(tmpdir(), 'heliograph-deliveries-'));
const environment = { EGRESS_ALLOW: '127.0.0.0/8' };
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A row as several nodes share it. */
const insert = `insert into deliveries (id, idempotencyKey, connectorId, organizationId, workspaceId,
  deviceId, correlationId, cause, ruleId, ruleHops, context, state, tries, nextAt, created, updated,
  payload, answer, reason, shard) values ($id, $id, $connectorId, $organizationId, $workspaceId, $deviceId,
  $id, 'DATA_FLOW', null, 0, $context, $state, $tries, $nextAt, $created, $updated, $payload,
  $answer, $reason, 3)`;

test('waiting deliveries of several nodes go out in order, ended ones are listed and sent again', async () => {
  const target = await startReceiver();
  let world = await startWorld({ directory, environment });
  const hook = await world.must('POST', '/v3/output-connectors', {
    name: 'hook',
    workspaceId: world.workspaceId,
    type: 'WEBHOOK',
    webhookProperties: { uri: target.url },
  });
  const device = await world.device({ outputs: [{ id: hook.id, topic: '*' }] });
  const { organizationId } = world.platform.tenant!;
  const { workspaceId } = world;
  await world.close();
  const now = Date.now();
  const records = new DatabaseSync(join(directory, 'records.sqlite'));
  const row = records.prepare(insert);
  for (let n = 0; n < 1_500; n++) {
    const state = n % 3 === 0 ? 'PENDING' : n % 3 === 1 ? 'DELIVERED' : 'DEAD';
    row.run({
      $connectorId: hook.id,
      $organizationId: organizationId,
      $workspaceId: workspaceId,
      $deviceId: device.id,
      $id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      $context: JSON.stringify({ data: { n }, deviceId: 'of the nodes' }),
      $state: state,
      $tries: state === 'PENDING' ? 0 : 1,
      $nextAt: now,
      $created: now - 1_500 + n,
      $updated: now,
      $payload: null,
      $answer: state === 'DELIVERED' ? 'HTTP 200' : null,
      $reason: state === 'DEAD' ? 'returned 400' : null,
    });
  }
  records.close();
  world = await startWorld({ directory, environment });
  try {
    await world.capture(device, { n: 'new' });
    await target.atLeast(501);
    const values = target.received.map(({ body }) => body.data.n);
    expect(values).toEqual([...Array.from({ length: 500 }, (_, i) => 3 * i), 'new']);
    const path = `/v3/output-connectors/${hook.id}/deliveries`;
    const total = async (state: string) =>
      (await world.must('GET', `${path}?state=${state}&size=1`)).totalElements;
    await expect.poll(() => total('DELIVERED')).toBe(1_001);
    expect([await total('PENDING'), await total('DEAD')]).toEqual([0, 500]);
    const { content } = await world.must('GET', `${path}?state=DEAD&sort=created,asc&size=1`);
    expect(content[0]).toMatchObject({ reason: 'returned 400', tries: 1, deviceId: device.id });
    expect(JSON.parse(content[0].payload)).toMatchObject({ data: { n: 2 } });
    const again = await world.must('POST', `/v3/deliveries/${content[0].id}/resend`);
    expect(again.state).toBe('PENDING');
    await target.atLeast(502);
    expect(target.received[501]).toMatchObject({
      headers: { 'x-delivery-id': content[0].id },
      body: { data: { n: 2 } },
    });
  } finally {
    await world.close();
    await target.close();
  }
  const left = new DatabaseSync(join(directory, 'records.sqlite'));
  expect(left.prepare('select count(*) as count from deliveries').get()).toEqual({ count: 0 });
  left.close();
});
