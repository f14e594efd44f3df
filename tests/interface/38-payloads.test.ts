// Contract 38, payloads: the same bytes give the same `event.data` over HTTP, MQTT 3.1.1, MQTT 5 and CoAP, and nothing is lost.
import { deflateSync, gzipSync } from 'node:zlib';
import { encode } from 'cborg';
import fc from 'fast-check';
import type { MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { databaseConnectorId } from '../../src/model/ids.ts';
import { askCoap, freeUdpPort } from '../world/coap-device.ts';
import { type MqttWorld, startMqttWorld } from '../world/mqtt-world.ts';

const transports = ['HTTP', 'MQTT 3.1.1', 'MQTT 5', 'CoAP'] as const;
type Transport = (typeof transports)[number];
const encodings = [null, 'JSON', 'HEX', 'BYTES', 'TEXT', 'CBOR'] as const;
type Encoding = (typeof encodings)[number];

interface Sender {
  readonly id: string;
  readonly deviceId: string;
  readonly secret: string;
  readonly connectorId: string;
}

let world: MqttWorld;
let coapPort: number;
/** By encoding: one that sends over HTTP and CoAP, and one over MQTT. */
const senders = new Map<string, Sender>();
const clients = new Map<string, MqttClient>();
let count = 0;

const script = `function consume(event) {
  emit('sample', { topic: event.topic, data: { got: event.data, as: event.encoding } });
}`;

async function newSender(
  connectivity: 'HTTP' | 'MQTT',
  meta: object | null,
  connectorEncoding: Encoding = null,
): Promise<Sender> {
  const { workspaceId, organizationId, must } = world;
  const name = `sender ${++count}`;
  const connector = await must('POST', '/v3/device-connectors', {
    name,
    workspaceId,
    connectivity,
    encoding: connectorEncoding,
  });
  const type =
    meta === null
      ? null
      : await must('POST', '/v3/device-types', {
          name,
          organizationId,
          type: 'manual',
          meta,
          uplinkScript: { code: script },
        });
  const flow = await must('POST', '/v3/data-flows', {
    name,
    workspaceId,
    deviceConnector: { id: connector.id },
    deviceType: type === null ? null : { id: type.id },
    outputConnectors: [{ id: databaseConnectorId, topic: '*' }],
    passThrough: type === null,
  });
  const deviceId = `sender-${count}`;
  const draft = { name, deviceId, workspaceId, dataFlowId: flow.id, connectivity };
  const { id } = await must('POST', '/v3/devices', draft);
  return { id, deviceId, secret: connector.uplinkSecret, connectorId: connector.id };
}

beforeAll(async () => {
  coapPort = await freeUdpPort();
  world = await startMqttWorld({ environment: { COAP_PORT: String(coapPort) } });
  for (const encoding of encodings)
    for (const way of ['HTTP', 'MQTT'] as const)
      senders.set(`${way} ${encoding}`, await newSender(way, { encoding }));
});
afterAll(() => world.close());

const wayOf = (transport: Transport) => (transport.startsWith('MQTT') ? 'MQTT' : 'HTTP');

interface Sent {
  readonly encoding?: Encoding;
  readonly bytes: Buffer;
  readonly contentType?: string;
  readonly contentFormat?: number;
  readonly port?: string;
  readonly topic: string;
}

async function clientOf(sender: Sender, protocolVersion: 4 | 5): Promise<MqttClient> {
  const key = `${sender.id} ${protocolVersion}`;
  const known = clients.get(key);
  if (known !== undefined) return known;
  const { connectorId: username, secret: password } = sender;
  const client = await world.clientWith({ username, password, protocolVersion });
  clients.set(key, client);
  return client;
}

/** Resolves with the status of HTTP, the code of CoAP, or `acknowledged`. */
async function sendFrom(sender: Sender, transport: Transport, sent: Sent): Promise<string> {
  const { bytes, contentType, contentFormat, port, topic } = sent;
  const { secret, deviceId } = sender;
  const query = { secret, deviceId, topic, ...(port !== undefined && { port }) };
  if (transport === 'HTTP') {
    const answer = await fetch(`${world.base}/v3/capture?${new URLSearchParams(query)}`, {
      method: 'POST',
      headers: contentType === undefined ? {} : { 'content-type': contentType },
      body: new Uint8Array(bytes),
    });
    await answer.arrayBuffer();
    return String(answer.status);
  }
  if (transport === 'CoAP') {
    const options =
      contentFormat === undefined
        ? {}
        : { 'Content-Format': Buffer.from([contentFormat >> 8, contentFormat & 255]) };
    return (await askCoap(coapPort, { query, body: bytes, options })).code;
  }
  const client = await clientOf(sender, transport === 'MQTT 5' ? 5 : 4);
  const properties = {
    ...(contentType !== undefined && { contentType }),
    ...(port !== undefined && { userProperties: { port } }),
  };
  await client.publishAsync(`/up/${secret}/id/${deviceId}/${topic}`, bytes, {
    qos: 1,
    ...(transport === 'MQTT 5' && { properties }),
  });
  return 'acknowledged';
}

const send = (transport: Transport, sent: Sent) =>
  sendFrom(senders.get(`${wayOf(transport)} ${sent.encoding ?? null}`)!, transport, sent);

const wellDone: Record<Transport, string> = {
  HTTP: '201',
  'MQTT 3.1.1': 'acknowledged',
  'MQTT 5': 'acknowledged',
  CoAP: '2.01',
};

const hex = (bytes: string) => Buffer.from(bytes.replaceAll(' ', ''), 'hex');
const text = (value: string) => Buffer.from(value);
const bytesOf = (payloadHex: string, more: object = {}) => ({
  got: { payloadHex, ...more },
  as: 'BYTES',
});
const textOf = (value: string, more: object = {}) => ({
  got: { text: value, payloadHex: text(value).toString('hex'), ...more },
  as: 'TEXT',
});
const jsonOf = (got: object) => ({ got, as: 'JSON' });
const cborOf = (got: object) => ({ got, as: 'CBOR' });
const cbor = (value: unknown) => Buffer.from(encode(value));

type Row = readonly [
  what: string,
  bytes: Buffer,
  /** What the script gets; `refused` with 400, and kept with a note over MQTT. */
  expected: object | 'refused',
  encoding?: Encoding,
];

/** Without a content type and a content format, so that they are for every transport. */
const rows: readonly Row[] = [
  ['a JSON object', text('{"t":21.5}'), jsonOf({ t: 21.5 })],
  ['a JSON object with space around it', text(' \n{"t":1}\r\n'), jsonOf({ t: 1 })],
  ['a JSON array', text('[1,"a"]'), jsonOf({ values: [1, 'a'] })],
  ['a nested JSON object', text('{"a":{"b":[null]}}'), jsonOf({ a: { b: [null] } })],
  ['a JSON number', text('21.5'), jsonOf({ value: 21.5 })],
  ['a negative number with an exponent', text('-2.5e3'), jsonOf({ value: -2500 })],
  ['true', text('true'), jsonOf({ value: true })],
  ['a JSON string', text('"on"'), jsonOf({ value: 'on' })],
  ['an integer beyond 2^53', text('9007199254740993'), jsonOf({ value: '9007199254740993' })],
  ['JSON behind a byte order mark', text('\ufeff{"a":1}'), jsonOf({ a: 1 })],
  ['JSON before closing NULs', text('{"a":1}\0\0'), jsonOf({ a: 1 })],
  ['a number before a NUL', text('7\0'), jsonOf({ value: 7 })],
  ['JSON with DEL in a string', text('{"a":"\u007f"}'), jsonOf({ a: '\u007f' })],
  ['an empty JSON object', text('{}'), jsonOf({})],
  ['text', text('hello'), textOf('hello')],
  ['text with umlauts', text('grün ✓'), textOf('grün ✓')],
  ['text of several lines', text('a=1\r\nb=2\tc'), textOf('a=1\r\nb=2\tc')],
  ['a number with leading zeros', text('007'), textOf('007')],
  ['a number with a unit', text('21.5 C'), textOf('21.5 C')],
  ['hexadecimal digits', text('01ff'), textOf('01ff')],
  ['NaN', text('NaN'), textOf('NaN')],
  [
    'text before a NUL',
    text('abc\0'),
    { got: { text: 'abc', payloadHex: '61626300' }, as: 'TEXT' },
  ],
  ['a quotation mark', text('"open'), textOf('"open')],
  ['bytes that are not UTF-8', hex('ff00'), bytesOf('ff00')],
  ['bytes of UTF-8 with control characters', hex('01 02 03'), bytesOf('010203')],
  ['one NUL', hex('00'), bytesOf('00')],
  ['a C1 control character', hex('c285'), bytesOf('c285')],
  ['a brace before control characters', hex('7b 01 7d'), bytesOf('7b017d')],
  ['a bracket before a byte that is not UTF-8', hex('5b ff'), bytesOf('5bff')],
  ['a byte order mark alone', hex('efbbbf'), bytesOf('efbbbf')],
  ['CBOR that nobody names', hex('a1617401'), bytesOf('a1617401')],
  ['gzip of JSON', gzipSync('{"z":1}'), jsonOf({ z: 1 })],
  ['gzip of text', gzipSync('packed'), textOf('packed')],
  ['gzip of bytes', gzipSync(hex('0001')), bytesOf('0001')],
  ['what begins like gzip', hex('1f8b08000000'), bytesOf('1f8b08000000')],
  ['nothing', Buffer.alloc(0), 'refused'],
  ['null', text('null'), 'refused'],
  ['an object that is cut', text('{"a":'), 'refused'],
  ['an array that is cut', text('[1,'), 'refused'],
  ['an object with a comma too much', text('{"a":1,}'), 'refused'],
  ['gzip of nothing', gzipSync(''), 'refused'],

  ['declared JSON', text('{"a":1}'), jsonOf({ a: 1 }), 'JSON'],
  ['declared JSON, a number', text('5'), jsonOf({ value: 5 }), 'JSON'],
  ['declared JSON that is text', text('hello'), 'refused', 'JSON'],
  ['declared JSON that is not UTF-8', hex('ff'), 'refused', 'JSON'],
  ['declared JSON that is a NUL', hex('00'), 'refused', 'JSON'],
  ['declared JSON, in gzip', gzipSync('{"g":1}'), jsonOf({ g: 1 }), 'JSON'],

  ['declared text', text('hello'), textOf('hello'), 'TEXT'],
  ['declared text that is a number', text('21.5'), textOf('21.5', { value: 21.5 }), 'TEXT'],
  ['declared text that is false', text(' false '), textOf(' false ', { value: false }), 'TEXT'],
  ['declared text that is null', text('null'), textOf('null'), 'TEXT'],
  ['declared text that looks like JSON', text('{"a":1}'), textOf('{"a":1}'), 'TEXT'],
  ['declared text, broken JSON', text('{"a":'), textOf('{"a":'), 'TEXT'],
  [
    'declared text behind a byte order mark',
    text('\ufeff12'),
    { got: { text: '12', payloadHex: 'efbbbf3132', value: 12 }, as: 'TEXT' },
    'TEXT',
  ],
  [
    'declared text that is not UTF-8',
    hex('41ff'),
    { got: { text: 'A\ufffd', payloadHex: '41ff' }, as: 'TEXT' },
    'TEXT',
  ],
  ['declared text of nothing', Buffer.alloc(0), 'refused', 'TEXT'],

  ['declared bytes', hex('0102'), bytesOf('0102'), 'BYTES'],
  ['declared bytes that are JSON', text('{}'), bytesOf('7b7d'), 'BYTES'],
  ['declared bytes that are null', text('null'), bytesOf('6e756c6c'), 'BYTES'],
  ['declared bytes in gzip', hex('1f8b08'), bytesOf('1f8b08'), 'BYTES'],
  ['declared bytes, none', Buffer.alloc(0), 'refused', 'BYTES'],

  ['declared hex, digits', text('01fF'), bytesOf('01ff'), 'HEX'],
  ['declared hex, digits of a modem', text('01ff\r\n'), bytesOf('01ff'), 'HEX'],
  ['declared hex, an odd number of digits', text('01f'), bytesOf('303166'), 'HEX'],
  [
    'declared hex, JSON',
    text('{"port":2,"payloadHex":"01"}'),
    jsonOf({ port: 2, payloadHex: '01' }),
    'HEX',
  ],
  ['declared hex, an array', text('[1]'), jsonOf({ values: [1] }), 'HEX'],
  ['declared hex, bytes', hex('00ff'), bytesOf('00ff'), 'HEX'],
  ['declared hex, text', text('hi'), bytesOf('6869'), 'HEX'],

  ['declared CBOR', cbor({ t: 1.5, b: hex('beef') }), cborOf({ t: 1.5, b: 'beef' }), 'CBOR'],
  ['declared CBOR, an array', cbor([1]), cborOf({ values: [1] }), 'CBOR'],
  ['declared CBOR, a number', cbor(7), cborOf({ value: 7 }), 'CBOR'],
  ['declared CBOR, null', hex('f6'), 'refused', 'CBOR'],
  ['declared CBOR that is none', hex('61'), 'refused', 'CBOR'],
];

const topicOf = (at: number, transport: Transport) =>
  `case-${at}-${transport.replaceAll(/[ .]/g, '')}`;

describe('contract 38: one expected event.data over four transports', () => {
  const found = new Map<string, unknown>();
  beforeAll(async () => {
    for (const [at, [, bytes, expected, encoding = null]] of rows.entries())
      for (const transport of transports) {
        const sent = { bytes, encoding, topic: topicOf(at, transport) };
        // An empty publish is a payload too; CoAP clients leave the marker out.
        const refused = transport === 'HTTP' ? '400' : '4.00';
        const isRefused = expected === 'refused' && wayOf(transport) === 'HTTP';
        const answer = await send(transport, sent);
        found.set(`answer ${sent.topic}`, [answer, isRefused ? refused : wellDone[transport]]);
      }
    for (const { id } of senders.values()) {
      const asked = { topic: '*', limit: 10_000 };
      for (const { topic, data } of await world.must('POST', `/v3/devices/${id}/query`, asked))
        found.set(topic, data);
      const { content } = await world.must('GET', `/v3/devices/${id}/uplinks?size=1000`);
      for (const uplink of content) found.set(`raw ${uplink.topic}`, uplink);
    }
  });

  for (const [at, [what, bytes, expected, encoding = null]] of rows.entries())
    test(`${what} (${encoding ?? 'undeclared'})`, () => {
      for (const transport of transports) {
        const topic = topicOf(at, transport);
        const [answer, right] = found.get(`answer ${topic}`) as [string, string];
        expect(answer, transport).toBe(right);
        const raw = found.get(`raw ${topic}`) as Record<string, unknown> | undefined;
        if (expected === 'refused') {
          expect(found.get(topic), transport).toBeUndefined();
          const kept = { encoding: 'BYTES', payloadHex: bytes.toString('hex') };
          if (wayOf(transport) === 'MQTT') expect(raw, transport).toMatchObject(kept);
          continue;
        }
        expect(found.get(topic), transport).toEqual(expected);
        const { got, as } = expected as { got: Record<string, unknown>; as: string };
        expect(raw, transport).toMatchObject({ encoding: as, size: bytes.length });
        if (as === 'JSON') expect(raw).toMatchObject({ payloadHex: null });
        else if (as !== 'CBOR') expect(raw).toMatchObject({ payloadHex: got['payloadHex'] });
        else expect(raw).toMatchObject({ payloadHex: bytes.toString('hex') });
      }
    });
});

describe('contract 38: what the sender names', () => {
  const labelled: readonly (readonly [
    what: string,
    sent: Omit<Sent, 'topic'>,
    expected: object,
    transports: readonly Transport[],
  ])[] = [
    [
      'CBOR',
      { bytes: cbor({ n: 1 }), contentType: 'application/cbor', contentFormat: 60 },
      cborOf({ n: 1 }),
      ['HTTP', 'MQTT 5', 'CoAP'],
    ],
    [
      'a form',
      { bytes: text('t=21.5&s=a+b&s=c'), contentType: 'application/x-www-form-urlencoded' },
      { got: { t: '21.5', s: ['a b', 'c'] }, as: 'FORM' },
      ['HTTP', 'MQTT 5'],
    ],
    [
      'JSON that curl names a form',
      { bytes: text('{"a":"b=c"}'), contentType: 'application/x-www-form-urlencoded' },
      jsonOf({ a: 'b=c' }),
      ['HTTP', 'MQTT 5'],
    ],
    [
      'a form without a name is read by its content',
      { bytes: text('21.5'), contentType: 'application/x-www-form-urlencoded' },
      jsonOf({ value: 21.5 }),
      ['HTTP', 'MQTT 5'],
    ],
    [
      'a type that says nothing',
      { bytes: hex('0102'), contentType: 'image/png', contentFormat: 42 },
      bytesOf('0102'),
      ['HTTP', 'MQTT 5', 'CoAP'],
    ],
    [
      'a port of bytes',
      { bytes: hex('0102'), port: '15' },
      bytesOf('0102', { port: 15 }),
      ['HTTP', 'MQTT 5', 'CoAP'],
    ],
    [
      'a port of text',
      { bytes: text('on'), port: '0' },
      textOf('on', { port: 0 }),
      ['HTTP', 'MQTT 5', 'CoAP'],
    ],
    ['no port of JSON', { bytes: text('{"a":1}'), port: '7' }, jsonOf({ a: 1 }), ['HTTP', 'CoAP']],
    [
      'what is declared wins',
      { bytes: text('{}'), contentType: 'application/json', contentFormat: 50, encoding: 'BYTES' },
      bytesOf('7b7d'),
      ['HTTP', 'MQTT 5', 'CoAP'],
    ],
    [
      'JSON deflated, by its content format',
      { bytes: deflateSync('{"d":1}'), contentFormat: 11_050 },
      jsonOf({ d: 1 }),
      ['CoAP'],
    ],
    [
      'CBOR deflated, by its content format',
      { bytes: deflateSync(cbor({ d: 2 })), contentFormat: 11_060 },
      cborOf({ d: 2 }),
      ['CoAP'],
    ],
  ];
  for (const [at, [what, sent, expected, over]] of labelled.entries())
    test(what, async () => {
      for (const transport of over) {
        const topic = `labelled-${at}-${transport.replaceAll(/[ .]/g, '')}`;
        expect(await send(transport, { ...sent, topic })).toBe(wellDone[transport]);
        const { id } = senders.get(`${wayOf(transport)} ${sent.encoding ?? null}`)!;
        const [sample] = await world.must('POST', `/v3/devices/${id}/query`, { topic });
        expect(sample?.data, transport).toEqual(expected);
      }
    });

  test('JSON that is none, and a port that is none, are refused with 400 and noted over MQTT', async () => {
    const json = { contentType: 'application/json', contentFormat: 50, topic: 'wrong' };
    for (const sent of [
      { ...json, bytes: text('hello') },
      { ...json, bytes: hex('ff') },
      { bytes: hex('01'), port: '256', topic: 'wrong' },
      { bytes: text('text'), port: 'one', topic: 'wrong' },
    ]) {
      expect(await send('HTTP', sent)).toBe('400');
      expect(await send('CoAP', sent)).toBe('4.00');
      expect(await send('MQTT 5', sent)).toBe('acknowledged');
    }
    const { id } = senders.get('MQTT null')!;
    const { content } = await world.must('GET', `/v3/devices/${id}/processing-logs?size=4`);
    for (const note of content) {
      expect(note).toMatchObject({ level: 'ERROR', source: 'UPLINK' });
      expect(note.message).toMatch(/^The payload could not be read and was not decoded: /);
    }
  });

  test('the port may be a header; the query wins', async () => {
    const { id, secret, deviceId } = senders.get('HTTP null')!;
    for (const [at, query] of [{}, { port: '9' }].entries()) {
      const all = new URLSearchParams({ secret, deviceId, topic: `header-${at}`, ...query });
      const headers = { 'x-port': '7' };
      const body = new Uint8Array([1]);
      const path = `${world.base}/v3/capture?${all}`;
      expect((await fetch(path, { method: 'POST', headers, body })).status).toBe(201);
      const [sample] = await world.must('POST', `/v3/devices/${id}/query`, {
        topic: `header-${at}`,
      });
      expect(sample.data).toEqual(bytesOf('01', { port: at === 0 ? 7 : 9 }));
      const { uplinkMetrics } = await world.must('GET', `/v3/devices/${id}`);
      expect(uplinkMetrics.port).toBe(at === 0 ? 7 : 9);
    }
  });

  test('no coding and no format is 415, other than a content coding that nobody knows', async () => {
    const { secret, deviceId } = senders.get('HTTP null')!;
    const query = new URLSearchParams({ secret, deviceId, topic: 'coded' });
    const post = (coding: string, body: Buffer) =>
      fetch(`${world.base}/v3/capture?${query}`, {
        method: 'POST',
        headers: { 'content-encoding': coding, 'content-type': 'x/y' },
        body: new Uint8Array(body),
      });
    expect((await post('gzip', gzipSync('{"c":1}'))).status).toBe(201);
    expect((await post('zstd', hex('28b52ffd'))).status).toBe(415);
  });
});

describe('contract 38: sizes', () => {
  test('uplinkSize is as received, the limit counts what is inflated', async () => {
    const { id, secret, deviceId } = senders.get('HTTP TEXT')!;
    const query = new URLSearchParams({ secret, deviceId, topic: 'sizes' });
    const packed = gzipSync('x'.repeat(10_000));
    const post = (headers: Record<string, string>, body: Buffer) =>
      fetch(`${world.base}/v3/capture?${query}`, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      });
    const newest = async () => {
      const { content } = await world.must('GET', `/v3/devices/${id}/uplinks?size=1`);
      return content[0];
    };
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      expect((await post(headers, packed)).status).toBe(201);
      expect(await newest()).toMatchObject({ size: packed.length });
      const { uplinkMetrics } = await world.must('GET', `/v3/devices/${id}`);
      expect(uplinkMetrics.uplinkSize).toBe(packed.length);
    }
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect((await post({}, bomb)).status).toBe(413);
    expect((await post({ 'content-encoding': 'gzip' }, bomb)).status).toBe(413);
  });

  test('a large document is parsed in turns and is the same', async () => {
    const { id, secret, deviceId } = senders.get('HTTP null')!;
    const values = Array.from({ length: 40_000 }, (_, at) => at * 1.25);
    const query = new URLSearchParams({ secret, deviceId, topic: 'large' });
    for (const body of [JSON.stringify({ values }), `\ufeff ${JSON.stringify({ values })}`]) {
      const answer = await fetch(`${world.base}/v3/capture?${query}`, { method: 'POST', body });
      expect(answer.status).toBe(201);
    }
    const packed = new Uint8Array(gzipSync(JSON.stringify({ values })));
    const url = `${world.base}/v3/capture?${query}`;
    expect((await fetch(url, { method: 'POST', body: packed })).status).toBe(201);
    const found = await world.must('POST', `/v3/devices/${id}/query`, { topic: 'large' });
    expect(found).toHaveLength(3);
    for (const { data } of found) expect(data).toEqual(jsonOf({ values }));
  });
});

