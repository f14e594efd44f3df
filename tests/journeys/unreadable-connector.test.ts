// Unreadable connector: outputs and rules of all others continue.
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { sinkEnvironment, startActionSink } from '../world/action-sink.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

async function ruleOf(world: World, device: TestDevice, actionId: string): Promise<void> {
  const dataSource = {
    id: 's',
    inputIds: [device.id],
    dataTopic: 'default',
    dataKey: 't',
    valueType: 'NUMERICAL',
  };
  const operandSecond = { type: 'CONSTANT', value: 1 };
  const conditions = [
    { operandFirst: { type: 'DATA_SOURCE', dataSourceId: 's' }, operator: 'GT', operandSecond },
  ];
  await world.must('POST', '/v3/rules', {
    name: 'Rule',
    workspaceId: world.workspaceId,
    inputs: [{ id: device.id, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [dataSource],
      logicBlocks: [{ conditions, actionIds: [actionId] }],
    },
    actions: [{ id: actionId }],
  });
}

test('review reliability 6: a connector that cannot be decrypted stops neither outputs nor rules of others', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-unreadable-'));
  const sink = await startActionSink();
  let world = await startWorld({ directory, environment: sinkEnvironment });
  try {
    const output = async (name: string) => sink.action(world, name, { scope: 'DATA_FLOW' });
    const stored = { id: databaseConnectorId, topic: '*' };
    const broken = await output('broken output');
    const well = await output('output');
    const first = await world.device({ outputs: [stored, { id: broken, topic: '*' }] });
    const second = await world.device({ outputs: [stored, { id: well, topic: '*' }] });
    const brokenAction = await sink.action(world, 'broken action');
    await ruleOf(world, first, brokenAction);
    await ruleOf(world, second, await sink.action(world, 'action'));
    await world.close();
    const records = new DatabaseSync(join(directory, 'records.sqlite'));
    for (const id of [broken, brokenAction]) {
      records
        .prepare("update outputConnectors set properties = 's1.' || ? where id = ?")
        .run('A'.repeat(80), id);
    }
    records.close();
    world = await startWorld({ directory, environment: sinkEnvironment });
    expect((await world.capture(first, { t: 2 })).status).toBe(201);
    expect((await world.capture(second, { t: 2 })).status).toBe(201);
    expect(await sink.next('output')).toMatchObject({ data: { t: 2 } });
    expect(await sink.next('action')).toMatchObject({ data: { t: 2 } });
    // Theirs wait for a key that fits; what went wrong is counted.
    const waiting = async (id: string) =>
      (await world.must('GET', `/v3/output-connectors/${id}/deliveries`)).content.map(
        ({ reason }: { reason: string | null }) => reason,
      );
    await expect.poll(() => waiting(broken), { timeout: 60_000 }).toEqual(['an internal error']);
    await expect
      .poll(() => waiting(brokenAction), { timeout: 60_000 })
      .toEqual(['an internal error']);
    const metrics = await (await fetch(`${world.base}/metrics`)).text();
    expect(Number(/^heliograph_internal_errors_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(
      0,
    );
  } finally {
    await world.close();
    await sink.close();
    rmSync(directory, { recursive: true });
  }
});
