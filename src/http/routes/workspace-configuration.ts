// Routes of a workspace's configuration as one document.
import { idParams } from '../../contract/record-fields.ts';
import {
  configurationDocument,
  configurationReport,
  exportedConfiguration,
} from '../../contract/workspace-configuration.ts';
import { exportConfiguration } from '../../inventory/imports/workspace-configuration.ts';
import { importConfiguration } from '../../inventory/imports/workspace-configuration-import.ts';
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { checkHolidayRegion } from './workspaces.ts';

const tag = 'Workspaces';
const path = '/v3/workspaces/:id/configuration';
const documentBytesMax = 64 * 1024 * 1024;

export interface ConfigurationDocumentParts extends RecordParts {
  readonly availableOutputs: AvailableOutputs;
}

export function workspaceConfigurationRoutes(parts: ConfigurationDocumentParts): Route[] {
  const { records, now, availableOutputs } = parts;
  const place = byId(parts, 'workspace');
  return [
    guardedRoute({
      method: 'GET',
      path,
      summary: 'The workspace as one document, without devices and without secrets',
      tag,
      access: { scope: 'workspace', verb: 'read', place },
      params: idParams,
      response: exportedConfiguration,
      handle: ({ params }, principal) => exportConfiguration(records, principal, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path,
      summary:
        'Make the workspace what the document says; nothing is deleted, and the same again changes nothing',
      tag,
      access: { scope: 'workspace', verb: 'update', place },
      params: idParams,
      body: configurationDocument,
      bodyBytesMax: documentBytesMax,
      response: configurationReport,
      handle: async ({ params, body }, principal) => {
        await checkHolidayRegion(body.workspace?.settings);
        return importConfiguration(records, principal, params.id, body, availableOutputs, now());
      },
    }),
  ];
}
