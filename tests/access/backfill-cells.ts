// Expected cells of the authorization matrix for backfills, deletions and corrections of samples (interface 4.3, contract 37, 38).
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
  'POST /v3/samples/delete': record(
    'workspace',
    ['asset', 'delete'],
    () => '/v3/samples/delete',
    (of) => ({ workspaceId: of.workspace, deviceIds: [of.device], all: true, dryRun: true }),
  ),
  'POST /v3/devices/:deviceId/samples/correct': {
    ...record(
      'workspace',
      ['asset', 'update'],
      (of) => `/v3/devices/${of.device}/samples/correct`,
      () => ({ corrections: [{ timestamp: '2026-01-01T00:00:00Z', replacement: null }] }),
    ),
    also: [['asset', 'delete']],
  },
  // Devices out of the caller's reach are rejected elements (contract 37).
  'POST /v3/samples/bulk': {
    needs: ['asset', 'update'],
    who: 'permitted',
    level: 'none',
    path: () => '/v3/samples/bulk',
    body: (of) => [{ deviceId: of.device, data: { a: 1 } }],
  },
};
