// The line about skipped suites at the end of a run.
import { expect, test } from 'vitest';
import { skippedSuitesLine } from './skipped-suites.ts';

test.each([
  [[], undefined],
  [[undefined], undefined],
  [['chromium'], '1 suite skipped: chromium is not installed'],
  [
    ['nats-server', undefined, 'chromium', 'chromium'],
    '3 suites skipped: chromium, nats-server are not installed',
  ],
])('the end of a run with the missing programs %j says %j', (missing, line) => {
  expect(skippedSuitesLine(missing)).toBe(line);
});
