// Edge node: births, aliases, sequence numbers and deaths, as the messages of one connection bring them.
import proto from 'sparkplug-payload/lib/sparkplugPayloadProto.js';
import { describe, expect, test } from 'vitest';
import { dataKeyOf } from './birth.ts';
import { EdgeNode, type TakenMessage } from './edge-node.ts';
import { sparkplugTopicOf } from './sparkplug-topic.ts';

const { Payload } = proto.org.eclipse.tahu.protobuf;
const now = 1_767_571_200_000;

type Sent = Record<string, unknown>;

function send(
  node: EdgeNode,
  type: string,
  metrics: readonly Sent[],
  more: Sent = {},
): TakenMessage {
  const device = type.startsWith('D') ? '/pump' : '';
  const topic = sparkplugTopicOf(`spBv1.0/plant/${type}/edge${device}`);
  const message = { metrics, ...more } as unknown as Parameters<typeof Payload.encode>[0];
  return node.take(topic!, Buffer.from(Payload.encode(message).finish()), now);
}

const values = ({ readings }: TakenMessage) =>
  Object.fromEntries(readings.map(({ key, name, value }) => [key ?? `(${name})`, value]));

const int32 = 3;
const birth = [
  { name: 'Temp/Oil', alias: 1, datatype: int32, intValue: 20 },
  { name: 'Node Control/Rebirth', datatype: 11, booleanValue: false },
  { name: 'bdSeq', datatype: 8, longValue: 4 },
];

test('a message has its values by alias, with the types of the birth', () => {
  const node = new EdgeNode();
  expect(values(send(node, 'NBIRTH', birth, { seq: 0 }))).toEqual({
    'Temp.Oil': 20,
    '(Node Control/Rebirth)': false,
    '(bdSeq)': 4,
  });
  const data = send(node, 'NDATA', [{ alias: 1, intValue: 4_294_967_295 }], { seq: 1 });
  expect(values(data)).toEqual({ 'Temp.Oil': -1 });
  expect(data).toMatchObject({ missing: undefined, faults: [] });
});

test('times are those of the metric, else of the message, else of the receipt', () => {
  const node = new EdgeNode();
  send(node, 'NBIRTH', birth, { seq: 0 });
  const times = (metric: Sent, more: Sent) =>
    send(node, 'NDATA', [{ alias: 1, intValue: 1, ...metric }], more).readings[0]?.timestamp;
  const [own, sent] = [now - 2_000, now - 1_000];
  expect(times({ timestamp: own }, { seq: 1, timestamp: sent })).toBe(own);
  expect(times({}, { seq: 2, timestamp: sent })).toBe(sent);
  expect(times({}, { seq: 3 })).toBe(now);
});

describe('births are asked for', () => {
  const start = () => {
    const node = new EdgeNode();
    send(node, 'NBIRTH', birth, { seq: 255 });
    return node;
  };
  test.each<[string, EdgeNode, string, readonly Sent[], Sent, RegExp | undefined]>([
    ['not after the last number', start(), 'NDATA', [], { seq: 0 }, undefined],
    ['after a gap', start(), 'NDATA', [], { seq: 2 }, /number 2, expected 0/],
    ['for an unknown alias', start(), 'NDATA', [{ alias: 9, intValue: 1 }], { seq: 0 }, /alias 9/],
    ['for data before the birth', new EdgeNode(), 'NDATA', birth, { seq: 0 }, /before the birth/],
    [
      'for a device before its node',
      new EdgeNode(),
      'DBIRTH',
      birth,
      { seq: 0 },
      /before the edge node birth/,
    ],
    [
      'for data of a device that was not born',
      start(),
      'DDATA',
      birth,
      { seq: 0 },
      /before the birth/,
    ],
  ])('%s', (_, node, type, metrics, more, reason) => {
    const { missing } = send(node, type, metrics, more);
    if (reason === undefined) expect(missing).toBeUndefined();
    else expect(missing).toMatch(reason);
  });

  test('and the values of the others are still read', () => {
    const node = start();
    const metrics = [
      { alias: 9, intValue: 1 },
      { alias: 1, intValue: 21 },
    ];
    expect(values(send(node, 'NDATA', metrics, { seq: 5 }))).toEqual({ 'Temp.Oil': 21 });
  });
});

test('a death of an earlier session changes nothing, and one of this session ends all', () => {
  const node = new EdgeNode();
  send(node, 'NBIRTH', birth, { seq: 0 });
  send(node, 'DBIRTH', birth, { seq: 1 });
  const old = send(node, 'NDEATH', [{ name: 'bdSeq', datatype: 8, longValue: 3 }]);
  expect(old).toMatchObject({ gone: [], faults: [expect.stringMatching(/stale death/)] });
  expect(node.born()).toEqual([undefined, 'pump']);
  const death = send(node, 'NDEATH', [{ name: 'bdSeq', datatype: 8, longValue: 4 }]);
  expect(death.gone).toEqual([undefined, 'pump']);
  expect(node.born()).toEqual([]);
});

