// Alarms and callers: in bulk requests, what is out of reach does not exist (contract 37).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { alarmRules } from '../world/alarm-rules.ts';
import { type AccessWorld, startAccessWorld } from './access-world.ts';

let at: AccessWorld;
/** An alarm of the first workspace, and one of the second. */
let [own, other]: string[] = [];
beforeAll(async () => {
  at = await startAccessWorld();
  for (const workspaceId of [at.world.workspaceId, at.secondWorkspaceId]) {
    const { output, hotRule, send, newest } = alarmRules(at.world, workspaceId);
    const device = await at.world.device({ workspaceId });
    await hotRule(device, [[20, await output()]]);
    await send(device, 30);
    const { id } = await newest(device);
    if (own === undefined) own = id;
    else other = id;
  }
});
afterAll(() => at.close());

const acknowledge = () => ({ action: 'ACKNOWLEDGE', ids: [own, other, '22ffffffffffffff'] });
const unknown = (...ids: (string | undefined)[]) =>
  ids.map((id) => ({ id, errorCode: '40400_NOT_FOUND', reason: `No alarm with id ${id}` }));

test('another organization finds none of them', async () => {
  const { body } = await at.otherOwner.call('POST', '/v3/alarms/bulk', acknowledge());
  expect(body).toEqual({ changed: 0, refused: unknown(own, other, '22ffffffffffffff') });
  expect((await at.otherOwner.call('GET', '/v3/alarms')).body.content).toEqual([]);
  expect((await at.otherOwner.call('GET', `/v3/alarms/${own}`)).status).toBe(404);
});

test('a key of one workspace changes the alarms of that workspace only', async () => {
  const permissions = { rule: ['read', 'update'] as const };
  const workspaces = [{ id: at.world.workspaceId }];
  const key = await at.key({ permissions, workspaces });
  expect((await key.call('GET', '/v3/alarms')).status).toBe(403);
  const filter = { workspaceId: at.secondWorkspaceId };
  const refused = await key.call('POST', '/v3/alarms/bulk', { action: 'CLEAR', filter });
  expect(refused.status).toBe(403);
  expect((await key.call('POST', '/v3/alarms/bulk', acknowledge())).body).toEqual({
    changed: 1,
    refused: unknown(other, '22ffffffffffffff'),
  });
  const { body } = await at.owner.call('GET', `/v3/alarms/${other}`);
  expect(body).toMatchObject({ state: 'OPEN', acknowledged: null });
});

test('a key that only reads rules changes nothing', async () => {
  const key = await at.key({ permissions: { rule: ['read'] } });
  expect((await key.call('POST', '/v3/alarms/bulk', acknowledge())).status).toBe(403);
  expect((await key.call('GET', `/v3/alarms/${other}`)).status).toBe(200);
  expect((await key.call('POST', `/v3/alarms/${other}/clear`)).status).toBe(403);
});

test('an output of alarms notifies no output of another workspace', async () => {
  const { output } = alarmRules(at.world);
  const hook = await at.world.must('POST', '/v3/output-connectors', {
    name: 'there',
    workspaceId: at.secondWorkspaceId,
    type: 'SLACK',
    slackProperties: { message: 'x', webhookUrl: 'https://hooks.slack.com/services/T/B/x' },
  });
  const notify = [{ on: 'OPENED', outputConnectorId: hook.id }];
  await expect(output({ notify })).rejects.toThrow(/40010_UNKNOWN_REFERENCE/);
});
