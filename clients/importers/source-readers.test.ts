// Readers of exports: what the formats of other platforms become, and what is refused with its place.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { jsonDocuments } from './json-documents.ts';
import type { MovedSample, ReadOptions } from './moved.ts';
import { sources } from './source-table.ts';

const folder = mkdtempSync(join(tmpdir(), 'heliograph-readers-'));
const work = mkdtempSync(join(tmpdir(), 'heliograph-readers-work-'));
afterAll(() => {
  for (const path of [folder, work]) rmSync(path, { recursive: true, force: true });
});

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function read(source: string, files: readonly string[], more: Partial<ReadOptions> = {}) {
  const { signal } = new AbortController();
  const thingsBoard = { token: undefined, username: undefined, password: undefined };
  const none = { device: undefined, topic: undefined, database: undefined, thingsBoard };
  const moved = await sources[source]?.read(files, { ...none, work, signal, ...more });
  if (moved === undefined) throw new Error(`no source ${source}`);
  const samples: MovedSample[] = [];
  for await (const batch of moved.samples()) samples.push(...batch);
  moved.close();
  return { ...moved, samples };
}

describe('JSON documents', () => {
  test.each<[string, string, number[]]>([
    ['one object', '{"a":1}', [1]],
    ['a list', '[\n {"a":"]}"},\n {"a":[{}]}\n]', [2, 3]],
    ['objects one after the other', '{\n"a":1\n}\n{"a":"\\"}"}\n\n{}', [1, 4, 6]],
    ['nothing', ' \n', []],
  ])('%s', (name, text, lines) =>
    expect(jsonDocuments(name, text).map(({ place }) => place.line)).toEqual(lines),
  );
  test.each<[string, RegExp]>([
    ['{"a":1}\n{"a":', /^f:2: not JSON/],
    ['[{"a":1},\n5]', /^f:2: /],
    ['{"a":1}\nnonsense', /^f:2: not JSON/],
  ])('%s', (text, reason) => expect(() => jsonDocuments('f', text)).toThrow(reason));
});

test('InfluxDB: lines of one field each become samples, also far from each other and twice', async () => {
  const lines = ['# DDL', 'CREATE DATABASE house WITH NAME autogen', '# DML'];
  lines.push('# CONTEXT-DATABASE:house', '# CONTEXT-RETENTION-POLICY:autogen');
  const second = 1_000_000_000n;
  const start = 1_700_000_000n * second;
  const times = Array.from({ length: 12_000 }, (_, i) => start + BigInt(i) * second);
  for (const time of times) lines.push(`weather,device=roof humidity=40i ${time}`);
  for (const time of times) lines.push(`weather,device=roof temperature=21.5 ${time}`);
  lines.push(`weather,device=roof temperature=22 ${start}`, 'weather,host=a v=x 1');
  lines.push(`weather v=1 ${start}`, `weather,device=roof note="a\nb" ${start}`);
  lines.push('# CONTEXT-DATABASE:_internal', `httpd,host=x a=1 ${start}`);
  const path = file('export.lp', lines.join('\n'));
  const moved = await read('influxdb', [path]);
  expect(moved.devices.map(({ deviceId }) => deviceId)).toEqual(['roof']);
  expect(moved.samples).toHaveLength(12_000);
  expect(moved.samples[0]).toMatchObject({
    deviceId: 'roof',
    topic: 'weather',
    timestamp: 1_700_000_000_000,
    data: { humidity: 40, temperature: 22, note: 'a\nb' },
  });
  expect(moved.samples.every(({ data }) => Object.keys(data).length >= 2)).toBe(true);
  expect(moved.remarks.map(({ place, reason }) => [place.line, reason])).toEqual([
    [24_007, 'invalid field value'],
    [24_008, 'no tag identifies a device'],
  ]);
  const packed = await read('influxdb', [file('export.gz', gzipSync(lines.join('\n')))]);
  expect(packed.samples).toHaveLength(12_000);
  expect((await read('influxdb', [path], { database: '_internal' })).devices).toMatchObject([
    { deviceId: 'x' },
  ]);
  expect(readdirSync(work)).toEqual([]);
}, 240_000);

