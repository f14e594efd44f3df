// Contract 18: capture over CoAP, with a real client and with raw datagrams, against every refusal.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'cborg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  blockOption,
  type CoapMessage,
  optionNumbers,
  parseMessage,
  uintOption,
} from '../../src/transports/coap/coap-message.ts';
import { askCoap, captureMessage, freeUdpPort, rawCoapSocket } from '../world/coap-device.ts';
import { anyTime, anyUuid } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let port: number;
let device: TestDevice;
let other: TestDevice;
beforeAll(async () => {
  port = await freeUdpPort();
  world = await startWorld({ environment: { COAP_PORT: String(port) } });
  device = await world.device({ name: 'coap sender' });
  other = await world.device({ name: 'coap other' });
});
afterAll(() => world.close());

const idsOf = ({ secret, deviceId }: TestDevice) => ({ secret, deviceId });
const stored = (one: TestDevice): Promise<{ topic: string; timestamp: string; data: unknown }[]> =>
  world.must('POST', `/v3/devices/${one.id}/query`, { topic: '*', limit: 10_000 });
const receipt = { id: anyUuid, timestamp: anyTime, message: 'uplink received', stored: 1 };

describe('accepted', () => {
  test('2.01 with the JSON of HTTP, stored before the answer', async () => {
    const answer = await askCoap(port, {
      query: { ...idsOf(device), topic: 'climate', timestamp: '2026-01-02T03:04:05Z' },
      body: '{"t":21.5}',
    });
    expect(answer).toMatchObject({ code: '2.01', format: 'application/json', body: receipt });
    expect(await stored(device)).toMatchObject([
      { topic: 'climate', timestamp: '2026-01-02T03:04:05.000Z', data: { t: 21.5 } },
    ]);
  });
  test('review behaviour 32: query options may be percent-encoded', async () => {
    const one = await world.device({ name: 'percent' });
    const query = {
      secret: one.secret,
      deviceId: one.deviceId,
      topic: 'a%3Ab',
      'time%73tamp': '2026-01-02T03%3A04%3A05Z',
    };
    expect(await askCoap(port, { query, body: '{"t":1}' })).toMatchObject({ code: '2.01' });
    expect(await stored(one)).toMatchObject([{ timestamp: '2026-01-02T03:04:05.000Z' }]);
    const percent = await askCoap(port, {
      query: { ...idsOf(one), topic: '100%' },
      body: '{"t":2}',
    });
    expect(percent).toMatchObject({ code: '2.01' });
  });
  for (const [what, asked] of [
    ['non-confirmable', { confirmable: false }],
    ['uplinkSecret as the name of the secret', { secretName: 'uplinkSecret' }],
    ['without Content-Format', { options: {} }],
    [
      'CBOR',
      { options: { 'Content-Format': 'application/cbor' }, body: Buffer.from(encode({ n: 0 })) },
    ],
  ] as const)
    test(what, async () => {
      const one = await world.device({ name: what });
      const query = {
        ['secretName' in asked ? asked.secretName : 'secret']: one.secret,
        deviceId: one.deviceId,
      };
      const answer = await askCoap(port, { query, body: '{"n":0}', ...asked });
      expect(answer).toMatchObject({ code: '2.01', body: receipt });
      expect(await stored(one)).toMatchObject([{ topic: 'default', data: { n: 0 } }]);
    });
  test('a body in blocks, up to its limit', async () => {
    const one = await world.device({ name: 'blocks' });
    const text = 'x'.repeat(40_000);
    const options = { 'Content-Format': 'application/json', Block1: Buffer.from([6]) };
    const answer = await askCoap(port, {
      query: idsOf(one),
      body: JSON.stringify({ text }),
      options,
    });
    expect(answer).toMatchObject({ code: '2.01', body: receipt });
    expect(await stored(one)).toMatchObject([{ data: { text } }]);
  });
  test('an answer in blocks, when the device asks for small ones', async () => {
    const one = await world.device({ name: 'small blocks' });
    const socket = await rawCoapSocket(port);
    let text = '';
    for (let number = 0, more = true; more; number++) {
      socket.send(
        captureMessage(one, number, '{"a":1}', {
          options: [blockOption('block2', { number, more: false, bytes: 32 })],
        }),
      );
      const answer = parseMessage(await socket.next()) as CoapMessage;
      const block = answer.options
        .find((option) => option.number === optionNumbers.block2)!
        .value.readUIntBE(0, 1);
      expect(answer.payload.length).toBeLessThanOrEqual(32);
      text += answer.payload.toString();
      more = (block & 8) !== 0;
    }
    socket.close();
    expect(JSON.parse(text)).toEqual(receipt);
    expect((await stored(one)).length).toBe(1);
  });
});

