// Makes the matrix's row of a route that touches one record.
import type { Scope, Verb } from '../../src/model/principal.ts';
import type { Fixtures } from './access-world.ts';
import type { Cell } from './route-cell.ts';

export type Paths = (of: Fixtures) => string;
export type Bodies = (of: Fixtures) => unknown;

export function record(
  level: 'workspace' | 'organization',
  needs: readonly [Scope, Verb],
  path: Paths,
  body?: Bodies,
  who: Cell['who'] = 'permitted',
): Cell {
  return { needs, who, level, path, ...(body === undefined ? {} : { body }) };
}
