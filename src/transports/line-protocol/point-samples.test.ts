// Point samples: which device, topic and instant a point is of, and which points become one sample.
import { expect, test } from 'vitest';
import { lineProtocolDefaults, type LineProtocolMapping } from '../../model/connector.ts';
import { isColumns } from '../http/sample-groups.ts';
import { createLineReader, isFault, timeReader } from './line-reader.ts';
import { pointGroups, PointSamples } from './point-samples.ts';

const receivedAt = 1_700_000_000_123;

function samplesOf(
  lines: readonly string[],
  mapping: Partial<LineProtocolMapping> = {},
  precision = 'ms',
) {
  const readTime = timeReader(precision)!;
  const all = { ...lineProtocolDefaults, ...mapping };
  const points = new PointSamples({ mapping: all, readTime, receivedAt });
  const reader = createLineReader([lines.join('\n')]);
  const faults: string[] = [];
  for (let read = reader.next(); read !== undefined; read = reader.next()) {
    const fault = isFault(read) ? read : points.add(read, reader.line());
    if (fault !== undefined) faults.push(`${reader.line()} ${fault.reason}`);
  }
  return { samples: points.samples, faults };
}

const shown = (lines: readonly string[], mapping?: Partial<LineProtocolMapping>) =>
  samplesOf(lines, mapping).samples.map(({ deviceId, topic, timestamp, data, tags }) =>
    tags === undefined
      ? [deviceId, topic, timestamp, data]
      : [deviceId, topic, timestamp, data, tags],
  );

test.each([
  [
    'the first tag that is there names the device',
    'm,host=h,device=d v=1 5',
    ['d', 'default', 5, { v: 1 }, { host: 'h' }],
  ],
  ['the measurement is the topic', 'weather,host=h v=1 5', ['h', 'weather', 5, { v: 1 }]],
  [
    'a topic is made of letters and digits',
    'disk\\ io!,host=h v=1 5',
    ['h', 'disk_io', 5, { v: 1 }],
  ],
  ['a measurement without letters', '°C,host=h v=1 5', ['h', 'default', 5, { v: 1 }]],
  [
    'keys are made of letters and digits',
    'mem,host=h used\\ percent=1,_v=2,a.b=3,°=4 5',
    ['h', 'mem', 5, { used_percent: 1, v: 2, 'a.b': 3, value: 4 }],
  ],
  ['no time is the time of receipt', 'mem,host=h v=1', ['h', 'mem', receivedAt, { v: 1 }]],
])('%s', (_, line, expected) => {
  expect(shown([line])).toEqual([expected]);
});

test('templates join tags; their tags are not repeated in the meta', () => {
  const mapping = { device: ['{domain}.{entity_id}'], topic: 'default' };
  const line = '°C,domain=sensor,entity_id=roof,friendly_name=Roof value=21.5 5';
  expect(shown([line], mapping)).toEqual([
    ['sensor.roof', 'default', 5, { value: 21.5 }, { friendly_name: 'Roof' }],
  ]);
  expect(shown(['cpu,host=a,room=r1 v=1 5'], { topic: '{room}' })).toEqual([
    ['a', 'r1', 5, { v: 1 }],
  ]);
});

test('points of one device, topic, tags and instant are one sample; the last of a field wins', () => {
  const lines = [
    'env,host=a x=1 5',
    'env,host=a y=2 6',
    'env,host=a y=3 5',
    'env,host=a x=4 5',
    'env,host=b x=9 5',
  ];
  expect(shown(lines)).toEqual([
    ['a', 'env', 5, { x: 4, y: 3 }],
    ['a', 'env', 6, { y: 2 }],
    ['b', 'env', 5, { x: 9 }],
  ]);
});

test('points that differ in a tag, or bring the same field from two measurements, stay apart', () => {
  expect(shown(['cpu,host=a,cpu=0 v=1 5', 'cpu,host=a,cpu=1 v=2 5'])).toEqual([
    ['a', 'cpu', 5, { v: 1 }, { cpu: '0' }],
    ['a', 'cpu', 5, { v: 2 }, { cpu: '1' }],
  ]);
  const fixed = { topic: 'default' };
  expect(shown(['cpu,host=a v=1 5', 'mem,host=a v=2 5', 'mem,host=a w=3 5'], fixed)).toEqual([
    ['a', 'default', 5, { v: 1 }],
    ['a', 'default', 5, { v: 2, w: 3 }],
  ]);
});

test('times of one millisecond that differ in nanoseconds stay apart', () => {
  const { samples } = samplesOf(['env,host=a v=1 1000001', 'env,host=a v=2 1000002'], {}, 'ns');
  expect(samples.map(({ timestamp, data }) => [timestamp, data])).toEqual([
    [1, { v: 1 }],
    [1, { v: 2 }],
  ]);
});

test('points that do not become samples are reported', () => {
  const lines = [
    'env v=1 5',
    'env,host=a v=1 x',
    'env,host=a v=1 1.5',
    'env,host=a v=1 999999999999999999',
  ];
  expect(samplesOf(lines).faults).toEqual([
    '1 no tag identifies a device',
    '2 bad timestamp',
    '3 bad timestamp',
    '4 bad timestamp',
  ]);
});

test.each([
  ['ns', '1700000000123456789', 1_700_000_000_123],
  ['n', '-1', -1],
  ['n', '-1000000', -1],
  ['n', '-0', 0],
  ['u', '1700000000123456', 1_700_000_000_123],
  ['us', '1700000000123456', 1_700_000_000_123],
  ['ms', '1700000000123', 1_700_000_000_123],
  ['s', '1700000000', 1_700_000_000_000],
  ['m', '60', 3_600_000],
  ['h', '-1', -3_600_000],
])('a time in %s', (precision, text, expected) => {
  expect(timeReader(precision)!(text)).toBe(expected);
});

test('samples of one form come as columns, others as elements', () => {
  const lines = Array.from(
    { length: 1_500 },
    (_, i) => `env,host=h${i % 3} v=${i}.5,on=t,s="a${i % 2}" ${i}`,
  );
  const groups = [...pointGroups(samplesOf(lines).samples)];
  expect(groups.map((group) => [isColumns(group), group.length])).toEqual([
    [true, 1_000],
    [true, 500],
  ]);
  const [first] = groups;
  if (first === undefined || !isColumns(first)) throw new Error('no columns');
  expect(first.columns.map((column) => column[1])).toEqual([1.5, 1, first.texts.indexOf('a1')]);
  expect(first).toMatchObject({ topic: 'env', kinds: ['number', 'boolean', 'text'] });
  for (const other of [
    'env,host=a,room=r v=1 9',
    'env,host=a w=1 9',
    'net,host=a v=1.5,on=t,s="x" 9',
    'env,host=a v=9007199254740993i,on=t,s="x" 9',
  ])
    expect(
      [...pointGroups(samplesOf([...lines.slice(0, 20), other]).samples)].map(isColumns),
    ).toEqual([false]);
});
