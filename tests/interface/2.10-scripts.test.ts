// Interface 2.10, contract 15 and 16: input of uplink decoders, and the effects of their emits.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyTime, anyUuid } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface Outcome {
  readonly device: TestDevice;
  readonly samples: { topic: string; timestamp: string; data: object }[];
  readonly log: {
    level: string;
    source: string;
    message: string;
    details: Record<string, unknown> | null;
  }[];
}

/** A device with the script, and what one payload became. */
async function outcome(
  script: string,
  body: unknown = { a: 1 },
  query: Record<string, string> = {},
): Promise<Outcome> {
  const device = await world.device({ script });
  const { status } = await world.capture(device, body, query);
  expect(status).toBe(201);
  return { device, ...(await stateOf(device)) };
}

async function stateOf(device: TestDevice): Promise<Pick<Outcome, 'samples' | 'log'>> {
  const samples = await world.must('POST', `/v3/devices/${device.id}/query`, { topic: '*' });
  const log = (await world.must('GET', `/v3/devices/${device.id}/processing-logs`)).content;
  return { samples, log };
}
const consume = (body: string) => `function consume(event) { ${body} }`;
const echo = consume(`emit('sample', { data: { event } });`);

describe('contract 15: the uplink event', () => {
  test('data, device, uplinkMetrics, topic, timestamp and state', async () => {
    const tag = await world.must('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'roof',
    });
    const device = await world.device({ script: echo, name: 'seen', tags: [{ id: tag.id }] });
    await world.must('PUT', `/v3/devices/${device.id}`, { description: 'from above' });
    const body = { port: 3, payloadHex: '00ff' };
    const receipt = (await world.capture(device, body)).body;
    const [{ data }] = (await stateOf(device)).samples as unknown as [{ data: { event: object } }];
    expect(data.event).toEqual({
      data: body,
      encoding: 'JSON',
      device: {
        id: device.id,
        deviceId: device.deviceId,
        name: 'seen',
        description: 'from above',
        customFields: {},
        tags: ['roof'],
      },
      uplinkMetrics: {
        uplinkId: receipt.id,
        deviceId: device.id,
        uplinkSize: JSON.stringify(body).length,
        timestamp: receipt.timestamp,
        port: 3,
      },
      topic: 'default',
      timestamp: receipt.timestamp,
      state: {},
    });
  });

  test('topic and timestamp of the request; the sample has them too unless the script sets its own', async () => {
    const timestamp = '2024-02-29T12:00:00.000Z';
    const { samples } = await outcome(echo, { a: 1 }, { topic: 'climate', timestamp });
    expect(samples).toMatchObject([
      { topic: 'climate', timestamp, data: { event: { topic: 'climate', timestamp } } },
    ]);
    const own = consume(
      `emit('sample', { data: { a: 1 }, topic: 'own', timestamp: new Date(1000) })`,
    );
    const set = await outcome(own, { a: 1 }, { topic: 'climate', timestamp });
    expect(set.samples).toMatchObject([{ topic: 'own', timestamp: '1970-01-01T00:00:01.000Z' }]);
  });

  test('an array body becomes {values: [...]}', async () => {
    const { samples } = await outcome(echo, [{ a: 1 }, 2]);
    expect(samples).toMatchObject([{ data: { event: { data: { values: [{ a: 1 }, 2] } } } }]);
  });
});

