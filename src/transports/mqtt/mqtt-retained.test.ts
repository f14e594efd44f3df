// Retained messages: the last one of each topic, within the limits of memory.
import { expect, test } from 'vitest';
import { mqttLimits } from './mqtt-limits.ts';
import { Retained } from './mqtt-retained.ts';
import type { TopicFilter } from './mqtt-topic.ts';

const everything: TopicFilter = {
  direction: 'up',
  slash: '/',
  key: 'secret',
  deviceId: 'd',
  levels: ['#'],
};
const message = (payload: Buffer, level = 'x') => ({ levels: [level], payload, qos: 0 as const });

test('a message keeps nothing else of what arrived with it', () => {
  const retained = new Retained();
  const arrived = Buffer.alloc(64 * 1024, 1);
  retained.keep('d', 'up', message(arrived.subarray(10, 12)));
  const [kept] = retained.of('d', everything);
  expect(kept?.payload).toEqual(Buffer.from([1, 1]));
  expect(kept?.payload.buffer.byteLength).toBe(2);
});

test('small messages count with the memory of their entries; the device that is oldest is evicted', () => {
  const retained = new Retained();
  const devices = mqttLimits.retainedBytesMax / 256 + 10;
  for (let i = 0; i < devices; i++) retained.keep(`d${i}`, 'up', message(Buffer.from([1])));
  expect(retained.bytes).toBeLessThanOrEqual(mqttLimits.retainedBytesMax);
  expect([retained.of('d0', everything), retained.of(`d${devices - 1}`, everything)]).toEqual([
    [],
    [message(Buffer.from([1]))],
  ]);
});

test('the last message of a topic replaces the one before; an empty one removes it; nothing is left of a device', () => {
  const retained = new Retained();
  for (const text of ['one', 'two']) retained.keep('d', 'up', message(Buffer.from(text)));
  retained.keep('d', 'up', message(Buffer.from('other'), 'y'));
  expect(retained.of('d', everything).map(({ payload }) => payload.toString())).toEqual([
    'two',
    'other',
  ]);
  retained.keep('d', 'up', message(Buffer.alloc(0)));
  expect(retained.of('d', everything)).toHaveLength(1);
  for (let i = 0; i < mqttLimits.retainedPerDeviceMax + 5; i++)
    retained.keep('d', 'up', message(Buffer.from('p'), `t${i}`));
  expect(retained.of('d', everything)).toHaveLength(mqttLimits.retainedPerDeviceMax);
  retained.forget('d');
  expect([retained.bytes, retained.of('d', everything)]).toEqual([0, []]);
});

test('security 2: retained messages of the organization that holds most give way, and no others', () => {
  const retained = new Retained((id) => (id === 'quiet' ? 'B' : 'A'));
  const large = Buffer.alloc(900 * 1024);
  retained.keep('quiet', 'up', message(Buffer.from([1])));
  for (let i = 0; i < 40; i++) retained.keep(`loud ${i}`, 'up', message(large));
  expect(retained.bytes).toBeLessThanOrEqual(mqttLimits.retainedBytesMax);
  const kept = ['quiet', 'loud 0', 'loud 39'].map((id) => retained.of(id, everything).length);
  expect(kept).toEqual([1, 0, 1]);
});
