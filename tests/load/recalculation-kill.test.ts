// Killed recalculation: continues at the next start, and every sample is what intake would have stored (contract 38).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { apiKey, type PlatformProcess, startProcess } from './platform-process.ts';

const devicesTotal = 6;
const samplesEach = 9_000;
const stepMs = 10_000;
const startMs = Date.UTC(2026, 2, 1);

function callerOf({ target }: PlatformProcess) {
  return async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`http://${target.host}:${target.port}${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Tests say what they expect of a body; its type would say it twice.
    // oxlint-disable-next-line typescript/no-explicit-any
    return (await answer.json()) as any;
  };
}

test('killed twice half-way, resumed twice: each sample has its new value, hours too', {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recalculation-kill-'));
  let running = await startProcess(folder);
  try {
    let call = callerOf(running);
    const workspaceId = running.idOf('Workspace');
    const organizationId = running.idOf('Organization');
    const http = { workspaceId, name: 'c', connectivity: 'HTTP' };
    const connector = await call('POST', '/v3/device-connectors', http);
    const calculatedKeys = [{ key: 'double', expression: 'n * 3' }];
    const draft = { name: 't', organizationId, calculatedKeys };
    const type = await call('POST', '/v3/device-types', draft);
    const flow = await call('POST', '/v3/data-flows', {
      workspaceId,
      name: 'f',
      deviceConnector: { id: connector.id },
      deviceType: { id: type.id },
      outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    });
    const ids: string[] = [];
    for (let device = 0; device < devicesTotal; device++) {
      const made = {
        workspaceId,
        name: `d ${device}`,
        deviceId: `k-${device}`,
        dataFlowId: flow.id,
      };
      ids.push((await call('POST', '/v3/devices', made)).id);
    }
    for (const deviceId of ids) {
      const samples = Array.from({ length: samplesEach }, (_, n) => ({
        deviceId,
        timestamp: new Date(startMs + n * stepMs).toISOString(),
        data: { n },
      }));
      expect(await call('POST', '/v3/samples/bulk', samples)).toMatchObject({
        stored: samplesEach,
      });
    }
    await call('PUT', `/v3/device-types/${type.id}`, {
      calculatedKeys: [
        { key: 'double', expression: 'n * 2' },
        { key: 'step', expression: 'double - prev(double)' },
      ],
    });
    const recalculate = `/v3/device-types/${type.id}/recalculate`;
    const { id } = await call('POST', recalculate, { source: 'SAMPLES' });
    const seen: number[] = [];
    for (const done of [0, 2]) {
      for (let reached = -1; reached < done; )
        reached = (await call('GET', `/v3/operations/${id}?actions=none`)).actionsCompleted;
      await running.end('SIGKILL');
      running = await startProcess(folder);
      call = callerOf(running);
      seen.push((await call('GET', `/v3/operations/${id}?actions=none`)).actionsCompleted);
    }
    // It was killed in the middle indeed.
    expect(seen[0]).toBeLessThan(devicesTotal);
    for (;;) {
      const operation = await call('GET', `/v3/operations/${id}?actions=none`);
      if (operation.completed === null) continue;
      expect(operation).toMatchObject({ actionsCompleted: devicesTotal, succeeded: true });
      break;
    }
    const report = await call('POST', recalculate, { source: 'SAMPLES', dryRun: true });
    expect(report).toMatchObject({ samples: devicesTotal * samplesEach, changed: 0 });
    const interval = {
      from: new Date(startMs).toISOString(),
      to: new Date(startMs + samplesEach * stepMs).toISOString(),
    };
    const sum = (samplesEach - 1) * samplesEach;
    for (const deviceId of ids)
      for (const [dataKey, kpi] of [
        ['double', sum],
        ['step', (samplesEach - 1) * 2],
      ] as const)
        for (const source of ['raw', 'aggregated/hourly']) {
          const path = `/v3/devices/${deviceId}/query/${source}/kpi`;
          const body = { topic: 'default', dataKey, accumulator: 'SUM', interval };
          expect(await call('POST', path, body), `${source} ${dataKey}`).toMatchObject({ kpi });
        }
  } finally {
    await running.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