describe('contract 38: where the encoding is declared', () => {
  const sent = { bytes: text('{}'), topic: 'declared' };
  const dataOf = async ({ id }: Sender) =>
    (await world.must('POST', `/v3/devices/${id}/query`, { topic: 'declared' }))[0].data;

  test('by the connector, where the type does not, and without a type the data is the sample', async () => {
    const untyped = await newSender('HTTP', null, 'BYTES');
    const typed = await newSender('HTTP', { encoding: null }, 'BYTES');
    const both = await newSender('HTTP', { encoding: 'JSON' }, 'BYTES');
    for (const one of [untyped, typed, both]) expect(await sendFrom(one, 'HTTP', sent)).toBe('201');
    expect(await dataOf(untyped)).toEqual({ payloadHex: '7b7d' });
    expect(await dataOf(typed)).toEqual(bytesOf('7b7d'));
    expect(await dataOf(both)).toEqual(jsonOf({}));
  });

  test('a change counts from the next uplink on', async () => {
    const one = await newSender('HTTP', null);
    expect(await sendFrom(one, 'HTTP', sent)).toBe('201');
    expect(await dataOf(one)).toEqual({});
    const path = `/v3/device-connectors/${one.connectorId}`;
    const changed = await world.must('PUT', path, { encoding: 'TEXT' });
    expect(changed.encoding).toBe('TEXT');
    expect(await sendFrom(one, 'HTTP', sent)).toBe('201');
    expect(await dataOf(one)).toEqual({ text: '{}', payloadHex: '7b7d' });
    expect(await world.must('PUT', path, { encoding: null })).toMatchObject({ encoding: null });
  });
});

