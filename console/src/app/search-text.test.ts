// Search text: values of variables in the address of a dashboard.
import { expect, test } from 'vitest';
import { parseSearch, stringifySearch } from './search-text.ts';

test.each([
  ['?var.device=1234567890123456789', { var: { device: ['1234567890123456789'] } }],
  ['?range=7d&var.room=a%26b&var.room=2', { range: '7d', var: { room: ['a&b', '2'] } }],
  ['?kiosk=true', { kiosk: true }],
  ['', {}],
])('contract 39: the address %s', (text, search) => {
  expect({ ...parseSearch(text) }).toEqual(search);
  expect(stringifySearch(search)).toBe(text);
});
