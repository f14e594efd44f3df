// Stopping while something hangs or fails: what is acknowledged is sealed, saved and unlocked all the same.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../src/app/config/config.ts';
import { startPlatform } from '../../src/app/platform.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { startWorld } from '../world/world.ts';

let directory: string;
const sockets: Socket[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'heliograph-stopping-'));
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  rmSync(directory, { recursive: true, force: true });
});

const sealed = () =>
  readdirSync(join(directory, 'samples', 'segments')).filter((name) => name.endsWith('.segment'));

test('review bug B2: with the records locked by another process the samples are sealed and the folder is unlocked', async () => {
  const world = await startWorld({ directory });
  const device = await world.device();
  expect((await world.capture(device, { a: 1 })).status).toBe(201);
  const other = new DatabaseSync(join(directory, 'records.sqlite'));
  other.exec('begin immediate');
  const startedAt = performance.now();
  const outcome = await world.platform.close('test').catch((error: unknown) => error);
  const ms = performance.now() - startedAt;
  other.exec('rollback');
  other.close();
  expect(ms).toBeLessThan(4_900);
  expect(outcome).toBeInstanceOf(AggregateError);
  for (const error of (outcome as AggregateError).errors)
    expect(String(error)).toContain('database is locked');
  expect(sealed()).toHaveLength(1);
  const again = await startWorld({ directory });
  expect((await again.call('POST', `/v3/devices/${device.id}/query`, {})).body).toHaveLength(1);
  await again.close();
});

test('review reliability 14: a half-sent request does not hold up the stop', async () => {
  const world = await startWorld({ directory });
  const device = await world.device();
  await world.capture(device, { a: 1 });
  for (const text of [
    'POST /v3/capture HTTP/1.1\r\nHost: a\r\n',
    'POST /v3/capture HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{',
  ]) {
    const socket = connect(world.platform.port, '127.0.0.1');
    sockets.push(socket);
    await new Promise((resolve) => socket.write(text, resolve));
    socket.on('error', () => undefined);
  }
  const startedAt = performance.now();
  await world.platform.close('test');
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(sealed()).toHaveLength(1);
});

test('review bug B2: a failed start reports its own error, and leaves nothing open', async () => {
  const taken = await startWorld();
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: String(taken.platform.port),
    DATA_DIR: directory,
    COAP_PORT: '0',
    LOG_LEVEL: 'silent',
  });
  const other = new DatabaseSync(join(directory, 'other.sqlite'));
  await expect(startPlatform(config, undefined, createLog('silent'))).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  other.close();
  await taken.close();
  const next = await startWorld({ directory });
  await next.close();
});

test('nothing of the process holds a platform that has stopped', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const startAndStop = async () => {
    const world = await startWorld({ directory });
    const device = await world.device();
    expect((await world.capture(device, { a: 1 })).status).toBe(201);
    await world.close();
    return new WeakRef(world.platform);
  };
  const stopped = await startAndStop();
  await expect
    .poll(() => {
      collectGarbage();
      return stopped.deref() === undefined;
    })
    .toBe(true);
});
