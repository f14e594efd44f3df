// Endpoints of the configuration of a workspace as one document.
import { endpoint } from '../endpoint.ts';
import { idParams } from '../record-fields.ts';
import {
  configurationDocument,
  configurationReport,
  exportedConfiguration,
} from '../workspace-configuration.ts';

const tag = 'Workspaces';
const path = '/v3/workspaces/:id/configuration';
const documentBytesMax = 64 * 1024 * 1024;

export const workspaceConfiguration = {
  export: endpoint({
    method: 'GET',
    path,
    summary: 'Export a workspace configuration',
    description:
      'Returns the workspace as one document, with names instead of ids and without devices or secrets.',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    response: exportedConfiguration,
  }),
  import: endpoint({
    method: 'PUT',
    path,
    summary: 'Apply a workspace configuration',
    description:
      'Creates and updates records to match the document; deletes nothing, and applying it again changes nothing.',
    tag,
    access: { scope: 'workspace', verb: 'update', resource: 'path' },
    params: idParams,
    body: configurationDocument,
    bodyBytesMax: documentBytesMax,
    response: configurationReport,
  }),
} as const;
