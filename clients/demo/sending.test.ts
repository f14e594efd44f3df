// Sending of the demo: patience with a busy platform, history in order without holes, live operation that stops.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { roomClimate } from './devices/room-climate.ts';
import { serviceButton } from './devices/service-button.ts';
import { loadHistory, loadOverHttp } from './history.ts';
import { sendLive, uplinksBetween } from './live.ts';
import { dayMs, hourMs, minuteMs } from './physics/local-time.ts';
import { connectPlatform, type DemoUplink, RefusedRequest, retryLimits } from './platform.ts';
import type { EnrolledDevice } from './setup.ts';

const now = Date.UTC(2026, 10, 20, 12);
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

interface Seen {
  readonly path: string;
  readonly deviceId: string | undefined;
  readonly body: string;
}

// A real server on a real socket that answers each request as the test says.
async function listen(answer: (seen: Seen, index: number, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const read = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await request.toArray()).join('');
    seen.push({
      path: request.url!,
      deviceId: request.headers['x-device-id'] as string | undefined,
      body,
    });
    answer(seen.at(-1)!, seen.length - 1, response);
  };
  const server = createServer((request, response) => void read(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

function client(baseUrl: string) {
  const pauses: number[] = [];
  const stop = new AbortController();
  const pause = async (ms: number) => void pauses.push(ms);
  return {
    pauses,
    stop,
    platform: connectPlatform({
      baseUrl,
      headers: { 'x-api-key': 'key' },
      signal: stop.signal,
      pause,
    }),
  };
}

const uplink: DemoUplink = {
  deviceId: 'A1',
  uplinkSecret: 's',
  at: now,
  payload: { port: 2, payloadHex: '00' },
};

const devices: EnrolledDevice[] = [roomClimate, serviceButton].flatMap((kind) =>
  kind.devices.map((device) => ({ id: `02${device.deviceId}`, kind, device })),
);

test('a 503 is tried again after Retry-After, else after a growing pause, with the same payload', async () => {
  const { seen, baseUrl } = await listen((_, index, response) => {
    if (index === 0) reply(response, 503, { message: 'full' }, { 'retry-after': '2' });
    else if (index < 4) reply(response, 503, { message: 'full' });
    else reply(response, 201, { id: 'x' });
  });
  const { platform, pauses } = client(baseUrl);
  expect(await platform.capture(uplink)).toEqual({});
  expect(pauses).toEqual([2_000, 200, 400, 800]);
  expect(seen).toHaveLength(5);
  expect(new Set(seen.map((one) => one.path))).toEqual(
    new Set(['/v3/capture?timestamp=2026-11-20T12%3A00%3A00.000Z']),
  );
  expect(seen[4]).toMatchObject({ deviceId: 'A1', body: '{"port":2,"payloadHex":"00"}' });
});

test('tries are limited, and a final answer is not tried again', async () => {
  const busy = await listen((_, __, response) => reply(response, 503, { message: 'full' }));
  await expect(client(busy.baseUrl).platform.capture(uplink)).rejects.toThrow('503 full after');
  expect(busy.seen).toHaveLength(retryLimits.triesMax);
  const closed = await listen((_, __, response) =>
    reply(response, 404, { message: 'No device with id A1' }),
  );
  expect((await client(closed.baseUrl).platform.capture(uplink)).refused).toContain(
    '404 No device with id A1',
  );
  await expect(client(closed.baseUrl).platform.get('/v3/workspaces')).rejects.toThrow(
    RefusedRequest,
  );
  expect(closed.seen).toHaveLength(2);
});

test('a platform that is not there is tried again, and the signal ends the waiting', async () => {
  const { platform, pauses } = client('http://127.0.0.1:9');
  await expect(platform.get('/health')).rejects.toThrow('after 12 tries');
  expect(pauses.at(-1)).toBe(retryLimits.pauseMaxMs);
  const silent = await listen(() => undefined);
  const stopped = client(silent.baseUrl);
  const waiting = stopped.platform.capture(uplink);
  stopped.stop.abort();
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
});

test('history is sent in the order of time, starts where each device ended, and has every payload once', async () => {
  const loaded: DemoUplink[] = [];
  const starts = new Map(devices.map((one, i) => [one, now - dayMs + i * hourMs]));
  const count = await loadHistory({
    devices,
    uplinkSecret: 's',
    from: (device) => starts.get(device)!,
    to: now,
    signal: new AbortController().signal,
    load: async (batch) => void loaded.push(...batch),
  });
  expect(count).toBe(loaded.length);
  expect(loaded).toEqual(loaded.toSorted((a, b) => a.at - b.at));
  for (const [{ device }, start] of starts) {
    const mine = loaded.filter((one) => one.deviceId === device.deviceId).map((one) => one.at);
    expect(mine).toEqual(device.uplinkTimes(start, now));
  }
});

test('history over HTTP keeps the order of each device', async () => {
  const { seen, baseUrl } = await listen((_, __, response) => reply(response, 201, { id: 'x' }));
  const { platform, stop } = client(baseUrl);
  const load = loadOverHttp(platform);
  await loadHistory({
    devices,
    uplinkSecret: 's',
    from: () => now - dayMs,
    to: now,
    signal: stop.signal,
    load,
  });
  for (const { device } of devices) {
    const mine = seen.filter((one) => one.deviceId === device.deviceId).map((one) => one.path);
    expect(mine).toEqual(mine.toSorted());
    expect(mine).toHaveLength(device.uplinkTimes(now - dayMs, now).length);
  }
});

test('history ends with the signal, also when requests do not know it', async () => {
  const stop = new AbortController();
  let sent = 0;
  const platform = connectPlatform({
    baseUrl: '',
    headers: {},
    signal: stop.signal,
    async send() {
      if (++sent === 10) stop.abort();
      return { status: 201, retryAfter: undefined, body: '{"id":"x"}' };
    },
  });
  const load = loadOverHttp(platform, 4);
  const loading = loadHistory({
    devices,
    uplinkSecret: 's',
    from: () => now - dayMs,
    to: now,
    signal: stop.signal,
    load,
  });
  await expect(loading).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent).toBeLessThanOrEqual(10 + 4);
});

test('live devices send more often than real ones, but after a long sleep only what they would have sent', () => {
  const quick = uplinksBetween(devices, 's', now, now + minuteMs);
  for (const { device, kind } of devices.filter((one) => one.kind === roomClimate)) {
    const mine = quick.filter((one) => one.deviceId === device.deviceId);
    expect(mine.length).toBeGreaterThanOrEqual(Math.floor(minuteMs / kind.liveIntervalMs));
  }
  const slept = uplinksBetween(devices, 's', now, now + hourMs);
  expect(slept).toHaveLength(
    devices.reduce((sum, { device }) => sum + device.uplinkTimes(now, now + hourMs).length, 0),
  );
});

test('live operation continues when a device is deleted or a payload is lost, and ends with the signal', async () => {
  const stop = new AbortController();
  const printed: string[] = [];
  const sent: string[] = [];
  let clock = now;
  const gone = devices[0]!.device.deviceId;
  const unlucky = devices[1]!.device.deviceId;
  const live = sendLive({
    devices,
    uplinkSecret: 's',
    from: now,
    signal: stop.signal,
    now: () => clock,
    pause: async () => {
      clock += minuteMs;
      if (clock > now + 10 * minuteMs) stop.abort();
      stop.signal.throwIfAborted();
    },
    platform: {
      capture: async ({ deviceId }) => {
        sent.push(deviceId);
        if (deviceId === unlucky && sent.filter((one) => one === unlucky).length === 1)
          throw new Error('busy');
        return deviceId === gone ? { refused: 'No such device' } : {};
      },
    },
    print: (text) => void printed.push(text),
  });
  await expect(live).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent.filter((one) => one === gone)).toHaveLength(1);
  expect(sent.filter((one) => one === unlucky).length).toBeGreaterThan(10);
  expect(printed).toHaveLength(2);
  expect(printed.join()).toContain(`${gone} stops sending. No such device`);
});
