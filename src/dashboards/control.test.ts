// Control: the value is a member of the payload, and only what the input takes is sent.
import { expect, test } from 'vitest';
import { downlinkWith, enteredValue } from './control.ts';

test('the value stands in the payload of the carrier beside what the tile sends', () => {
  const input = { key: 'level', kind: 'NUMBER' } as const;
  expect(downlinkWith({ mqttDownlink: { topic: 'a', payload: { pump: 1 } } }, input, 3)).toEqual({
    mqttDownlink: { topic: 'a', payload: { pump: 1, level: 3 } },
  });
  expect(downlinkWith({ raw: true, loraDownlink: { port: 2 } }, input, 3)).toEqual({
    raw: true,
    loraDownlink: { port: 2, payload: { level: 3 } },
  });
  const other = { loraDownlink: { payload: { a: 1 } } };
  expect(downlinkWith(other, null, undefined)).toBe(other);
  // A key such as this one is a member, not the prototype.
  const named = downlinkWith({ mqttDownlink: {} }, { key: '__proto__', kind: 'TEXT' }, 'x');
  expect(JSON.stringify(named)).toBe('{"mqttDownlink":{"payload":{"__proto__":"x"}}}');
});

test.each([
  ['NUMBER', {}, '2.5', 2.5],
  ['NUMBER', {}, '', undefined],
  ['NUMBER', {}, 'x', undefined],
  ['NUMBER', {}, '1e999', undefined],
  ['NUMBER', { min: 0, max: 10 }, '10', 10],
  ['NUMBER', { min: 0, max: 10 }, '10.1', undefined],
  ['NUMBER', { min: 0, max: 10 }, '-1', undefined],
  ['SWITCH', {}, 'true', true],
  ['SWITCH', {}, '', false],
  ['CHOICE', { options: ['eco', 'full'] }, 'eco', 'eco'],
  ['CHOICE', { options: ['eco', 'full'] }, 'other', undefined],
  ['TEXT', {}, 'hello', 'hello'],
  ['TEXT', {}, '', undefined],
] as const)('%s with %o takes "%s" as %s', (kind, limits, entered, value) => {
  const { options, ...ends } = { options: undefined, ...limits };
  const input = { key: 'x', kind, ...ends, ...(options && { options: [...options] }) };
  expect(enteredValue(input, entered)).toBe(value);
});