describe('refused, and nothing stored', () => {
  const wrong = 'no-such-secret-00000000000000000000';
  const cases: readonly (readonly [
    string,
    Parameters<typeof askCoap>[1] | (() => Parameters<typeof askCoap>[1]),
    string,
    string,
  ])[] = [
    [
      'no secret',
      () => ({ query: { deviceId: device.deviceId }, body: '{}' }),
      '4.01',
      '40103_UPLINK_SECRET_MISSING',
    ],
    [
      'wrong secret',
      () => ({ query: { secret: wrong, deviceId: device.deviceId }, body: '{}' }),
      '4.01',
      '40104_UPLINK_SECRET_UNKNOWN',
    ],
    [
      'no device',
      () => ({ query: { secret: device.secret }, body: '{}' }),
      '4.00',
      '40002_DEVICE_ID_MISSING',
    ],
    [
      'unknown device',
      () => ({ query: { secret: device.secret, deviceId: 'unknown' }, body: '{}' }),
      '4.04',
      '40400_NOT_FOUND',
    ],
    [
      'foreign device',
      () => ({ query: { secret: device.secret, deviceId: other.deviceId }, body: '{}' }),
      '4.03',
      '40301_DEVICE_NOT_ON_CONNECTOR',
    ],
    [
      'bad time',
      () => ({ query: { ...idsOf(device), timestamp: 'soon' }, body: '{}' }),
      '4.00',
      '40003_TIMESTAMP_INVALID',
    ],
    ['no JSON', () => ({ query: idsOf(device), body: '{"a":' }), '4.00', '40000_INVALID_JSON'],
    ['null', () => ({ query: idsOf(device), body: 'null' }), '4.00', '40004_CAPTURE_BODY_INVALID'],
    ['no body', () => ({ query: idsOf(device) }), '4.00', '40004_CAPTURE_BODY_INVALID'],
    [
      'no CBOR',
      () => ({
        query: idsOf(device),
        body: 'hello',
        options: { 'Content-Format': 'application/cbor' },
      }),
      '4.00',
      '40075_INVALID_CBOR',
    ],
    [
      'answer as XML',
      () => ({ query: idsOf(device), body: '{}', options: { Accept: 'application/xml' } }),
      '4.06',
      '40670_ACCEPT_UNSUPPORTED',
    ],
    [
      'another path',
      () => ({ pathname: '/v3/devices', body: '{"padding":"for the measure of its answer"}' }),
      '4.04',
      '40401_NO_SUCH_ROUTE',
    ],
    [
      'another method',
      () => ({ method: 'PUT', query: idsOf(device), body: '{}' }),
      '4.05',
      '40500_METHOD_NOT_ALLOWED',
    ],
  ];
  for (const [what, asked, code, errorCode] of cases)
    test(`${what}: ${code} ${errorCode}`, async () => {
      const before = [await stored(device), await stored(other)];
      const answer = await askCoap(port, typeof asked === 'function' ? asked() : asked);
      expect(answer).toMatchObject({ code, format: 'application/json', body: { errorCode } });
      expect([await stored(device), await stored(other)]).toEqual(before);
    });
  test('the error body is that of interface 7', async () => {
    const answer = await askCoap(port, {
      query: { secret: wrong, deviceId: device.deviceId },
      body: JSON.stringify({ padding: 'x'.repeat(200) }),
    });
    expect(answer.body).toEqual({
      timestamp: anyTime,
      path: '/v3/capture',
      status: 401,
      error: 'Unauthorized',
      message: expect.stringMatching(/\S/),
      requestId: anyUuid,
      errorId: anyUuid,
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      errorCode: '40104_UPLINK_SECRET_UNKNOWN',
    });
  });
  test('a body larger than 1 MiB: 4.13 with Size1, when it is announced and when it grows', async () => {
    const socket = await rawCoapSocket(port);
    const size1 = uintOption('size1', 1024 * 1024 + 1);
    const first = blockOption('block1', { number: 0, more: true, bytes: 1024 });
    socket.send(captureMessage(device, 1, Buffer.alloc(1024, 'x'), { options: [first, size1] }));
    const announced = parseMessage(await socket.next()) as CoapMessage;
    expect(announced).toMatchObject({ code: 0x8d });
    expect(
      announced.options
        .find(({ number }) => number === optionNumbers.size1)
        ?.value.readUIntBE(0, 3),
    ).toBe(1024 * 1024);
    for (let number = 0; number <= 1024; number++) {
      const block = blockOption('block1', { number, more: number < 1024, bytes: 1024 });
      socket.send(
        captureMessage(device, number + 2, Buffer.alloc(1024, 'x'), { options: [block] }),
      );
      expect((parseMessage(await socket.next()) as CoapMessage).code).toBe(
        number < 1024 ? 0x5f : 0x8d,
      );
    }
    socket.close();
  });
  test('blocks behind a wrong secret are not kept, a missing block is 4.08', async () => {
    const socket = await rawCoapSocket(port);
    const block = (number: number) => blockOption('block1', { number, more: true, bytes: 16 });
    socket.send(
      captureMessage({ ...device, secret: wrong }, 1, Buffer.alloc(16, 'x'), {
        options: [block(0)],
      }),
    );
    expect(await socket.next().then((bytes) => (parseMessage(bytes) as CoapMessage).code)).toBe(
      0x81,
    );
    socket.send(captureMessage(device, 2, Buffer.alloc(16, 'x'), { options: [block(3)] }));
    expect(await socket.next().then((bytes) => (parseMessage(bytes) as CoapMessage).code)).toBe(
      0x88,
    );
    socket.close();
  });
  for (const [bytes, body] of [
    [16, undefined],
    [64, { status: 401, errorCode: '40104_UPLINK_SECRET_UNKNOWN' }],
  ] as const)
    test(`a device with room for ${bytes} bytes is refused in as many`, async () => {
      const socket = await rawCoapSocket(port);
      const small = [blockOption('block2', { number: 0, more: false, bytes })];
      socket.send(captureMessage({ ...device, secret: wrong }, 10, '{"x":1}', { options: small }));
      const { code, payload } = parseMessage(await socket.next()) as CoapMessage;
      expect([code, payload.length === 0 ? undefined : JSON.parse(payload.toString())]).toEqual([
        0x81,
        body,
      ]);
      socket.close();
    });
  for (const [what, option, code] of [
    ['an unknown critical option', { number: 2049, value: Buffer.from('x') }, 0x82],
    ['If-None-Match', { number: 5, value: Buffer.alloc(0) }, 0x82],
    [
      'a proxy request',
      { number: optionNumbers.proxyUri, value: Buffer.from('coap://example.com/') },
      0xa5,
    ],
    ['the reserved block size', { number: optionNumbers.block1, value: Buffer.from([7]) }, 0x82],
  ] as const)
    test(what, async () => {
      const socket = await rawCoapSocket(port);
      socket.send(captureMessage(device, 9, '{"x":1}', { options: [option] }));
      expect((parseMessage(await socket.next()) as CoapMessage).code).toBe(code);
      socket.close();
    });
});

