// Address of the map: its place and the moment that it shows.
import { expect, test } from 'vitest';
import { readMapSearch } from './map-search.ts';

const at = '2026-03-02T07:00:00.000Z';

test.for([
  [
    { view: '46.5,7.5,9', at },
    { view: '46.5,7.5,9', at },
  ],
  [{ at: '46.5,7.5,9' }, { view: '46.5,7.5,9' }],
  [{ at: '2,3,11' }, { view: '2,3,11' }],
  [{ at: '46.5,7.5', view: 'here' }, {}],
  [
    { q: 'x', state: 'online', device: 'd', sort: 'seen' },
    { q: 'x', state: 'online', device: 'd' },
  ],
] as const)('%o is read as %o', ([address, search]) => {
  expect(readMapSearch(address)).toEqual(search);
});