test('a device that is gone needs its birth again', () => {
  const node = new EdgeNode();
  send(node, 'NBIRTH', birth, { seq: 0 });
  send(node, 'DBIRTH', birth, { seq: 1 });
  expect(send(node, 'DDEATH', [], { seq: 2 }).gone).toEqual(['pump']);
  expect(send(node, 'DDEATH', [], { seq: 3 }).gone).toEqual([]);
  expect(send(node, 'DDATA', [], { seq: 4 }).missing).toMatch(/before the birth/);
});

test('templates are values of their members, and definitions are not', () => {
  const node = new EdgeNode();
  const template = (metrics: readonly Sent[], isDefinition = false) => ({
    datatype: 19,
    templateValue: { templateRef: 'Motor', isDefinition, metrics },
  });
  const members = [{ name: 'RPM', datatype: int32, intValue: 900 }];
  const born = [
    { name: '_types_/Motor', ...template(members, true) },
    { name: 'Motor 1', alias: 7, ...template(members) },
  ];
  expect(values(send(node, 'NBIRTH', born, { seq: 0 }))).toEqual({ 'Motor_1.RPM': 900 });
  const data = [{ alias: 7, templateValue: { metrics: [{ name: 'RPM', intValue: 901 }] } }];
  expect(values(send(node, 'NDATA', data, { seq: 1 }))).toEqual({ 'Motor_1.RPM': 901 });
});

test('null, historical and transient values, units and properties', () => {
  const node = new EdgeNode();
  const properties = {
    keys: ['engUnit', 'Quality'],
    values: [
      { type: 12, stringValue: 'bar' },
      { type: 3, intValue: 192 },
    ],
  };
  const born = [{ name: 'p', alias: 1, datatype: 10, doubleValue: 1.5, properties }];
  expect(send(node, 'NBIRTH', born, { seq: 0 }).readings[0]).toMatchObject({
    key: 'p',
    type: 'Double',
    value: 1.5,
    unit: 'bar',
    properties: { engUnit: 'bar', Quality: 192 },
  });
  const sent = [
    { alias: 1, isNull: true, isHistorical: true },
    { alias: 1, isTransient: true, doubleValue: 2 },
  ];
  expect(send(node, 'NDATA', sent, { seq: 1 }).readings).toMatchObject([
    { value: null, isHistorical: true, isTransient: false, unit: 'bar' },
    { value: 2, isHistorical: false, isTransient: true },
  ]);
});

test.each([
  ['Temp/Oil', 'Temp.Oil'],
  ['a b//c', 'a_b.c'],
  ['/°C/', 'C'],
  ['v1.2-x_y', 'v1.2-x_y'],
  ['--', 'value'],
])('the metric %j has the data key %s', (name, key) => {
  expect(dataKeyOf(name)).toBe(key);
});

test('names with the same key get numbers, which is noted once', () => {
  const node = new EdgeNode();
  const metrics = ['a b', 'a_b', 'a-b', 'a+b'].map((name) => ({
    name,
    datatype: int32,
    intValue: 1,
  }));
  const taken = send(node, 'NBIRTH', metrics, { seq: 0 });
  expect(Object.keys(values(taken))).toEqual(['a_b', 'a_b_2', 'a-b', 'a_b_3']);
  expect(taken.faults).toHaveLength(2);
});

test('many equal keys are found quickly, and their faults are counted', () => {
  const metrics = Array.from({ length: 15_000 }, (_, i) => ({
    name: String.fromCodePoint(0x4e00 + i),
    datatype: int32,
  }));
  const startedAt = performance.now();
  const taken = send(new EdgeNode(), 'NBIRTH', metrics, { seq: 0 });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(taken.faultCount).toBe(14_999);
  expect(taken.faults).toHaveLength(10);
});

test('what is beyond the limits is refused, and the births before stay', () => {
  const node = new EdgeNode();
  send(node, 'NBIRTH', birth, { seq: 0 });
  const many = Array.from({ length: 20_001 }, (_, i) => ({ name: `m${i}`, datatype: int32 }));
  expect(send(node, 'DBIRTH', many, { seq: 1 }).faults).toEqual([
    expect.stringMatching(/20000 metrics/),
  ]);
  expect(node.born()).toEqual([undefined]);
});

test('security 1: a metric whose name is too long is a fault, and the others are read', () => {
  const node = new EdgeNode();
  send(node, 'NBIRTH', birth, { seq: 0 });
  const metrics = [
    { name: 'n'.repeat(501), datatype: int32, intValue: 1 },
    { name: 'good', datatype: int32, intValue: 2 },
  ];
  const taken = send(node, 'DBIRTH', metrics, { seq: 1 });
  expect(taken.faults).toEqual([expect.stringMatching(/has 501 characters; up to 500.*: n{40}…$/)]);
  expect(taken.readings.map(({ name }) => name)).toEqual(['good']);
});

test('bytes that are not a payload are a fault', () => {
  const topic = sparkplugTopicOf('spBv1.0/plant/NBIRTH/edge')!;
  const taken = new EdgeNode().take(topic, Buffer.from('{"a":1}'), now);
  expect(taken).toMatchObject({
    payload: undefined,
    readings: [],
    faults: [expect.stringMatching(/byte/)],
  });
});
