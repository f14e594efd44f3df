// Killed bulk creation: continues at the next start, with every device once (contract 19).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiKey, type PlatformProcess, startProcess } from './platform-process.ts';

const devicesTotal = 6_000;

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

test('killed twice half-way, resumed twice: every device once, every item reported', {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bulk-kill-'));
  let running = await startProcess(folder);
  try {
    let call = callerOf(running);
    const workspaceId = running.idOf('Workspace');
    const connector = await call('POST', '/v3/device-connectors', {
      workspaceId,
      name: 'c',
      connectivity: 'HTTP',
    });
    const flow = { workspaceId, name: 'f', deviceConnector: { id: connector.id } };
    const { id: dataFlowId } = await call('POST', '/v3/data-flows', flow);
    const devices = Array.from({ length: devicesTotal }, (_, n) => ({
      name: `d ${n}`,
      deviceId: `k-${n}`,
      dataFlowId,
    }));
    const { id } = await call('POST', '/v3/devices/bulk/create', { workspaceId, devices });
    const progress = (await call('GET', `/v3/operations/${id}?actions=none`))
      .actionsCompleted as number;
    const seen: number[] = [progress];
    for (const share of [0.1, 0.5]) {
      for (let done = 0; done < devicesTotal * share; ) {
        done = (await call('GET', `/v3/operations/${id}?actions=none`)).actionsCompleted;
      }
      await running.end('SIGKILL');
      running = await startProcess(folder);
      call = callerOf(running);
      const operation = await call('GET', `/v3/operations/${id}?actions=none`);
      seen.push(operation.actionsCompleted);
    }
    // It was killed in the middle indeed.
    expect(seen[1]).toBeLessThan(devicesTotal);
    for (;;) {
      const operation = await call('GET', `/v3/operations/${id}?actions=none`);
      if (operation.completed !== null) break;
    }
    const ended = await call('GET', `/v3/operations/${id}?actions=all`);
    expect(ended).toMatchObject({
      actionsCompleted: devicesTotal,
      actionsFailed: 0,
      succeeded: true,
    });
    expect(
      new Set(ended.actions.map((action: { data: { id: string } }) => action.data.id)).size,
    ).toBe(devicesTotal);
    const names = new Set<string>();
    for (let page = 0; page * 1_000 < devicesTotal; page++) {
      const list = await call(
        'GET',
        `/v3/assets?workspaceId=${workspaceId}&size=1000&page=${page}`,
      );
      expect(list.totalElements).toBe(devicesTotal);
      for (const { deviceId } of list.content) names.add(deviceId);
    }
    expect(names.size).toBe(devicesTotal);
  } finally {
    await running.end('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
