// From uplink to samples: the script's event, what its emits become, and pass-through (interface 2.10, contract 10, 15, 16, 35).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../model/json.ts';
import type { Uplink } from '../../model/uplink.ts';
import { ScriptMachine } from '../../scripting/script-machine.ts';
import { type DecodedUplink, UplinkDecoder } from './decode-uplink.ts';

let machine: ScriptMachine;
let decode: UplinkDecoder['decode'];
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
  ({ decode } = new UplinkDecoder(machine, 65_536));
});
afterAll(() => machine.close());

const receivedAt = Date.parse('2026-03-01T10:00:00.000Z');

function uplinkOf(code: string | null, more: Partial<Uplink> = {}): Uplink {
  return {
    correlationId: 'c1',
    device: {
      id: '0200000000000001',
      deviceId: 'ABC',
      name: 'Sensor',
      description: null,
      organizationId: 'o',
      workspaceId: 'w',
      dataFlowId: 'f',
      customFields: { floor: 3, site: 'Bern' },
      tags: ['roof', 'indoor'],
    },
    script: code === null ? null : { code, tenant: 'o' },
    storedTopics: '*',
    keptDays: null,
    implausibleTimes: 'KEEP',
    receivedAt,
    topic: null,
    timestamp: null,
    body: { port: 2, payloadHex: '00c8' },
    bodyBytes: 30,
    ...more,
  };
}

const within = (body: string): string => `function consume(event) { ${body} }`;
const decoded = (
  body: string,
  more: Partial<Uplink> = {},
  state: JsonObject = {},
): Promise<DecodedUplink> => decode(uplinkOf(within(body), more), state);
const sample = (more: JsonObject) => ({
  deviceId: '0200000000000001',
  topic: 'default',
  timestamp: receivedAt,
  ...more,
});

describe('contract 15: the event of an uplink decoder', () => {
  test('has data, device, metrics, topic, timestamp and state', async () => {
    const { samples } = await decoded(
      'emit("sample", { data: { event } });',
      { topic: 'climate' },
      { count: 1 },
    );
    expect(samples[0]!.data['event']).toEqual({
      data: { port: 2, payloadHex: '00c8' },
      encoding: 'JSON',
      device: {
        id: '0200000000000001',
        deviceId: 'ABC',
        name: 'Sensor',
        description: null,
        customFields: { floor: 3, site: 'Bern' },
        tags: ['roof', 'indoor'],
      },
      uplinkMetrics: {
        uplinkId: 'c1',
        deviceId: '0200000000000001',
        uplinkSize: 30,
        timestamp: '2026-03-01T10:00:00.000Z',
        port: 2,
      },
      topic: 'climate',
      timestamp: '2026-03-01T10:00:00.000Z',
      state: { count: 1 },
    });
  });

  test('the timestamp is the one that was sent with the uplink; that of the metrics is the time of receipt', async () => {
    const { samples } = await decoded(
      'emit("sample", { data: { a: event.timestamp, b: event.uplinkMetrics.timestamp } });',
      {
        timestamp: 0,
      },
    );
    expect(samples[0]).toEqual(
      sample({
        timestamp: 0,
        data: { a: '1970-01-01T00:00:00.000Z', b: '2026-03-01T10:00:00.000Z' },
      }),
    );
  });

  test('an array as body becomes {values: [...]}', async () => {
    const { samples } = await decoded('emit("sample", { data: event.data });', {
      body: [1, { a: 2 }],
    });
    expect(samples).toEqual([sample({ data: { values: [1, { a: 2 }] } })]);
  });
});

