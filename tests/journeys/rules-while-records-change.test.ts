// Rules during record changes: every stored sample is evaluated once (contract 13).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

const deviceCount = 4;
const bulks = 4;
const perBulk = 400;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.close();
});

/** A rule that fires at every sample, and writes it to a topic that no rule reads. */
async function firingRule(deviceId: string): Promise<string> {
  const { must, workspaceId } = world;
  const action = await must('POST', '/v3/output-connectors', {
    name: 'Again',
    workspaceId,
    type: 'CUSTOM_DATABASE',
    scope: 'RULE_ACTION',
    sendConsecutiveAlerts: true,
    customDatabaseProperties: { useCurrentDevice: true, topic: 'fired' },
  });
  const source = {
    id: 's1',
    inputIds: [deviceId],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
  };
  const operandSecond = { type: 'CONSTANT', value: 20 };
  const conditions = [
    { operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's1' }, operator: 'GT', operandSecond },
  ];
  await must('POST', '/v3/rules', {
    name: 'Every sample',
    workspaceId,
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [source],
      logicBlocks: [{ conditions, actionIds: [action.id] }],
    },
    actions: [{ id: action.id }],
  });
  return action.id;
}

test('review reliability 1: samples of a bulk backfill during creation of tags, here and elsewhere, all fire', async () => {
  const { must, organizationId, workspaceId } = world;
  const other = await must('POST', '/v3/workspaces', { name: 'Other', organizationId });
  const devices = await Promise.all(Array.from({ length: deviceCount }, () => world.device()));
  const actions = await Promise.all(devices.map(({ id }) => firingRule(id)));
  let isSending = true;
  let made = 0;
  const tagging = (async () => {
    while (isSending) {
      await must('POST', '/v3/tags', {
        name: `Tag ${made++}`,
        workspaceId: made % 2 === 0 ? workspaceId : other.id,
      });
    }
  })();
  for (let bulk = 0; bulk < bulks; bulk++) {
    await Promise.all(
      devices.map(({ id }) => {
        const at = Date.UTC(2026, 0, 1) + bulk * perBulk * 1_000;
        const samples = Array.from({ length: perBulk }, (_, i) => ({
          data: { t: 30 },
          timestamp: new Date(at + i * 1_000).toISOString(),
        }));
        return must('POST', `/v3/devices/${id}/backfill/bulk`, samples);
      }),
    );
  }
  // Deliveries are listed once they are in the log, which is when the rule has fired.
  const total = async () => {
    let count = 0;
    for (const id of actions) {
      count += (await must('GET', `/v3/output-connectors/${id}/deliveries?size=1`)).totalElements;
    }
    return count;
  };
  const wanted = deviceCount * bulks * perBulk;
  await expect.poll(total, { timeout: 60_000, interval: 100 }).toBe(wanted);
  isSending = false;
  await tagging;
  expect(made).toBeGreaterThan(5);
}, 240_000);
