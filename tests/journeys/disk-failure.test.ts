// A disk that fails while the platform runs: what clients, supervisors and operators see.
import { afterEach, expect, test } from 'vitest';
import { createLog } from '../../src/telemetry/log.ts';
import { breakOpenFile } from '../world/broken-file.ts';
import { startWorld, type World } from '../world/world.ts';

const isLinux = process.platform === 'linux';
let world: World | undefined;
const lines: Record<string, unknown>[] = [];
const log = createLog('info', { write: (line: string) => void lines.push(JSON.parse(line)) });

afterEach(async () => {
  await world?.close();
  world = undefined;
  lines.length = 0;
});

async function metric(name: string): Promise<string | undefined> {
  const text = await (await fetch(`${world!.base}/metrics`)).text();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
}

if (!isLinux)
  console.log(
    'not run: breaking an open file needs Linux; the tests of the journal make its disk fail everywhere',
  );

test.runIf(isLinux)(
  'review reliability 3: an I/O error stops writing, once in the log, and readiness says why',
  async () => {
    world = await startWorld({ log });
    const device = await world.device();
    expect((await world.capture(device, { a: 1 })).status).toBe(201);
    expect(await metric('heliograph_storage_stopped')).toBe('heliograph_storage_stopped 0');
    breakOpenFile(`${world.directory}/samples/journal/`);
    for (let i = 0; i < 3; i++) {
      const refused = await world.capture(device, { a: 2 });
      expect([refused.status, refused.body.errorCode]).toEqual([503, '50302_STORAGE_STOPPED']);
    }
    const told = lines.filter(({ msg }) => String(msg).startsWith('writes stopped'));
    expect(told).toEqual([
      expect.objectContaining({ level: 'error', err: expect.objectContaining({ code: 'EIO' }) }),
    ]);
    const ready = await world.call('GET', '/health/ready');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'DOWN', reason: expect.stringMatching(/^writes stopped: EIO/) },
    ]);
    expect((await world.call('GET', '/health/live')).status).toBe(200);
    expect(await metric('heliograph_storage_stopped')).toBe('heliograph_storage_stopped 1');
    expect(await metric('heliograph_not_ready{reason="storage"}')).toBe(
      'heliograph_not_ready{reason="storage"} 1',
    );
    const samples = await world.call('POST', `/v3/devices/${device.id}/query`, {});
    expect([samples.status, samples.body.content?.length ?? samples.body.length]).toEqual([200, 1]);
  },
);