describe('interface 2.10: samples', () => {
  const kept: [string, string, JsonObject][] = [
    ['data alone', '{ data: { a: 1 } }', { data: { a: 1 } }],
    ['a topic of its own', '{ data: {}, topic: "life cycle" }', { data: {}, topic: 'life cycle' }],
    ['a topic that is null', '{ data: {}, topic: null }', { data: {} }],
    ['a topic that is no text', '{ data: {}, topic: 12 }', { data: {}, topic: '12' }],
    ['meta', '{ data: {}, meta: { a: 1 } }', { data: {}, meta: { a: 1 } }],
    ['meta that is null', '{ data: {}, meta: null }', { data: {} }],
    ['a date', '{ data: {}, timestamp: new Date(5) }', { data: {}, timestamp: 5 }],
    [
      'an ISO text',
      '{ data: {}, timestamp: "2026-01-01T01:00:00+01:00" }',
      { data: {}, timestamp: Date.UTC(2026, 0, 1) },
    ],
    [
      'epoch milliseconds',
      '{ data: {}, timestamp: 1767225600007.9 }',
      { data: {}, timestamp: 1_767_225_600_007 },
    ],
    ['members of no meaning', '{ data: { a: 1 }, extra: 1 }', { data: { a: 1 } }],
  ];
  for (const [name, text, expected] of kept) {
    test(`kept: ${name}`, async () => {
      expect(await decoded(`emit("sample", ${text});`)).toMatchObject({
        samples: [sample(expected)],
        notes: [],
      });
    });
  }

  test('without a topic a sample has the topic of its uplink', async () => {
    const { samples } = await decoded(
      'emit("sample", { data: {} }); emit("sample", { data: {}, topic: "own" });',
      {
        topic: 'sent',
      },
    );
    expect(samples.map(({ topic }) => topic)).toEqual(['sent', 'own']);
  });

  for (const [timestamp, said] of [
    ['1767225600', 'seconds? send milliseconds'],
    ['1e20', 'microseconds or nanoseconds? send milliseconds'],
    ['-1', 'send milliseconds'],
  ] as const) {
    test(`behaviour 13: a sample with a timestamp of ${timestamp} is refused`, async () => {
      const { samples, notes } = await decoded(
        `emit("sample", { data: {}, timestamp: ${timestamp} });`,
      );
      expect(samples).toEqual([]);
      expect(notes).toMatchObject([
        { level: 'ERROR', source: 'SCRIPT', message: expect.stringContaining(said) },
      ]);
    });
  }

  for (const timestamp of [
    'new Date(NaN)',
    '"yesterday"',
    'NaN',
    'true',
    '{}',
    '"2026-02-31T00:00:00Z"',
  ]) {
    test(`a timestamp that is none is noted, and the sample keeps the uplink's: ${timestamp}`, async () => {
      const { samples, notes } = await decoded(
        `emit("sample", { data: {}, timestamp: ${timestamp} });`,
      );
      expect(samples).toEqual([sample({ data: {} })]);
      expect(notes.at(-1)).toMatchObject({
        level: 'WARN',
        source: 'SCRIPT',
        message: expect.stringContaining('timestamp'),
      });
    });
  }

  const malformed: [string, RegExp][] = [
    ['', /object/],
    ['"text"', /object/],
    ['[1]', /object/],
    ['{}', /data must be an object/],
    ['{ data: null }', /data must be an object/],
    ['{ data: [1] }', /data must be an object/],
    ['{ data: 5 }', /data must be an object/],
    ['{ data: {}, meta: 5 }', /meta must be an object/],
  ];
  for (const [text, message] of malformed) {
    test(`a malformed sample is noted and not used: ${text}`, async () => {
      const { samples, notes } = await decoded(
        `emit("sample"${text && ', '}${text}); emit("sample", { data: { ok: 1 } });`,
      );
      expect(samples).toEqual([sample({ data: { ok: 1 } })]);
      expect(notes).toEqual([
        expect.objectContaining({ level: 'ERROR', message: expect.stringMatching(message) }),
      ]);
    });
  }

  test('contract 16: numbers that are not finite become null with a warning; the text "NaN" stays', async () => {
    const { samples, notes } = await decoded(
      'emit("sample", { data: { a: NaN, b: "NaN", c: [1 / 0] } });',
    );
    expect(samples).toEqual([sample({ data: { a: null, b: 'NaN', c: [null] } })]);
    expect(notes).toEqual([
      expect.objectContaining({
        level: 'WARN',
        source: 'SCRIPT',
        details: { paths: ['data.a', 'data.c.0'] },
      }),
    ]);
  });
});

