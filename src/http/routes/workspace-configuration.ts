// Routes of the configuration of a workspace as one document.
import { workspaceConfiguration } from '../../contract/workspace-configuration.ts';
import { importConfiguration } from '../../inventory/imports/workspace-configuration-import.ts';
import { exportConfiguration } from '../../inventory/imports/workspace-configuration.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { checkHolidayRegion } from './workspaces.ts';

export interface ConfigurationDocumentParts extends RecordParts {
  readonly availableOutputs: AvailableOutputs;
}

export function workspaceConfigurationRoutes(parts: ConfigurationDocumentParts): Route[] {
  const { records, availableOutputs } = parts;
  const place = byId(parts, 'workspace');
  return [
    resourceRoute(workspaceConfiguration.export, place, ({ params }, principal) =>
      exportConfiguration(records, principal, params.id),
    ),
    resourceRoute(workspaceConfiguration.import, place, async ({ params, body }, principal) => {
      await checkHolidayRegion(body.workspace?.settings);
      return importConfiguration(records, principal, {
        workspaceId: params.id,
        document: body,
        available: availableOutputs,
      });
    }),
  ];
}
