// Expected cells of the authorization matrix: exports of samples (contract 19).
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

const reading = ['asset', 'read'] as const;

function ofExport(rest: string): Cell {
  return record('workspace', reading, (of) => `/v3/exports/${of.sampleExport}${rest}`);
}

export const sampleExportCells: Readonly<Record<string, Cell>> = {
  'POST /v3/exports': record(
    'workspace',
    reading,
    () => '/v3/exports',
    (of) => ({ workspaceId: of.workspace }),
  ),
  'GET /v3/exports/:id': ofExport(''),
  'GET /v3/exports/:id/content': ofExport('/content'),
  'DELETE /v3/exports/:id': ofExport(''),
};