test('InfluxDB: annotated CSV, as points and as a pivoted table', async () => {
  const csv = `#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string
#group,false,false,true,true,false,false,true,true,true
#default,_result,,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement,host
,,0,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,2026-01-01T10:00:00.123456789Z,21.5,temperature,weather,roof
,,0,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,2026-01-01T10:01:00Z,NaN,temperature,weather,roof

#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,string,string,string,string
#group,false,false,true,true,false,false,true,true,true
#default,_result,,,,,,,,
,result,table,_start,_stop,_time,_value,_field,_measurement,host
,,1,2026-01-01T00:00:00Z,2026-01-02T00:00:00Z,2026-01-01T10:00:00.123456789Z,"a ""b"",
c",note,weather,roof

#datatype,string,long,dateTime:RFC3339,string,string,long,boolean
#group,false,false,false,true,true,false,false
#default,_result,,,,,,
,result,table,_time,_measurement,host,level,open
,,0,2026-01-01T12:00:00+01:00,door,gate,7,true
`;
  const moved = await read('influxdb', [file('points.csv', csv.replaceAll('\n', '\r\n'))]);
  expect(moved.samples.map(({ place: _, ...sample }) => sample)).toEqual([
    {
      deviceId: 'gate',
      topic: 'door',
      timestamp: Date.parse('2026-01-01T11:00:00Z'),
      data: { level: 7, open: true },
    },
    {
      deviceId: 'roof',
      topic: 'weather',
      timestamp: Date.parse('2026-01-01T10:00:00.123Z'),
      data: { temperature: 21.5, note: 'a "b",\r\nc' },
    },
  ]);
  expect(moved.remarks).toMatchObject([{ place: { line: 6 }, reason: 'invalid field value' }]);
});

test('The Things Stack: CSV of the console', async () => {
  const csv = `id;dev_eui;join_eui;name;lorawan_version;app_key;supports_join;up_formatter;up_formatter_parameter
cellar-7;70-B3-D5-7E-D0-01-00-07;0000000000000001;Cellar;MAC_V1_0_3;00112233445566778899aabbccddeeff;true;FORMATTER_CAYENNELPP;
bad;xyz;;;;;;;
`;
  const moved = await read('tts', [file('devices.csv', csv)]);
  expect(moved.types).toMatchObject([
    { name: expect.stringMatching(/^Formatter \([\da-f]{6}\)$/) },
  ]);
  expect(moved.devices).toMatchObject([
    {
      deviceId: '70B3D57ED0010007',
      name: 'Cellar',
      type: moved.types[0]?.name,
      lora: { activationMode: 'OTAA', loraVersion: '1.0.3', joinEui: '0000000000000001' },
      place: { line: 2 },
    },
  ]);
  expect(moved.devices[0]?.lora?.['applicationKey']).toBe('00112233445566778899aabbccddeeff');
  expect(moved.remarks).toMatchObject([{ outcome: 'error', name: 'bad', place: { line: 3 } }]);
  await expect(read('tts', [file('other.csv', 'a,b\n1,2')])).rejects.toThrow(
    /other.csv:1: neither/,
  );
});

test('ChirpStack 4: the key of LoRaWAN 1.0 is nwkKey, and lists add nothing to answers', async () => {
  const eui = '70b3d57ed0010008';
  const documents = [
    { totalCount: 1, result: [{ devEui: eui, name: 'Roof', deviceProfileId: 'p1' }] },
    {
      device: {
        devEui: eui,
        name: 'Roof',
        deviceProfileId: 'p1',
        joinEui: '0000000000000001',
        isDisabled: false,
        tags: { site: 'a' },
        variables: { offset: '1.5' },
      },
    },
    { deviceKeys: { devEui: eui, nwkKey: '11'.repeat(16), appKey: '0'.repeat(32) } },
    {
      deviceProfile: {
        id: 'p1',
        name: 'P1',
        macVersion: 'LORAWAN_1_0_3',
        supportsOtaa: true,
        payloadCodecRuntime: 'JS',
        supportsClassC: true,
        payloadCodecScript: 'function decodeUplink(i) { return { data: {} } }',
      },
    },
  ];
  const path = file('v4.json', documents.map((one) => JSON.stringify(one)).join('\n'));
  const moved = await read('chirpstack', [path]);
  expect(moved.types).toMatchObject([{ name: 'P1', encoder: null }]);
  expect(moved.devices).toMatchObject([
    {
      deviceId: eui.toUpperCase(),
      name: 'Roof',
      type: 'P1',
      tags: ['site: a'],
      customFields: { offset: '1.5' },
      lora: { applicationKey: '11'.repeat(16), deviceClass: 'C', activationMode: 'OTAA' },
    },
  ]);
  expect(moved.remarks).toEqual([]);
});

