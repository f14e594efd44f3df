// Settled routes wait for followers. Vendor names: who gets them by which setting.
import { expect, test } from 'vitest';
import { type Route, settledRoute } from './route.ts';
import { type VendorAliases, wantsVendorNames } from '../routes/connector-view-options.ts';

test.each(['written', 'failed'] as const)(
  'the handler runs when followers have %s',
  async (end) => {
    const order: string[] = [];
    const written = Promise.withResolvers<void>();
    const route = {
      handle: (_input: never, admitted: string) => void order.push(admitted),
    } as unknown as Route;
    const settled = settledRoute(() => written.promise, route);
    const handled = settled.handle({} as never, 'found' as never);
    await Promise.resolve();
    order.push(end);
    if (end === 'written') written.resolve();
    else written.reject(new Error('disk'));
    await handled;
    expect(order).toEqual([end, 'found']);
  },
);

test.each<[VendorAliases, Record<string, string>, boolean]>([
  ['header', {}, false],
  ['header', { 'akenza-client': '1' }, true],
  ['always', {}, true],
  ['off', { 'akenza-client': '1' }, false],
])('%s with headers %j: %s', (setting, headers, expected) => {
  expect(wantsVendorNames(setting)(headers)).toBe(expected);
});