test('contract 38: any bytes are stored, kept or refused, and never a fault', async () => {
  const runs = Number(process.env['PAYLOADS'] ?? 150);
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    fc.json().map((value) => Buffer.from(value)),
    fc.string({ unit: 'binary', maxLength: 60 }).map((value) => Buffer.from(value)),
    fc.jsonValue().map((value) => Buffer.from(encode(value))),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => gzipSync(bytes)),
  );
  const contentType = fc.constantFrom(
    undefined,
    'application/json',
    'application/cbor',
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/octet-stream',
  );
  let at = 0;
  const taken = new Map<string, Set<string>>();
  const one = async (bytes: Uint8Array, encoding: Encoding, type: string | undefined) => {
    const transport = transports[at % transports.length]!;
    const topic = `any${++at}`;
    const { id } = senders.get(`${wayOf(transport)} ${encoding}`)!;
    const answer = await send(transport, {
      bytes: Buffer.from(bytes),
      encoding,
      topic,
      ...(type !== undefined && { contentType: type }),
      ...(type === 'application/cbor' && { contentFormat: 60 }),
    });
    expect(['201', '400', '2.01', '4.00', 'acknowledged']).toContain(answer);
    if (answer.startsWith('4')) return;
    const topics = taken.get(id) ?? new Set();
    taken.set(id, topics.add(topic));
  };
  const samples = fc.sample(fc.tuple(payload, fc.constantFrom(...encodings), contentType), {
    numRuns: runs,
    seed: Number(process.env['SEED'] ?? Date.now() % 1e9),
  });
  for (let from = 0; from < samples.length; from += 16)
    await Promise.all(samples.slice(from, from + 16).map((each) => one(...each)));
  for (const [id, topics] of taken) {
    const missing = new Set(topics);
    for (let page = 0, more = true; more; page++) {
      const path = `/v3/devices/${id}/uplinks?size=1000&page=${page}`;
      const { content } = await world.must('GET', path);
      for (const { topic } of content) missing.delete(topic);
      more = content.length === 1_000 && missing.size > 0;
    }
    expect([...missing]).toEqual([]);
  }
}, 3_600_000);