test('ThingsBoard: attributes by scope, and time series that are all strings', async () => {
  const device = {
    entityType: 'DEVICE',
    entity: {
      id: { id: 'u-1', entityType: 'DEVICE' },
      name: 'pump-1',
      type: 'pump',
      label: 'Pump',
    },
    attributes: {
      SERVER_SCOPE: [{ key: 'floor', lastUpdateTs: 1, longValue: 2 }],
      CLIENT_SCOPE: [
        { key: 'floor', strValue: 'old' },
        { key: 'fw', strValue: '1.2' },
      ],
    },
  };
  const series = {
    temp: [
      { ts: 2_000, value: '21.5' },
      { ts: 1_000, value: '20' },
    ],
  };
  const state = { on: [{ ts: 2_000, value: 'true' }] };
  const moved = await read('thingsboard', [
    file('u-1.json', JSON.stringify({ ...series, ...state })),
    file('pump.json', JSON.stringify(device)),
    file('asset.json', JSON.stringify({ entityType: 'ASSET', entity: { name: 'Hall' } })),
  ]);
  expect(moved.devices).toMatchObject([
    { deviceId: 'pump-1', name: 'Pump', tags: ['pump'], customFields: { floor: 2, fw: '1.2' } },
  ]);
  expect(moved.samples).toMatchObject([
    { deviceId: 'pump-1', timestamp: 1_000, data: { temp: 20 } },
    { deviceId: 'pump-1', timestamp: 2_000, data: { temp: 21.5, on: true } },
  ]);
  expect(moved.remarks).toMatchObject([{ outcome: 'skip', name: 'Hall' }]);
});

/** A server with the answers of the REST API of ThingsBoard, whose tokens end after some calls. */
async function startThingsBoard(values: Record<string, readonly number[]>) {
  let calls = 0;
  let token = 0;
  const answers = (path: string, query: URLSearchParams): unknown => {
    const page = Number(query.get('page'));
    const device = { id: { entityType: 'DEVICE', id: `d-${page}` }, name: `pump-${page}` };
    if (path === '/api/tenant/devices') return { data: [device], hasNext: page === 0 };
    if (path.endsWith('/attributes/SERVER_SCOPE'))
      return [
        { lastUpdateTs: 1, key: 'floor', value: 2 },
        { lastUpdateTs: 1, key: 'active', value: true },
      ];
    if (path.includes('/attributes/')) return [];
    const series = path.includes('/d-0/') ? values : {};
    if (path.endsWith('/keys/timeseries')) return Object.keys(series);
    const [start, end, limit] = ['startTs', 'endTs', 'limit'].map((name) =>
      Number(query.get(name)),
    );
    const within = (ts: number) => ts >= (start ?? 0) && ts < (end ?? 0);
    return Object.fromEntries(
      Object.entries(series).map(([key, times]) => [
        key,
        times
          .filter(within)
          .slice(0, limit)
          .map((ts) => ({ ts, value: ts + 0.5 })),
      ]),
    );
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    calls++;
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/api/auth/login') return send(200, { token: `t-${++token}` });
    // Each seventh call ends the token.
    if (calls % 7 === 0) token++;
    if (request.headers['x-authorization'] !== `Bearer t-${token}`)
      return send(401, { status: 401, message: 'Token has expired', errorCode: 11 });
    return send(200, answers(pathname, searchParams));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

test('ThingsBoard: a server is read page by page, and values of one time are one sample', async () => {
  const times = (count: number, step: number) =>
    Array.from({ length: count }, (_, i) => 1 + i * step);
  const server = await startThingsBoard({ fast: times(25_000, 1), slow: times(2_500, 10) });
  const thingsBoard = { token: undefined, username: 'tenant', password: 'right' };
  const moved = await read('thingsboard', [server.url], { thingsBoard });
  expect(moved.devices).toMatchObject([
    { deviceId: 'pump-0', customFields: { floor: 2 } },
    { deviceId: 'pump-1', customFields: { floor: 2 } },
  ]);
  expect(moved.samples).toHaveLength(25_000);
  expect(moved.samples.filter(({ data }) => 'slow' in data)).toHaveLength(2_500);
  expect(moved.samples[10]).toMatchObject({ timestamp: 11, data: { fast: 11.5, slow: 11.5 } });
  const none = { token: undefined, username: undefined, password: undefined };
  await expect(read('thingsboard', [server.url], { thingsBoard: none })).rejects.toThrow(
    /THINGSBOARD_TOKEN/,
  );
  await expect(read('thingsboard', [server.url, 'x.json'], { thingsBoard })).rejects.toThrow(
    /either the address of a server, or files/,
  );
  server.close();
}, 240_000);
