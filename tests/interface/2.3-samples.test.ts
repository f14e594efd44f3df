// Interface 2.3: topics, data keys and uplink metrics of samples, from the payload to the query and the processing log.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyTime, anyUuid } from '../world/expectations.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';
import { processorMs } from '../../src/structures/testing-processor-time.ts';

// Emits what the payload asks for.
const script = `function consume(event) { for (const sample of event.data.emit) emit('sample', sample); }`;

let world: World;
let scripted: TestDevice;
let passing: TestDevice;
beforeAll(async () => {
  world = await startWorld();
  scripted = await world.device({ name: 'scripted', script });
  passing = await world.device({ name: 'passing' });
});
afterAll(() => world.close());

interface Emitted {
  readonly samples: {
    topic: string;
    data: object;
    meta?: Record<string, never>;
    timestamp: string;
  }[];
  readonly log: {
    level: string;
    source: string;
    message: string;
    correlationId: string;
    details: object | null;
  }[];
}

let second = 0;
/**
 * The stored samples, newest first; every call has its own time so that it reads only its own
 * samples.
 */
async function emitted(...samples: object[]): Promise<Emitted> {
  const timestamp = new Date(Date.UTC(2026, 0, 1) + 1_000 * second++).toISOString();
  const { status, body } = await world.capture(scripted, { emit: samples }, { timestamp });
  expect(status).toBe(201);
  const query = { topic: '*', timestamp: { gte: timestamp, lte: timestamp } };
  const stored = await world.must('POST', `/v3/devices/${scripted.id}/query`, query);
  const log = await world.must('GET', `/v3/devices/${scripted.id}/processing-logs?size=100`);
  return {
    samples: stored,
    log: log.content.filter((entry: { correlationId: string }) => entry.correlationId === body.id),
  };
}

describe('topic validation', () => {
  const valid = [
    'default',
    'climate',
    'occupancy.1',
    'life-cycle',
    'life_cycle',
    'a1:b',
    'ab.c-d_e:f',
    '12',
    'aB',
    'ab1.2',
    'ab.c',
  ];
  const invalid = [
    'a',
    '.ab',
    'ab.',
    '-ab',
    'ab_',
    'ab..c',
    'ab.-c',
    'a.b',
    'life cycle',
    'ab/c',
    'ab$',
    'température',
    '温度',
    '',
  ];
  test('a valid topic is kept, without a note', async () => {
    const { samples, log } = await emitted(...valid.map((topic) => ({ data: { a: 1 }, topic })));
    expect(samples.map(({ topic }) => topic).sort()).toEqual([...valid].sort());
    expect(samples.filter(({ meta }) => meta !== undefined)).toEqual([]);
    expect(log).toEqual([]);
  });
  test('an invalid one becomes default, meta.svcTopicValidation names it, a warning is logged', async () => {
    const { samples, log } = await emitted(
      ...invalid.map((topic, at) => ({ data: { at }, topic })),
    );
    // Samples of one instant are returned in reverse order of storing.
    expect(samples.toReversed()).toEqual(
      invalid.map((topic, at) => ({
        timestamp: anyTime,
        deviceId: scripted.id,
        svcDeviceId: scripted.id,
        topic: 'default',
        data: { at },
        meta: { svcTopicValidation: { message: expect.stringContaining(topic) } },
      })),
    );
    expect(log).toHaveLength(invalid.length);
    for (const entry of log) expect(entry).toMatchObject({ level: 'WARN', source: 'UPLINK' });
  });
  test('28 letters and a ! are validated immediately', async () => {
    const topic = `${'a'.repeat(28)}!`;
    const before = processorMs();
    const { samples } = await emitted({ data: { a: 1 }, topic });
    expect(samples).toMatchObject([{ topic: 'default' }]);
    expect(processorMs() - before).toBeLessThan(1_500);
  });
  test('without a topic: that of the uplink, else default', async () => {
    expect((await emitted({ data: { a: 1 } })).samples).toMatchObject([{ topic: 'default' }]);
    await world.capture(passing, { here: 1 }, { topic: 'climate' });
    expect(
      await world.must('POST', `/v3/devices/${passing.id}/query`, { topic: 'climate' }),
    ).toMatchObject([{ topic: 'climate', data: { here: 1 } }]);
  });
});