test('contract 38: clients of the vendor read HEX for encodings that they do not know', async () => {
  const { connectorId, id } = await newSender('HTTP', { encoding: 'CBOR' }, 'TEXT');
  const { dataFlow } = await world.must('GET', `/v3/devices/${id}`);
  const flow = await world.must('GET', `/v3/data-flows/${dataFlow.id}`);
  const as = async (path: string, headers: Record<string, string>) =>
    (await world.call('GET', path, undefined, headers)).body;
  const vendor = { 'akenza-client': 'console' };
  const typePath = `/v3/device-types/${flow.deviceType.id}`;
  const connectorPath = `/v3/device-connectors/${connectorId}`;
  expect((await as(typePath, {})).meta.encoding).toBe('CBOR');
  expect((await as(typePath, vendor)).meta.encoding).toBe('HEX');
  expect((await as(connectorPath, {})).encoding).toBe('TEXT');
  expect((await as(connectorPath, vendor)).encoding).toBe('HEX');
  expect(await as(`/v3/data-flows/${flow.id}`, vendor)).toMatchObject({
    deviceType: { meta: { encoding: 'HEX' } },
    deviceConnector: { encoding: 'HEX' },
  });
  const read = await as(typePath, vendor);
  await world.call('PUT', typePath, read, vendor);
  await world.call('PUT', connectorPath, await as(connectorPath, vendor), vendor);
  expect((await as(typePath, {})).meta.encoding).toBe('CBOR');
  expect((await as(connectorPath, {})).encoding).toBe('TEXT');
  const { content } = await as(`/v3/device-types?search=${flow.deviceType.name}`, vendor);
  expect(content[0].meta.encoding).toBe('HEX');
});

