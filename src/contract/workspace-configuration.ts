// API schemas of the configuration of a workspace as one document.
import Type from 'typebox';
import { customFieldDraft } from './custom-field.ts';
import { customLogicDraft } from './custom-logic.ts';
import { deviceConnectorDraft } from './device-connector.ts';
import { deviceTypeDraft } from './device-type.ts';
import { outputConnectorDraft } from './output-connector.ts';
import { list, name, object, optional, orNull, text } from './record-fields.ts';
import { configuredRule } from './rule.ts';
import { tagDraft } from './tag.ts';
import { workspaceUpdate } from './workspace.ts';
import { namedObject } from './named.ts';

const { workspaceId: _, ...customField } = customFieldDraft.properties;
const { workspaceId: __, ...tag } = tagDraft.properties;
const { organizationId: ___, type: ____, ...deviceType } = deviceTypeDraft.properties;
const { workspaceId: _____, ...deviceConnector } = deviceConnectorDraft.properties;
const { workspaceId: ______, ...outputConnector } = outputConnectorDraft.properties;
const { organizationId: _________, ...customLogic } = customLogicDraft.properties;
const { id: _______, version: ________, ...workspace } = workspaceUpdate.properties;

const dataFlow = {
  name,
  description: optional(text),
  deviceConnector: Type.String({ description: 'Name of a device connector.' }),
  deviceType: optional(Type.String({ description: 'Name of a device type.' })),
  outputConnectors: optional(list(Type.Object({ name: text, topic: text }))),
  passThrough: optional(Type.Boolean()),
};

export const configurationDocument = namedObject('ConfigurationDocument', {
  format: Type.String({ description: 'Always `heliograph-workspace/1`.' }),
  workspace: optional(Type.Object(workspace)),
  customFields: optional(list(Type.Object(customField))),
  tags: optional(list(Type.Object(tag))),
  deviceTypes: optional(list(Type.Object({ ...deviceType, library: optional(Type.Boolean()) }))),
  deviceConnectors: optional(list(Type.Object(deviceConnector))),
  outputConnectors: optional(list(Type.Object(outputConnector))),
  dataFlows: optional(list(Type.Object(dataFlow))),
  customLogic: optional(list(Type.Object(customLogic))),
  rules: optional(list(configuredRule)),
});

const items = list(object);
export const exportedConfiguration = namedObject('ExportedConfiguration', {
  format: text,
  workspace: Type.Object({
    name,
    description: orNull(text),
    settings: Type.Unknown(),
    properties: object,
  }),
  customFields: items,
  tags: items,
  deviceTypes: items,
  deviceConnectors: items,
  outputConnectors: items,
  dataFlows: items,
  customLogic: items,
  rules: items,
});

const count = Type.Integer({ minimum: 0 });
export const configurationReport = namedObject('ConfigurationReport', {
  created: count,
  updated: count,
  unchanged: count,
  notes: list(text),
});
