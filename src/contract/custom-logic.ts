// Schemas and endpoints of custom logic blocks (contract 14).
import Type, { type Static } from 'typebox';
import type { Json } from '../model/json.ts';
import { valueTypes } from '../model/rule.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  auditFields,
  id,
  list,
  name,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';
import { recordEndpoints } from './record-endpoints.ts';

const anything = Type.Unsafe<Json>({});
const flag = Type.Boolean();
const named = { name: text, variableName: text };

const fields = {
  id,
  customLogicId: id,
  organizationId: id,
  name,
  description: orNull(text),
  ...auditFields,
  dataSources: list(
    Type.Object({
      ...named,
      description: orNull(text),
      defaultTopic: orNull(text),
      defaultDataKey: orNull(text),
      lastSample: flag,
      triggerOnUplink: flag,
    }),
  ),
  properties: list(
    Type.Object({
      ...named,
      description: orNull(text),
      defaultValue: anything,
      type: oneOf(valueTypes),
    }),
  ),
  script: Type.String(),
};

const customLogicItemSchema = namedObject('CustomLogicItem', fields);
/** The single record tells the rules that use it. */
const customLogicSchema = namedObject('CustomLogic', {
  ...fields,
  rules: list(Type.Object({ id, workspaceId: id, name, active: flag })),
});

const draftFields = {
  description: optional(text),
  dataSources: optional(
    list(
      Type.Object({
        ...named,
        name: optional(text),
        description: optional(text),
        defaultTopic: optional(text),
        defaultDataKey: optional(text),
        lastSample: optional(flag),
        triggerOnUplink: optional(flag),
      }),
    ),
  ),
  properties: optional(
    list(
      Type.Object({
        ...named,
        name: optional(text),
        description: optional(text),
        defaultValue: Type.Optional(anything),
        type: oneOf(valueTypes),
      }),
    ),
  ),
};

export const customLogicDraft = namedObject('CustomLogicDraft', {
  name,
  organizationId: id,
  script: Type.String(),
  ...draftFields,
});
export type CustomLogicDraft = Static<typeof customLogicDraft>;
const customLogicUpdate = namedObject('CustomLogicUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  script: Type.Optional(Type.String()),
  ...draftFields,
});
export type CustomLogicUpdate = Static<typeof customLogicUpdate>;

const customLogicListQuery = Type.Object({
  ...listParameters(),
  organizationId: Type.Optional(Type.String()),
});

const bodyBytesMax = 4 * 1024 * 1024;

export const customLogic = recordEndpoints({
  path: '/v3/rules/custom',
  tag: 'Custom logic',
  scope: 'customLogic',
  record: customLogicSchema,
  list: {
    summary: 'List custom logic blocks',
    description: "Returns a page of the organization's custom logic blocks.",
    query: customLogicListQuery,
    response: pageSchema(customLogicItemSchema),
  },
  create: {
    summary: 'Create a custom logic block',
    description: 'Creates a script that rules can use as their logic.',
    body: customLogicDraft,
    bodyBytesMax,
  },
  read: {
    summary: 'Get a custom logic block',
    description: 'Returns a custom logic block and the rules that use it.',
  },
  update: {
    summary: 'Update a custom logic block',
    description:
      'Updates a custom logic block; its data sources and properties are fixed while an active rule uses it.',
    body: customLogicUpdate,
    bodyBytesMax,
  },
  remove: {
    summary: 'Delete a custom logic block',
    description: 'Deletes a custom logic block; fails with 409 while a rule uses it.',
  },
});
