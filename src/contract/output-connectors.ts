// Schemas and endpoints of output connectors (contract 9).
import Type, { type Static } from 'typebox';
import { type PropertiesKey, typesWithProperties } from '../outputs/connectors/connector-table.ts';
import { outputScopes } from '../model/connector.ts';
import {
  auditFields,
  commonSortFields,
  healthParameter,
  id,
  listParameter,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  outputHealth,
  pageSchema,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { recordEndpoints } from './endpoint.ts';

/** One member per property object, with its second name where it has one. */
function perPropertyObject<S>(schema: S): Readonly<Record<PropertiesKey, S>> {
  const members = typesWithProperties
    .flatMap(({ properties: { key, alias } }) => [key, alias])
    .filter((member) => member !== undefined);
  return Object.fromEntries(members.map((member) => [member, schema])) as Readonly<
    Record<PropertiesKey, S>
  >;
}

const payloadTemplate = Type.String({
  maxLength: 100_000,
  description: 'Template. For webhooks, it must render to valid JSON.',
});

export const outputConnectorSchema = namedObject('OutputConnector', {
  id,
  ...auditFields,
  name,
  workspaceId: orNull(id),
  deleted: Type.Boolean(),
  global: Type.Boolean(),
  scope: oneOf(outputScopes),
  type: Type.String(),
  sendConsecutiveAlerts: Type.Boolean(),
  invokeRuleEngine: Type.Boolean(),
  useCustomPayload: Type.Boolean(),
  customPayload: orNull(payloadTemplate),
  ...perPropertyObject(orNull(object)),
  available: Type.Optional(
    Type.Literal(false, {
      description: 'Present and false if the installation cannot deliver to the type.',
    }),
  ),
  unavailableReason: Type.Optional(
    Type.String({ description: 'Reason if `available` is false, such as a missing setting.' }),
  ),
});

/** An item of the list. */
const outputConnectorItemSchema = namedObject('OutputConnectorItem', {
  ...outputConnectorSchema.properties,
  health: outputHealth,
});

const draftFields = {
  sendConsecutiveAlerts: optional(Type.Boolean()),
  invokeRuleEngine: optional(Type.Boolean()),
  useCustomPayload: optional(Type.Boolean()),
  customPayload: optional(payloadTemplate),
  ...perPropertyObject(optional(object)),
};

export const outputConnectorDraft = namedObject('OutputConnectorDraft', {
  name,
  workspaceId: id,
  type: Type.String({ description: 'WEBHOOK, CUSTOM_DATABASE ...' }),
  scope: optional(oneOf(outputScopes)),
  ...draftFields,
});
export type OutputConnectorDraft = Static<typeof outputConnectorDraft>;
/**
 * `MS_TEAMS` is `MsTeamsOutput`: generators of clients write a file for each schema, and names must not
 * differ from those of others, such as `Alarm`, by case alone.
 */
function schemaNameOf(type: string): string {
  const words = type.toLowerCase().split('_');
  return `${words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')}Output`;
}

/**
 * What a new connector needs, per type. The connector type checks the members when it parses the
 * properties.
 */
const outputConnectorDraftByType = Type.Unsafe({
  ...outputConnectorDraft,
  required: ['name', 'workspaceId', 'type'],
  oneOf: typesWithProperties.map(({ type, properties: { key, schema } }) => ({
    title: schemaNameOf(type),
    required: ['type', key],
    properties: {
      type: { const: type, description: 'Type of the output connector.' },
      [key]: schema,
    },
  })),
});
const outputConnectorUpdate = namedObject('OutputConnectorUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type OutputConnectorUpdate = Static<typeof outputConnectorUpdate>;

const outputConnectorListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'type', 'scope']),
  scope: Type.Optional(oneOf(outputScopes)),
  type: listParameter,
  global: Type.Optional(Type.Boolean()),
  ...healthParameter,
});

export const outputConnectors = recordEndpoints({
  path: '/v3/output-connectors',
  tag: 'Output connectors',
  scope: 'dataFlow',
  record: outputConnectorSchema,
  list: {
    summary: 'List output connectors',
    description:
      'Returns a page of the output connectors in the requested workspaces, including the built-in database connector.',
    query: outputConnectorListQuery,
    response: pageSchema(outputConnectorItemSchema),
  },
  create: {
    summary: 'Create an output connector',
    description: 'Creates an output connector for data flows or rule actions.',
    body: outputConnectorDraft,
    bodyShown: outputConnectorDraftByType,
  },
  read: {
    summary: 'Get an output connector',
    description: 'Returns an output connector with its secrets masked.',
  },
  update: {
    summary: 'Update an output connector',
    description: 'Updates an output connector; a masked secret keeps its stored value.',
    body: outputConnectorUpdate,
  },
  remove: {
    summary: 'Delete an output connector',
    description: 'Deletes an output connector; fails with 409 while a data flow or rule uses it.',
  },
});
