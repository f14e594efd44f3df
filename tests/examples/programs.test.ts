// Examples of programs: the decoder with its cases, the rule that opens an alarm, and the receiver that verifies deliveries.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { sinkEnvironment } from '../world/action-sink.ts';
import { startWorld, type World } from '../world/world.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');
const secret = 'a-long-random-text';
let world: World;
const children: ChildProcess[] = [];

beforeAll(async () => {
  world = await startWorld({ environment: sinkEnvironment });
});
afterAll(() => world.close());
afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

interface Started {
  readonly printed: () => string;
  readonly code: Promise<number | null>;
}

function start(path: string, environment: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, [join(examples, path)], {
    env: { HELIOGRAPH_URL: world.base, HELIOGRAPH_API_KEY: world.apiKey, ...environment },
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return { printed: () => text, code: new Promise((resolve) => child.once('close', resolve)) };
}

async function startReceiver(): Promise<Started & { readonly url: string }> {
  const receiver = start('webhook-receiver/receiver.mjs', { WEBHOOK_SECRET: secret, PORT: '0' });
  await expect.poll(receiver.printed).toMatch(/listening on http\S+/);
  return { ...receiver, url: /http\S+/.exec(receiver.printed())![0] };
}

test('every case of the decoder passes on the platform', async () => {
  const { code, printed } = start('decoder/test.mjs', {});
  expect([await code, printed()]).toEqual([0, expect.not.stringContaining('FAILED')]);
  expect(printed().match(/^passed/gm)).toHaveLength(4);
});

test('a device type keeps the cases of the decoder, and decodes an uplink as they say', async () => {
  const script = readFileSync(join(examples, 'decoder', 'decoder.js'), 'utf8');
  const cases = JSON.parse(readFileSync(join(examples, 'decoder', 'cases.json'), 'utf8')) as {
    event: { data: unknown };
    emits: { event: { data: unknown; topic: string } }[];
  }[];
  const type = await world.must('POST', '/v3/device-types', {
    name: 'Room sensor',
    organizationId: world.organizationId,
    type: 'manual',
    meta: { encoding: 'HEX' },
    uplinkScript: { code: script },
    sampleData: cases,
  });
  expect((await world.must('GET', `/v3/device-types/${type.id}`)).sampleData).toEqual(cases);
  const device = await world.device({ script });
  const [{ event, emits }] = cases as [(typeof cases)[0]];
  await world.capture(device, event.data);
  for (const { event: sample } of emits) {
    const query = { topic: sample.topic, limit: 10 };
    const samples = await world.must('POST', `/v3/devices/${device.id}/query`, query);
    expect(samples).toEqual([expect.objectContaining(sample)]);
  }
});

test('the rule opens an alarm that clears, and its webhook is verified once', async () => {
  const receiver = await startReceiver();
  const device = await world.device({ name: 'Cold store' });
  const { code, printed } = start('rule/create-rule.mjs', {
    DEVICE: device.id,
    LIMIT: '8',
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: secret,
  });
  expect([await code, printed()]).toEqual([0, expect.stringMatching(/^created rule \w+/)]);
  const alarms = async (state: string) =>
    (
      (await world.must('GET', `/v3/alarms?workspaceId=${world.workspaceId}&state=${state}`))
        .content as { name: string }[]
    ).map(({ name }) => name);
  await world.capture(device, { temperature: 4 });
  await world.capture(device, { temperature: 9.5 });
  await expect.poll(() => alarms('OPEN')).toEqual(['Cold store is too warm']);
  await expect.poll(receiver.printed).toContain('{"temperature":9.5}');
  await world.capture(device, { temperature: 5 });
  await expect.poll(() => alarms('CLEARED')).toEqual(['Cold store is too warm']);
  expect(receiver.printed()).not.toContain('rejected');
  expect(receiver.printed().match(/9\.5/g)).toHaveLength(1);
});

/** A request as the platform signs it. */
function signed(body: string, id: string, seconds: number): Record<string, string> {
  const digest = createHmac('sha256', secret).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${digest}`,
  };
}

test('the receiver refuses what is forged, stale, unsigned or moved, and ignores repeats', async () => {
  const { url, printed } = await startReceiver();
  const body = '{"data":{"t":1}}';
  const now = Math.floor(Date.now() / 1000);
  const post = async (sent: string, headers: Record<string, string>) =>
    (await fetch(url, { method: 'POST', body: sent, headers })).status;
  const id = randomUUID();
  const headers = signed(body, id, now);
  expect(await post(body, {})).toBe(401);
  expect(await post('{"data":{"t":2}}', headers)).toBe(401);
  expect(await post(body, { ...headers, 'webhook-id': randomUUID() })).toBe(401);
  expect(await post(body, { ...headers, 'webhook-timestamp': String(now + 1) })).toBe(401);
  expect(await post(body, { ...headers, 'webhook-signature': 'v1,' })).toBe(401);
  expect(await post(body, signed(body, id, now - 301))).toBe(401);
  expect(await post(body, signed(body, id, now + 400))).toBe(401);
  expect(await post('x'.repeat(1_048_577), headers)).toBe(413);
  expect(printed()).not.toContain('{"t":1}');
  expect([await post(body, headers), await post(body, headers)]).toEqual([204, 204]);
  expect(await post('not JSON', signed('not JSON', id, now))).toBe(400);
  await expect.poll(printed).toContain('{"t":1}');
  expect(printed().match(/\{"t":1\}/g)).toHaveLength(1);
});
