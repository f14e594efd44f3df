// Outputs of alarms in a configuration document: the outputs that they notify, by name, also in another workspace.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

test('contract 37: a document names the outputs that an output of alarms notifies', async () => {
  const { call: admin, workspaceId, organizationId } = world;
  const output = async (name: string, more: object) =>
    (await admin('POST', '/v3/output-connectors', { workspaceId, name, ...more })).body;
  const chat = await output('Chat', {
    type: 'SLACK',
    scope: 'RULE_ACTION',
    slackProperties: {
      message: '{{alarm.name}}',
      webhookUrl: 'https://hooks.slack.com/services/T',
    },
  });
  const notify = [{ on: 'OPENED', outputConnectorId: chat.id }];
  const alarmProperties = { name: 'Hot', severity: 'MAJOR', notify };
  // Its name is before that of the output that it needs.
  await output('Alarm', { type: 'ALARM', alarmProperties });
  const path = `/v3/workspaces/${workspaceId}/configuration`;
  const { body: document } = await admin('GET', path);
  expect(document.outputConnectors).toMatchObject([
    { name: 'Alarm', alarmProperties: { notify: [{ on: 'OPENED', outputConnectorId: 'Chat' }] } },
    { name: 'Chat' },
  ]);
  expect((await admin('PUT', path, document)).body).toMatchObject({ created: 0, updated: 0 });
  const other = (await admin('POST', '/v3/workspaces', { name: 'Other', organizationId })).body;
  const elsewhere = `/v3/workspaces/${other.id}/configuration`;
  const text = JSON.stringify(document).replace('********', 'https://hooks.slack.com/services/U');
  expect((await admin('PUT', elsewhere, JSON.parse(text))).body).toMatchObject({ created: 2 });
  const made = (await admin('GET', `/v3/output-connectors?workspaceId=${other.id}`)).body.content;
  const [alarm, hook] = ['Alarm', 'Chat'].map((name) =>
    made.find((one: { name: string }) => one.name === name),
  );
  expect(alarm.alarmProperties.notify).toEqual([{ on: 'OPENED', outputConnectorId: hook.id }]);
  expect(hook.id).not.toBe(chat.id);
  const alone = { ...JSON.parse(text), outputConnectors: [document.outputConnectors[0]] };
  const third = (await admin('POST', '/v3/workspaces', { name: 'Third', organizationId })).body;
  const refused = await admin('PUT', `/v3/workspaces/${third.id}/configuration`, alone);
  expect([refused.status, refused.body.errorCode]).toEqual([400, '40010_UNKNOWN_REFERENCE']);
});
