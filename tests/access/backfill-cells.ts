// Expected cells of the authorization matrix for backfills (interface 4.3, contract 37).
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

export const backfillCells: Readonly<Record<string, Cell>> = {
  'POST /v3/devices/:deviceId/backfill': record(
    'workspace',
    ['asset', 'update'],
    (of) => `/v3/devices/${of.device}/backfill`,
    () => ({ data: { a: 1 } }),
  ),
  'POST /v3/devices/:deviceId/backfill/bulk': record(
    'workspace',
    ['asset', 'update'],
    (of) => `/v3/devices/${of.device}/backfill/bulk`,
    () => [],
  ),
  // Devices out of the caller's reach are rejected elements (contract 37).
  'POST /v3/samples/bulk': {
    needs: ['asset', 'update'],
    who: 'permitted',
    level: 'none',
    path: () => '/v3/samples/bulk',
    body: (of) => [{ deviceId: of.device, data: { a: 1 } }],
  },
};
