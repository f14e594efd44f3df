// Full disk, child process: a platform on a tmpfs of 50 MB (argument FOLDER); prints its observations.
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { apiKey, type PlatformProcess, startProcess } from './platform-process.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: full-disk-child.ts FOLDER');
const data = join(folder, 'data');
const ballast = join(folder, 'ballast');
writeFileSync(ballast, new Uint8Array(20 * 1024 ** 2));
const start = () => startProcess(data, { LOG_LEVEL: 'warn', RAW_UPLINK_RETENTION: '0' });
let platform: PlatformProcess = await start();

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: never }> {
  const answer = await fetch(`http://${platform.target.host}:${platform.target.port}${path}`, {
    method,
    headers: {
      'x-api-key': apiKey,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? null : JSON.parse(text)) as never };
}

async function signIn(): Promise<number> {
  const credentials = { email: 'admin@localhost', password: 'correct horse battery staple' };
  const answer = await fetch(
    `http://${platform.target.host}:${platform.target.port}/v3/auth/login`,
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(credentials),
    },
  );
  return answer.status;
}

/** Takes all the room that is left, as another program on the same disk does. */
function fillDisk(): void {
  const file = openSync(ballast, 'a');
  for (let block = 64 * 1024; block >= 512; block /= 2) {
    try {
      while (writeSync(file, new Uint8Array(block)) === block);
    } catch {
      // Smaller blocks take what is left.
    }
  }
  closeSync(file);
}

const workspaceId = platform.idOf('Workspace')!;
const connector = (
  await call('POST', '/v3/device-connectors', { name: 'c', workspaceId, connectivity: 'HTTP' })
).body as { id: string; uplinkSecret: string };
const flow = (
  await call('POST', '/v3/data-flows', {
    name: 'f',
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: null,
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: true,
  })
).body as { id: string };
const device = (
  await call('POST', '/v3/devices', {
    name: 'd',
    deviceId: 'd',
    workspaceId,
    dataFlowId: flow.id,
    connectivity: 'HTTP',
  })
).body as { id: string };

const capture = async (): Promise<number> =>
  (
    await call('POST', `/v3/capture?secret=${connector.uplinkSecret}&deviceId=d`, {
      text: randomBytes(48 * 1024).toString('base64'),
    })
  ).status;
let acknowledged = 0;

async function fillByCapture(): Promise<number> {
  for (let i = 0; i < 5_000; i++) {
    const status = await capture();
    if (status !== 201) return status;
    acknowledged++;
  }
  return 0;
}

async function stored(): Promise<number> {
  const query = {
    topic: 'default',
    dataKey: 'text',
    accumulator: 'COUNT',
    interval: { from: '2000-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
  };
  return (
    (await call('POST', `/v3/devices/${device.id}/query/raw/kpi`, query)).body as { kpi: number }
  ).kpi;
}

const look = async () => ({
  signIn: await signIn(),
  tag: (await call('POST', '/v3/tags', { name: `t${Math.random()}`, workspaceId })).status,
  capture: await capture(),
  ready: (await call('GET', '/health/ready')).status,
  nothingLost: (await stored()) === acknowledged,
});

const seen: Record<string, unknown> = { refusedWith: await fillByCapture(), full: await look() };
const first = await platform.end('SIGTERM');
seen['stopped'] = { code: first.code, reserveKept: existsSync(join(data, 'reserve')) };
seen['linesOfDiskFull'] = first.output
  .split('\n')
  .filter((line) => line.includes('"msg":"disk full')).length;
seen['stacks'] = first.output.split('\n').filter((line) => line.includes('"stack"')).length;

fillDisk();
platform = await start();
seen['startedFull'] = await look();
rmSync(ballast);
let status = 0;
for (let i = 0; i < 100 && status !== 201; i++) {
  status = await capture();
  if (status !== 201) await delay(100);
}
acknowledged += status === 201 ? 1 : 0;
seen['afterBallastWent'] = status;

// Deleting the device makes room where nothing else does.
await fillByCapture();
seen['deletedWhileFull'] = (await call('DELETE', `/v3/devices/${device.id}`)).status;
seen['stoppedAgain'] = (await platform.end('SIGTERM')).code;
console.log(JSON.stringify(seen));