describe('contract 38: run-script takes a payload', () => {
  const seen = `function consume(event) { emit('log', { data: event.data, as: event.encoding, more: event.topic }); }`;
  const run = (body: object) => world.call('POST', '/v3/run-script', { script: seen, ...body });
  const rowsOf: readonly (readonly [string, object, object])[] = [
    [
      'bytes with a port',
      { hex: '01fF', port: 3 },
      { data: { payloadHex: '01ff', port: 3 }, as: 'BYTES' },
    ],
    ['text', { text: 'on' }, { data: { text: 'on', payloadHex: '6f6e' }, as: 'TEXT' }],
    ['JSON', { text: '[1]' }, { data: { values: [1] }, as: 'JSON' }],
    [
      'an encoding',
      { text: '01ff', encoding: 'HEX' },
      { data: { payloadHex: '01ff' }, as: 'BYTES' },
    ],
    [
      'a content type',
      { hex: 'a1616101', contentType: 'application/cbor' },
      { data: { a: 1 }, as: 'CBOR' },
    ],
  ];
  for (const [what, payload, expected] of rowsOf)
    test(what, async () => {
      const { status, body } = await run({ payload, event: { topic: 'kept', data: { lost: 1 } } });
      expect([status, body]).toEqual([
        200,
        [{ type: 'LOG', event: { ...expected, more: 'kept' } }],
      ]);
    });
  test('neither or both, no hex, and what is refused: 400', async () => {
    for (const payload of [
      {},
      { hex: '00', text: '' },
      { hex: '0' },
      { text: 'null' },
      { text: '{"a":' },
    ])
      expect((await run({ payload })).status, JSON.stringify(payload)).toBe(400);
    expect((await run({ payload: { hex: '00' }, event: 'text' })).status).toBe(400);
  });
  test('a payload codec gets its bytes and its port', async () => {
    const script =
      'function decodeUplink({ bytes, fPort }) { return { data: { first: bytes[0], fPort } }; }';
    const decoded = async (payload: object) =>
      (await world.must('POST', '/v3/run-script', { script, payload }))[0];
    const sample = (data: object) => ({ type: 'SAMPLE', event: { data } });
    expect(await decoded({ hex: '07', port: 9 })).toEqual(sample({ first: 7, fPort: 9 }));
    expect(await decoded({ hex: '07' })).toEqual(sample({ first: 7, fPort: 1 }));
    expect(await decoded({ text: 'A' })).toEqual(sample({ first: 65, fPort: 1 }));
    expect(await decoded({ text: '{"a":1}' })).toMatchObject({
      type: 'ERROR',
      event: { message: expect.stringContaining('declare the encoding Bytes') },
    });
  });
});

