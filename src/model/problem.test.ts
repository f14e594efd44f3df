// Problem table: a code never changes its meaning, so no two rows share a number or a name.
import { expect, test } from 'vitest';
import { problems } from './problem-table.ts';

const codes = Object.values(problems).map(({ code, status }) => {
  const [number = '', ...words] = code.split('_');
  return { code, status, number, name: words.join('_') };
});

const repeated = (of: readonly string[]): string[] => of.filter((one, i) => of.indexOf(one) !== i);

test('every number and every name of a code belongs to one problem', () => {
  expect(codes.length).toBeGreaterThan(80);
  expect(repeated(codes.map(({ number }) => number))).toEqual([]);
  expect(repeated(codes.map(({ name }) => name))).toEqual([]);
});

test('a code is its status, two digits and a name', () => {
  for (const { code, status } of codes)
    expect(code).toMatch(new RegExp(`^${status}\\d\\d_[A-Z0-9_]+$`));
});