describe('data key validation', () => {
  const valid = [
    'a',
    '1',
    'temperature',
    'co2Level',
    'a.b',
    'a_b',
    'a-b',
    'a.b-c_d',
    '1a',
    'A',
    'indoor.temperature.1',
  ];
  const invalid = [
    '_',
    '_a',
    'a_',
    '.a',
    'a.',
    'a..b',
    'a b',
    'a!',
    'a._b',
    'é',
    '°C',
    'a/b',
    '-',
    '',
  ];
  test('valid keys are kept, and a dot makes no nested object', async () => {
    const data = Object.fromEntries(valid.map((key, at) => [key, at]));
    const { samples, log } = await emitted({ data });
    expect(samples).toMatchObject([{ data }]);
    expect(samples[0]!.meta).toBeUndefined();
    expect(log).toEqual([]);
  });
  test('an invalid key is removed; meta.svcDataKeyValidation has message and value; a warning each', async () => {
    const data = Object.fromEntries([...valid, ...invalid].map((key, at) => [key, at]));
    const { samples, log } = await emitted({ data, meta: { own: true } });
    expect(samples[0]!.data).toEqual(Object.fromEntries(valid.map((key, at) => [key, at])));
    expect(samples[0]!.meta).toEqual({
      own: true,
      svcDataKeyValidation: Object.fromEntries(
        invalid.map((key, at) => [
          key,
          { message: expect.stringContaining(key), value: valid.length + at },
        ]),
      ),
    });
    expect(log).toHaveLength(invalid.length);
    for (const entry of log)
      expect(entry).toEqual({
        id: anyUuid,
        timestamp: anyTime,
        level: 'WARN',
        source: 'UPLINK',
        message: expect.stringMatching(/\S/),
        correlationId: anyUuid,
        details: { path: expect.any(String) },
      });
  });
  test('in nested objects and in lists by dotted path; valid sibling keys remain', async () => {
    const { samples } = await emitted({
      data: { foo: { bar: { ok: 1, 'not ok': { deep: [2] } } }, list: [{ fine: 3, 'bad!': 4 }, 5] },
    });
    expect(samples[0]!.data).toEqual({ foo: { bar: { ok: 1 } }, list: [{ fine: 3 }, 5] });
    expect(samples[0]!.meta).toEqual({
      svcDataKeyValidation: {
        'foo.bar.not ok': { message: expect.any(String), value: { deep: [2] } },
        'list.0.bad!': { message: expect.any(String), value: 4 },
      },
    });
  });
  test('contract 35: pass-through samples are validated and read for uplink metrics like scripted ones', async () => {
    await world.capture(passing, { 'bad key': 1, good: 2, batteryLevel: 37, signalQuality: 2 });
    const [sample] = await world.must('POST', `/v3/devices/${passing.id}/query`, { limit: 1 });
    expect(sample.data).toEqual({ good: 2, batteryLevel: 37, signalQuality: 2 });
    expect(sample.meta.svcDataKeyValidation['bad key'].value).toBe(1);
    const { uplinkMetrics } = await world.must('GET', `/v3/devices/${passing.id}`);
    expect(uplinkMetrics).toMatchObject({
      batteryLevel: 37,
      batteryLevelStatus: 'LOW',
      sqi: 2,
      signalQuality: 'MEDIUM',
    });
  });
});

describe('uplink metrics reported from samples', () => {
  for (const [data, metrics] of [
    [{ sqi: 1 }, { sqi: 1, signalQuality: 'BAD' }],
    [{ signalQuality: 2 }, { sqi: 2, signalQuality: 'MEDIUM' }],
    [{ signalQualityIndicator: 3 }, { sqi: 3, signalQuality: 'GOOD' }],
    [{ batteryLevel: 91 }, { batteryLevel: 91, batteryLevelStatus: 'GOOD' }],
    [{ batteryLevel: 60 }, { batteryLevel: 60, batteryLevelStatus: 'MEDIUM' }],
    [{ batteryLevel: 37 }, { batteryLevel: 37, batteryLevelStatus: 'LOW' }],
    [{ batteryLevel: 0 }, { batteryLevel: 0, batteryLevelStatus: 'LOW' }],
  ] as const)
    test(JSON.stringify(data), async () => {
      const { samples } = await emitted({ data, topic: 'lifecycle' });
      expect(samples).toMatchObject([{ data }]);
      expect((await world.must('GET', `/v3/devices/${scripted.id}`)).uplinkMetrics).toMatchObject(
        metrics,
      );
    });

  for (const data of [
    { sqi: 4 },
    { sqi: 'GOOD' },
    { batteryLevel: 101 },
    { batteryLevel: -1 },
    { batteryLevel: 'full' },
  ])
    test(`out of range is data, but no metric: ${JSON.stringify(data)}`, async () => {
      await emitted({ data: { sqi: 2, batteryLevel: 50 } });
      expect((await emitted({ data })).samples).toMatchObject([{ data }]);
      const { sqi, batteryLevel } = (await world.must('GET', `/v3/devices/${scripted.id}`))
        .uplinkMetrics;
      expect([2, null]).toContain(sqi);
      expect([50, null]).toContain(batteryLevel);
    });
});

describe('timestamps', () => {
  for (const [sent, stored] of [
    ['2022-05-25T17:36:22Z', '2022-05-25T17:36:22.000Z'],
    ['2022-05-25T17:36:22.000+00:00', '2022-05-25T17:36:22.000Z'],
    ['2022-05-25T19:36:22.123456789+02:00', '2022-05-25T17:36:22.123Z'],
  ] as const)
    test(`emitted as ${sent}`, async () => {
      await world.capture(scripted, {
        emit: [{ data: { at: sent }, timestamp: sent, topic: 'times' }],
      });
      const found = await world.must('POST', `/v3/devices/${scripted.id}/query`, {
        topic: 'times',
      });
      expect(found).toContainEqual(
        expect.objectContaining({ timestamp: stored, data: { at: sent } }),
      );
    });
  test('defaults to the time of receipt', async () => {
    const { body } = await world.capture(passing, { now: 1 });
    const [sample] = await world.must('POST', `/v3/devices/${passing.id}/query`, { limit: 1 });
    expect(sample).toMatchObject({ timestamp: body.timestamp, data: { now: 1 } });
  });
});

describe('contract 27: the processing log', () => {
  const read = (query: string) =>
    world.must('GET', `/v3/devices/${passing.id}/processing-logs?${query}`);
  test('newest first, pages, level, from and to', async () => {
    const before = (await read('')).totalElements;
    await world.capture(passing, { 'bad 1': 1 });
    const { body } = await world.capture(passing, { 'bad 2': 1 });
    const { content, totalElements } = await read('size=1');
    expect(totalElements).toBe(before + 2);
    expect(content).toMatchObject([
      { message: expect.stringContaining('bad 2'), correlationId: body.id },
    ]);
    expect((await read('level=ERROR')).content).toEqual([]);
    expect((await read('level=WARN')).totalElements).toBe(before + 2);
    expect((await read(`from=${body.timestamp}`)).content[0].message).toContain('bad 2');
    expect((await read('to=2020-01-01T00:00:00Z')).totalElements).toBe(0);
  });
});
