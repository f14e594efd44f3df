// Actions: nothing sends a change in another way, so that two clicks never send it twice.
import { expect, test } from 'vitest';

const sources = import.meta.glob<string>(
  ['../**/*.{ts,tsx}', '!./use-action*', '!../**/*.test.ts'],
  {
    eager: true,
    query: '?raw',
    import: 'default',
  },
);

test('review console M10: every change is sent by an action', () => {
  expect(Object.keys(sources).length).toBeGreaterThan(300);
  const others = Object.entries(sources).filter(([, source]) => /\buseMutation\b/.test(source));
  expect(others.map(([file]) => file)).toEqual([]);
});
