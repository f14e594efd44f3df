// Expected cells of the authorization matrix for refused uplinks (contract 39.3).
import { type Paths, record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

const ofConnector: Paths = (of) => `/v3/device-connectors/${of.deviceConnector}/refusals`;
const ofWorkspace: Paths = (of) => `/v3/workspaces/${of.workspace}/refusals`;
const one =
  (all: Paths): Paths =>
  (of) =>
    `${all(of)}/4500000000000000`;
const below =
  (all: Paths, what: string): Paths =>
  (of) =>
    `${one(all)(of)}/${what}`;

export const refusalCells: Readonly<Record<string, Cell>> = {
  'GET /v3/device-connectors/:id/refusals': record('workspace', ['asset', 'read'], ofConnector),
  'GET /v3/workspaces/:id/refusals': record('workspace', ['asset', 'read'], ofWorkspace),
  'DELETE /v3/device-connectors/:id/refusals': record(
    'workspace',
    ['asset', 'delete'],
    ofConnector,
  ),
  'DELETE /v3/workspaces/:id/refusals': record('workspace', ['asset', 'delete'], ofWorkspace),
  'DELETE /v3/device-connectors/:id/refusals/:refusalId': record(
    'workspace',
    ['asset', 'delete'],
    one(ofConnector),
  ),
  'DELETE /v3/workspaces/:id/refusals/:refusalId': record(
    'workspace',
    ['asset', 'delete'],
    one(ofWorkspace),
  ),
  'GET /v3/device-connectors/:id/refusals/:refusalId/proposal': record(
    'workspace',
    ['asset', 'read'],
    below(ofConnector, 'proposal'),
  ),
  'GET /v3/workspaces/:id/refusals/:refusalId/proposal': record(
    'workspace',
    ['asset', 'read'],
    below(ofWorkspace, 'proposal'),
  ),
  'POST /v3/device-connectors/:id/refusals/:refusalId/register': record(
    'workspace',
    ['asset', 'create'],
    below(ofConnector, 'register'),
    () => ({ dataFlowId: 'unknown' }),
  ),
  'POST /v3/workspaces/:id/refusals/:refusalId/register': record(
    'workspace',
    ['asset', 'create'],
    below(ofWorkspace, 'register'),
    () => ({ dataFlowId: 'unknown' }),
  ),
};