interface Replayed {
  readonly verdict: string;
  readonly newSamples: readonly { readonly data: { readonly got: unknown } }[];
  readonly encoding: string;
  readonly payloadHex: string | null;
}

test('contract 38: a replay reads the bytes again in another encoding, also of what was refused', async () => {
  const sender = await newSender('MQTT', { encoding: 'JSON' });
  const over = (bytes: Buffer) => sendFrom(sender, 'MQTT 3.1.1', { bytes, topic: 'again' });
  for (const bytes of [hex('01ff'), text('on'), text('{"a":1}'), text('00ff')]) await over(bytes);
  const { dataFlow } = await world.must('GET', `/v3/devices/${sender.id}`);
  const { deviceType } = await world.must('GET', `/v3/data-flows/${dataFlow.id}`);
  const replay = async (encoding?: Encoding) => {
    const body = { deviceId: sender.id, ...(encoding !== undefined && { encoding }) };
    const { uplinks } = await world.must('POST', `/v3/device-types/${deviceType.id}/replay`, body);
    return uplinks.map(({ verdict, newSamples, encoding: as, payloadHex }: Replayed) => [
      verdict,
      newSamples[0]?.data.got,
      as,
      payloadHex,
    ]);
  };
  const json = ['SAME', { a: 1 }, 'JSON', null];
  expect(await replay()).toEqual([
    ['DIFFERENT', { payloadHex: '01ff' }, 'BYTES', '01ff'],
    ['DIFFERENT', { payloadHex: '6f6e' }, 'BYTES', '6f6e'],
    json,
    ['DIFFERENT', { payloadHex: '30306666' }, 'BYTES', '30306666'],
  ]);
  expect(await replay('TEXT')).toEqual([
    ['DIFFERENT', { text: '\u0001\ufffd', payloadHex: '01ff' }, 'TEXT', '01ff'],
    ['DIFFERENT', { text: 'on', payloadHex: '6f6e' }, 'TEXT', '6f6e'],
    json,
    ['DIFFERENT', { text: '00ff', payloadHex: '30306666' }, 'TEXT', '30306666'],
  ]);
  expect((await replay('HEX')).at(-1)).toEqual([
    'DIFFERENT',
    { payloadHex: '00ff' },
    'BYTES',
    '00ff',
  ]);
  expect((await replay('JSON'))[0]).toEqual(['ERROR', undefined, 'BYTES', '01ff']);
});