describe('interface 2.10: emits of an uplink decoder', () => {
  test('never emitted: no sample, no error', async () => {
    expect(await outcome(consume(''))).toMatchObject({ samples: [], log: [] });
  });

  test('log is omitted', async () => {
    const { samples, log } = await outcome(
      consume(`emit('log', { a: 1 }); emit('sample', { data: { b: 1 } });`),
    );
    expect({ samples: samples.length, log }).toEqual({ samples: 1, log: [] });
  });

  test('state passes to the next run of the same device only, the last emit wins', async () => {
    const script = consume(
      `const n = (event.state.n || 0) + 1; emit('state', { n: 'early' }); emit('state', { n }); emit('sample', { data: { n } });`,
    );
    const { device } = await outcome(script);
    await world.capture(device, { a: 2 });
    await world.capture(device, { a: 3 });
    const counts = (await stateOf(device)).samples.map(({ data }) => data);
    expect(counts).toEqual([{ n: 3 }, { n: 2 }, { n: 1 }]);
    expect((await outcome(script)).samples.map(({ data }) => data)).toEqual([{ n: 1 }]);
  });

  test('state survives a run that emits none', async () => {
    const script = consume(
      `if (event.data.set) emit('state', { kept: event.data.set }); else emit('sample', { data: event.state });`,
    );
    const { device } = await outcome(script, { set: 7 });
    for (let at = 0; at < 2; at++) await world.capture(device, { read: at });
    expect((await stateOf(device)).samples.map(({ data }) => data)).toEqual([
      { kept: 7 },
      { kept: 7 },
    ]);
  });

  for (const [what, sample] of [
    ['no data', `{ topic: 'climate' }`],
    ['data that is no object', `{ data: 7 }`],
    ['an array', `[1]`],
    ['a text', `'text'`],
    ['null', `null`],
    ['meta that is no object', `{ data: { a: 1 }, meta: 7 }`],
  ] as const)
    test(`a malformed sample is reported and not used further: ${what}`, async () => {
      const { samples, log } = await outcome(
        consume(`emit('sample', ${sample}); emit('sample', { data: { fine: 1 } });`),
      );
      expect(samples.map(({ data }) => data)).toEqual([{ fine: 1 }]);
      expect(log).toMatchObject([
        { level: 'ERROR', source: 'SCRIPT', message: expect.stringMatching(/sample/i) },
      ]);
    });

  test('contract 16: NaN and Infinity are stored as null with a warning', async () => {
    const { samples, log } = await outcome(
      consume(
        `emit('sample', { data: { a: NaN, b: -Infinity, c: [1 / 0], d: { e: 0 / 0 }, f: 'NaN', g: 1 } })`,
      ),
    );
    expect(samples.map(({ data }) => data)).toEqual([
      { a: null, b: null, c: [null], d: { e: null }, f: 'NaN', g: 1 },
    ]);
    expect(log.length).toBeGreaterThan(0);
    for (const entry of log) expect(entry.level).toBe('WARN');
  });

  for (const [emits, errors] of [
    [50, 0],
    [51, 1],
  ] as const)
    test(`${emits} emits: 50 samples are stored, ${errors} error`, async () => {
      const { samples, log } = await outcome(
        consume(
          `for (let i = 0; i < ${emits}; i++) emit('sample', { data: { i }, timestamp: new Date(1767225600000 + i) });`,
        ),
      );
      expect(samples).toHaveLength(50);
      expect(log.filter(({ level }) => level === 'ERROR')).toHaveLength(errors);
    });

  test('an unknown type adds its error and the run continues', async () => {
    const { samples, log } = await outcome(
      consume(`emit('foo', {}); emit('sample', { data: { after: 1 } });`),
    );
    expect(samples).toHaveLength(1);
    expect(log).toMatchObject([
      {
        level: 'ERROR',
        source: 'SCRIPT',
        message: expect.stringContaining('invalid emit type foo'),
      },
    ]);
  });

  test('timestamps: Date, Date from a number, ISO string, luxon after conversion', async () => {
    const { samples, log } = await outcome(`import { DateTime } from 'luxon';
      function consume(event) {
        const at = Date.UTC(2026, 0, 1);
        emit('sample', { data: { i: 0 }, timestamp: new Date(at) });
        emit('sample', { data: { i: 1 }, timestamp: new Date(at + 1000).toISOString() });
        emit('sample', { data: { i: 2 }, timestamp: DateTime.fromMillis(at + 2000).toISO() });
        emit('sample', { data: { i: 3 }, timestamp: DateTime.fromMillis(at + 3000).toJSDate() });
      }`);
    expect(log).toEqual([]);
    expect(samples.toReversed().map(({ timestamp }) => timestamp)).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:01.000Z',
      '2026-01-01T00:00:02.000Z',
      '2026-01-01T00:00:03.000Z',
    ]);
  });

  test('an invalid timestamp is not convertible: a warning, and the time of the uplink', async () => {
    const { samples, log } = await outcome(
      consume(`emit('sample', { data: { a: 1 }, timestamp: 'yesterday' })`),
    );
    expect(samples).toHaveLength(1);
    expect(log).toMatchObject([
      { level: 'WARN', source: 'SCRIPT', message: expect.stringContaining('yesterday') },
    ]);
  });
});

describe('contract 35: errors of a script', () => {
  test('are in the processing log with line and column; what was emitted before is stored; the device gets its 2xx', async () => {
    const { samples, log } = await outcome(
      `function consume(event) {\n  emit('sample', { data: { before: 1 } });\n  const a = {};\n  a.b.c = 1;\n}`,
    );
    expect(samples.map(({ data }) => data)).toEqual([{ before: 1 }]);
    expect(log).toEqual([
      {
        id: anyUuid,
        timestamp: anyTime,
        level: 'ERROR',
        source: 'SCRIPT',
        message: expect.stringMatching(/\S/),
        correlationId: anyUuid,
        details: expect.objectContaining({ line: 4, column: expect.any(Number) }),
      },
    ]);
  });

  for (const [what, script] of [
    ['no consume', 'const a = 1;'],
    ['syntax error', 'function consume( {'],
    ['endless loop', consume('for (;;);')],
    ['unknown module', `import x from 'lodash';\n${consume('')}`],
  ] as const)
    test(`${what}: one ERROR entry, no sample`, async () => {
      const { samples, log } = await outcome(script);
      expect(samples).toEqual([]);
      expect(log).toMatchObject([
        { level: 'ERROR', source: 'SCRIPT', message: expect.stringMatching(/\S/) },
      ]);
    });

  test('a changed script runs from the next payload on', async () => {
    const { device } = await outcome(consume(`emit('sample', { data: { v: 1 } })`));
    const code = consume(`emit('sample', { data: { v: 2 } })`);
    await world.must('PUT', `/v3/device-types/${device.deviceTypeId}`, { uplinkScript: { code } });
    await world.capture(device, { a: 1 });
    expect((await stateOf(device)).samples.map(({ data }) => data)).toEqual([{ v: 2 }, { v: 1 }]);
  });
});

test('TS013 payload codecs run unchanged: decodeUplink with fPort and bytes', async () => {
  const codec = `
    function decodeUplink(input) {
      return { data: { port: input.fPort, value: (input.bytes[0] << 8) | input.bytes[1] }, warnings: ['low'], errors: [] };
    }`;
  const { samples, log } = await outcome(codec, { port: 2, payloadHex: '0102' });
  expect(samples.map(({ data }) => data)).toEqual([{ port: 2, value: 258 }]);
  expect(log).toMatchObject([
    { level: 'WARN', source: 'SCRIPT', message: expect.stringContaining('low') },
  ]);
  const failing = await outcome(`function decodeUplink() { return { errors: ['bad frame'] }; }`, {
    port: 2,
    payloadHex: '01',
  });
  expect(failing.samples).toEqual([]);
  expect(failing.log).toMatchObject([
    { level: 'ERROR', source: 'SCRIPT', message: expect.stringContaining('bad frame') },
  ]);
});
