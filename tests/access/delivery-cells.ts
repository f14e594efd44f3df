// Expected cells of the authorization matrix for deliveries and templates (contract 35).
import { record } from './record-cell.ts';
import type { Cell } from './route-cell.ts';

export const deliveryCells: Readonly<Record<string, Cell>> = {
  'GET /v3/output-connectors/:id/deliveries': record(
    'workspace',
    ['dataFlow', 'read'],
    (of) => `/v3/output-connectors/${of.outputConnector}/deliveries`,
  ),
  'POST /v3/output-connectors/:id/deliveries/resend': record(
    'workspace',
    ['dataFlow', 'update'],
    (of) => `/v3/output-connectors/${of.outputConnector}/deliveries/resend`,
    () => ({}),
  ),
  'POST /v3/output-connectors/:id/test': record(
    'workspace',
    ['dataFlow', 'update'],
    (of) => `/v3/output-connectors/${of.outputConnector}/test`,
    () => ({}),
  ),
  'POST /v3/deliveries/:id/resend': record(
    'workspace',
    ['dataFlow', 'update'],
    (of) => `/v3/deliveries/${of.delivery}/resend`,
  ),
  'POST /v3/templates/preview': record(
    'workspace',
    ['dataFlow', 'read'],
    () => '/v3/templates/preview',
    (of) => ({
      workspaceId: of.workspace,
      template: '{{topic}}',
    }),
  ),
};