describe('interface 2.10: state, logs and errors', () => {
  const states: [string, JsonObject | undefined][] = [
    ['', undefined],
    ['emit("state", { n: event.state.n + 1 });', { n: 2 }],
    ['emit("state", { a: 1 }); emit("state", { b: 2 });', { b: 2 }],
    ['emit("state", null);', {}],
    ['emit("state", { a: 1 }); emit("state", [1]);', { a: 1 }],
    ['emit("state", { a: 1 }); throw 1;', { a: 1 }],
  ];
  for (const [body, state] of states) {
    test(`the last state wins: ${body || 'none'}`, async () => {
      const result = await decoded(body, {}, { n: 1 });
      expect(result.state).toEqual(state);
      expect('state' in result).toBe(state !== undefined);
    });
  }

  test('logs are omitted', async () => {
    expect(await decoded('emit("log", { a: 1 });')).toMatchObject({ samples: [], notes: [] });
  });

  test('contract 35: samples before an error are kept, and the error is a note with its place', async () => {
    const { samples, notes } = await decoded('emit("sample", { data: { a: 1 } });\n  null.x;');
    expect(samples).toEqual([sample({ data: { a: 1 } })]);
    expect(notes).toEqual([
      {
        level: 'ERROR',
        source: 'SCRIPT',
        message: "TypeError: cannot read property 'x' of null",
        details: { line: 2, column: 8 },
      },
    ]);
  });

  for (const type of ['downlink', 'action', 'timer']) {
    test(`emit of ${type} has no effect here, which is noted`, async () => {
      const { notes } = await decoded(`emit("${type}", {});`);
      expect(notes).toEqual([
        expect.objectContaining({ level: 'WARN', message: expect.stringContaining(type) }),
      ]);
    });
  }

  test('an unknown type, a missing consume, a syntax error: ERROR notes', async () => {
    expect((await decoded('emit("foo", {});')).notes[0]).toMatchObject({
      level: 'ERROR',
      message: 'invalid emit type foo',
    });
    expect((await decode(uplinkOf('let a;'), {})).notes[0]!.message).toMatch(
      /^consume is not defined/,
    );
    expect((await decode(uplinkOf('let a = ;'), {})).notes[0]).toMatchObject({
      details: { line: 1, column: 9 },
    });
  });
});

describe('contract 10: pass-through', () => {
  test('the body is the data, the topic and time are those of the uplink, no script runs', async () => {
    const uplink = uplinkOf(null, { body: { a: 1 }, topic: 'room.1', timestamp: 9 });
    expect(await decode(uplink, { ignored: true })).toEqual({
      samples: [sample({ data: { a: 1 }, topic: 'room.1', timestamp: 9 })],
      notes: [],
      processorMs: 0,
    });
    expect((await decode(uplinkOf(null, { body: [1, 2] }), {})).samples).toEqual([
      sample({ data: { values: [1, 2] } }),
    ]);
  });
});

test('a payload codec decodes an uplink; its warnings are notes', async () => {
  const codec = `function decodeUplink(input) {
    return { data: { t: (input.bytes[0] << 8 | input.bytes[1]) / 10, port: input.fPort }, warnings: ["low battery"] };
  }`;
  expect(await decode(uplinkOf(codec), {})).toEqual({
    samples: [sample({ data: { t: 20, port: 2 } })],
    notes: [{ level: 'WARN', source: 'SCRIPT', message: 'low battery' }],
    processorMs: expect.any(Number),
  });
});
