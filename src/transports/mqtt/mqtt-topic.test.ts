// Topics of devices: what is read from them, and that no filter reaches another device, whatever wildcards it holds.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { downLevelsOf, levelsMatch, topicFilterOf, topicText, upTopicOf } from './mqtt-topic.ts';

for (const [topic, expected] of [
  ['/up/s/id/d', { key: 's', deviceId: 'd', levels: [] }],
  ['up/s/id/d', { key: 's', deviceId: 'd', levels: [] }],
  ['/up/s/id/d/', { key: 's', deviceId: 'd', levels: [] }],
  ['/up/device/id/d/a/b', { key: 'device', deviceId: 'd', levels: ['a', 'b'] }],
  ['/up/s/id/d//a', { key: 's', deviceId: 'd', levels: ['a'] }],
  ['//up/s/id/d', undefined],
  ['/up/s/id', undefined],
  ['/up/s/id/', undefined],
  ['/up//id/d', undefined],
  ['/up/s/ID/d', undefined],
  ['/down/s/id/d', undefined],
  ['/up/s/id/d/+', undefined],
  ['/up/s/id/#', undefined],
  ['', undefined],
] as const) {
  test(`contract 18: a publish on "${topic}" is ${expected === undefined ? 'of no device' : 'read'}`, () => {
    const parsed = upTopicOf(topic);
    expect(parsed && { key: parsed.key, deviceId: parsed.deviceId, levels: parsed.levels }).toEqual(
      expected,
    );
  });
}

const level = fc.constantFrom(
  'up',
  'down',
  'id',
  'device',
  's',
  'd',
  'e',
  'a',
  '+',
  '#',
  '',
  '+a',
  '$SYS',
);
const anyFilter = fc.array(level, { minLength: 1, maxLength: 8 }).map((levels) => levels.join('/'));

/** What MQTT says of a filter and a topic (4.7), written as a search. */
function matches(filter: string, topic: string): boolean {
  const walk = (f: readonly string[], t: readonly string[]): boolean => {
    if (f[0] === '#') return true;
    if (f.length === 0 || t.length === 0) return f.length === t.length;
    return (f[0] === '+' || f[0] === t[0]) && walk(f.slice(1), t.slice(1));
  };
  return walk(filter.split('/'), topic.split('/'));
}

test('a filter that is granted matches topics of its own device only', () => {
  const topic = fc.tuple(
    fc.constantFrom('/', ''),
    fc.constantFrom('up', 'down'),
    fc.constantFrom('s', 't'),
    fc.constantFrom('d', 'e'),
  );
  fc.assert(
    fc.property(
      anyFilter,
      topic,
      fc.array(fc.constantFrom('a', 'b', 'd')),
      (text, [slash, direction, key, id], levels) => {
        const filter = topicFilterOf(text);
        const full = [`${slash}${direction}`, key, 'id', id, ...levels].join('/');
        if (filter === undefined || !matches(text, full)) return;
        expect([filter.key, filter.deviceId, filter.direction]).toEqual([key, id, direction]);
        // What is sent over it arrives under a topic that the client's own filter matches.
        expect(levelsMatch(filter.levels, levels)).toBe(true);
        expect(topicText(filter, levels)).toBe(full);
      },
    ),
    { numRuns: 5_000 },
  );
});

test('matching levels is matching topics', () => {
  const some = fc.array(fc.constantFrom('a', 'b', '+'), { maxLength: 4 });
  fc.assert(
    fc.property(
      some,
      fc.boolean(),
      fc.array(fc.constantFrom('a', 'b'), { maxLength: 5 }),
      (levels, open, topic) => {
        const filter = open ? [...levels, '#'] : levels;
        expect(levelsMatch(filter, topic)).toBe(
          matches(['x', ...filter].join('/'), ['x', ...topic].join('/')),
        );
      },
    ),
  );
});

for (const [topic, levels] of [
  ['command', ['command']],
  ['/command', ['command']],
  ['//a/b', ['a', 'b']],
  ['a/+', undefined],
  ['#', undefined],
  ['a\0', undefined],
  ['a/b/c/d', undefined],
] as const) {
  test(`contract 17: a message on ${JSON.stringify(topic)} goes to ${JSON.stringify(levels) ?? 'nobody'}`, () => {
    expect(downLevelsOf(topic, 3)).toEqual(levels);
  });
}