describe('repeated datagrams', () => {
  test('a burst of the same confirmable request: stored once, answered alike', async () => {
    const one = await world.device({ name: 'repeats' });
    const socket = await rawCoapSocket(port);
    const datagram = captureMessage(one, 77, '{"a":1}');
    for (let copy = 0; copy < 20; copy++) socket.send(datagram);
    const first = await socket.next();
    for (let copy = 0; copy < 5; copy++) {
      socket.send(datagram);
      expect(await socket.next()).toEqual(first);
    }
    expect((await stored(one)).length).toBe(1);
    socket.close();
  });
  test('a non-confirmable one too', async () => {
    const one = await world.device({ name: 'repeats unconfirmed' });
    const socket = await rawCoapSocket(port);
    const datagram = captureMessage(one, 78, '{"a":1}', { type: 1 });
    socket.send(datagram);
    const first = await socket.next();
    socket.send(datagram);
    expect(await socket.next()).toEqual(first);
    expect((await stored(one)).length).toBe(1);
    socket.close();
  });
});

test('a datagram repeated after a restart is stored once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'heliograph-coap-'));
  const environment = { COAP_PORT: String(await freeUdpPort()) };
  let again = await startWorld({ directory, environment });
  const one = await again.device({ name: 'restarted' });
  const socket = await rawCoapSocket(Number(environment.COAP_PORT));
  const datagram = captureMessage(one, 79, '{"a":1}');
  socket.send(datagram);
  await socket.next();
  await again.close();
  again = await startWorld({ directory, environment });
  socket.send(datagram);
  expect((parseMessage(await socket.next()) as CoapMessage).code).toBe(0x41);
  expect((await again.must('POST', `/v3/devices/${one.id}/query`, { topic: '*' })).length).toBe(1);
  socket.close();
  await again.close();
  rmSync(directory, { recursive: true, force: true });
});
