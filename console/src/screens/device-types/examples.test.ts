// Examples in sample data: other entries of the list stay, and an example is found by its name.
import { expect, test } from 'vitest';
import { type Example, examplesIn, withExample, withoutExample } from './script-run.ts';

const example: Example = {
  name: 'cold',
  part: 'uplinkScript',
  event: { data: { t: -1 } },
  emits: [{ type: 'SAMPLE', event: { data: { t: -1 } } }],
};

test.each<[string, unknown, unknown[]]>([
  ['nothing', null, []],
  ['a list', [{ port: 1 }], [{ port: 1 }]],
  ['an object', { port: 1 }, [{ port: 1 }]],
])('sample data with %s keeps it', (_title, sampleData, kept) => {
  const added = withExample(sampleData, example);
  expect(added).toEqual([...kept, example]);
  expect(examplesIn(added, 'uplinkScript')).toEqual([example]);
  expect(examplesIn(added, 'downlinkScript')).toEqual([]);
  const changed = { ...example, emits: [] };
  expect(withExample(added, changed)).toEqual([...kept, changed]);
  expect(withoutExample(added, example)).toEqual(kept);
});

test.each([null, 1, 'x', { name: 'x' }, { name: 1, part: 'uplinkScript', event: {}, emits: [] }])(
  '%j is not an example',
  (entry) => expect(examplesIn([entry], 'uplinkScript')).toEqual([]),
);
