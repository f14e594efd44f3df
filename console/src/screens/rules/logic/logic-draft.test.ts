// Logic drafts: what was read is sent back unchanged, and values keep their type.
import { expect, test } from 'vitest';
import { bodyOf, draftOf, exampleEvent, type Logic, newLogic, valueOf } from './logic-draft.ts';

const source = {
  name: 'value',
  variableName: 'value',
  description: null,
  defaultTopic: 'default',
  defaultDataKey: 'temperature',
  lastSample: true,
  triggerOnUplink: false,
};
const property = {
  name: 'limit',
  variableName: 'limit',
  description: 'Degrees',
  defaultValue: 25,
  type: 'NUMERICAL',
};
const saved = { name: 'Heat', description: null, dataSources: [source], properties: [property] };

test('a block that is only read and saved stays the same', () => {
  const logic = { ...saved, script: 'function consume() {}' };
  expect(bodyOf(draftOf(logic as unknown as Logic))).toEqual(logic);
});

test.each([
  ['NUMERICAL', '2.5', 2.5],
  ['NUMERICAL', 'warm', 'warm'],
  ['BOOLEAN', 'false', false],
  ['STRING', '25', '25'],
  ['STRING', '', null],
] as const)('%s %s', (type, defaultValue, value) => {
  expect(valueOf({ variableName: 'x', description: '', type, defaultValue })).toBe(value);
});

test('the example event has every input and property by its name', () => {
  expect(exampleEvent(newLogic('Heat', ''))).toMatchObject({
    inputs: { value: 30 },
    properties: { limit: 25 },
    dataSources: { 1: { trigger: true, data: { temperature: 30 } } },
  });
});
