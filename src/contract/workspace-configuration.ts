// Schemas and endpoints of the configuration of a workspace as one document.
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  idParams,
  list,
  name,
  namedObject,
  object,
  optional,
  orNull,
  text,
} from './schema-parts.ts';
import { configuredCalculation } from './calculations.ts';
import { customFieldDraft, tagDraft } from './tags.ts';
import { configuredRule, customLogicDraft } from './rules.ts';
import { dashboardGroupDraft } from './dashboards.ts';
import { deviceConnectorDraft } from './device-connectors.ts';
import { deviceTypeDraft } from './device-types.ts';
import { configuredMute, configuredOnCall } from './alarms.ts';
import { outputConnectorDraft } from './output-connectors.ts';
import { placeDraft } from './places.ts';
import { workspaceUpdate } from './workspaces.ts';

const { workspaceId: _, ...customField } = customFieldDraft.properties;
const { workspaceId: __, ...tagFields } = tagDraft.properties;
const { workspaceId: _p, parentId: _q, plan: _r, ...placeFields } = placeDraft.properties;
const { organizationId: ___, type: ____, ...deviceType } = deviceTypeDraft.properties;
const { workspaceId: _____, ...deviceConnector } = deviceConnectorDraft.properties;
const { workspaceId: ______, ...outputConnector } = outputConnectorDraft.properties;
const { organizationId: _________, ...customLogic } = customLogicDraft.properties;
const { workspaceId: __________, ...dashboardGroup } = dashboardGroupDraft.properties;
const { id: _______, version: ________, ...workspace } = workspaceUpdate.properties;

const dataFlow = {
  name,
  description: optional(text),
  deviceConnector: Type.String({ description: 'Name of a device connector.' }),
  deviceType: optional(Type.String({ description: 'Name of a device type.' })),
  outputConnectors: optional(list(Type.Object({ name: text, topic: text }))),
  passThrough: optional(Type.Boolean()),
};

const configurationDocument = namedObject('ConfigurationDocument', {
  format: Type.String({ description: 'Always `heliograph-workspace/1`.' }),
  workspace: optional(Type.Object(workspace)),
  customFields: optional(list(Type.Object(customField))),
  tags: optional(list(Type.Object(tagFields))),
  places: optional(
    list(
      Type.Object({
        ...placeFields,
        name: Type.String({ description: 'Path such as `Site/Floor 1`. Places above come first.' }),
      }),
    ),
  ),
  deviceTypes: optional(list(Type.Object({ ...deviceType, library: optional(Type.Boolean()) }))),
  deviceConnectors: optional(list(Type.Object(deviceConnector))),
  onCallOrders: optional(list(configuredOnCall)),
  outputConnectors: optional(list(Type.Object(outputConnector))),
  dataFlows: optional(list(Type.Object(dataFlow))),
  customLogic: optional(list(Type.Object(customLogic))),
  rules: optional(list(configuredRule)),
  mutes: optional(list(configuredMute)),
  calculations: optional(list(configuredCalculation)),
  dashboardGroups: optional(list(Type.Object(dashboardGroup))),
  dashboards: optional(
    list(
      Type.Object({
        name,
        description: optional(text),
        group: optional(Type.String({ description: 'Name of a dashboard group.' })),
        deviceType: optional(
          Type.String({ description: 'Name of the device type whose devices show the dashboard.' }),
        ),
        placeKind: optional(
          Type.String({
            minLength: 1,
            maxLength: 100,
            description: 'Kind of the places that show the dashboard.',
          }),
        ),
        configuration: Type.Optional(
          Type.Union([object, Type.Null()], {
            description: 'Configuration, in which names and physical device IDs replace IDs.',
          }),
        ),
      }),
    ),
  ),
});

const items = list(object);
const exportedConfiguration = namedObject('ExportedConfiguration', {
  format: text,
  workspace: Type.Object({
    name,
    description: orNull(text),
    settings: Type.Unknown(),
    properties: object,
  }),
  customFields: items,
  tags: items,
  places: items,
  deviceTypes: items,
  deviceConnectors: items,
  onCallOrders: items,
  outputConnectors: items,
  dataFlows: items,
  customLogic: items,
  rules: items,
  mutes: items,
  calculations: items,
  dashboardGroups: Type.Optional(items),
  dashboards: Type.Optional(items),
});

const count = Type.Integer({ minimum: 0 });
const configurationReport = namedObject('ConfigurationReport', {
  created: count,
  updated: count,
  unchanged: count,
  notes: list(text),
});

const tag = 'Workspaces';
const path = '/v3/workspaces/:id/configuration';
const documentBytesMax = 64 * 1024 * 1024;

export const workspaceConfiguration = {
  export: endpoint({
    method: 'GET',
    path,
    summary: 'Export a workspace configuration',
    description:
      'Returns the workspace as one document, with names instead of ids and without devices or secrets. Dashboards are included if the caller may read them.',
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
