// Expected cells of the authorization matrix for integrations, webhooks and downlinks (contract 35).
import type { Verb } from '../../src/model/principal.ts';
import type { Fixtures } from './access-world.ts';
import type { Cell } from './route-cell.ts';

function integration(verb: Verb, path: Cell['path'], body?: Cell['body']): Cell {
  const cell = {
    needs: ['integration', verb],
    who: 'permitted',
    level: 'workspace',
    path,
  } as const;
  return body === undefined ? cell : { ...cell, body };
}

const one = (of: Fixtures) => `/v3/integrations/${of.integration}`;

export const loraCells: Readonly<Record<string, Cell>> = {
  'POST /v3/capture/lora/:integrationId': {
    who: 'anybody',
    level: 'none',
    path: () => '/v3/capture/lora/06',
  },
  'GET /v3/devices/:id/downlinks': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspace',
    path: (of) => `/v3/devices/${of.device}/downlinks`,
  },
  'GET /v3/devices/:id/trace': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspace',
    path: (of) => `/v3/devices/${of.device}/trace`,
  },
  'GET /v3/devices/:id/events': {
    needs: ['asset', 'read'],
    who: 'permitted',
    level: 'workspace',
    path: (of) => `/v3/devices/${of.device}/events`,
  },
  'POST /v3/devices/:id/downlink': {
    needs: ['asset', 'update'],
    who: 'permitted',
    level: 'workspace',
    path: (of) => `/v3/devices/${of.device}/downlink`,
    body: () => ({ raw: true }),
  },
  'GET /v3/integrations': {
    needs: ['integration', 'read'],
    who: 'permitted',
    level: 'workspaceList',
    path: (of) => `/v3/integrations?workspaceId=${of.workspace}`,
  },
  'POST /v3/integrations': integration(
    'create',
    () => '/v3/integrations',
    (of) => ({ name: 'x', workspaceId: of.workspace, type: 'GENERIC' }),
  ),
  'GET /v3/integrations/:id': integration('read', one),
  'PUT /v3/integrations/:id': integration('update', one, () => ({})),
  'DELETE /v3/integrations/:id': integration('delete', one),
};
