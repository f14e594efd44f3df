// API schemas of custom logic blocks (contract 14).
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { valueTypes } from '../model/rule.ts';
import { listParameters } from './list-parameters.ts';
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
import { namedObject } from './named.ts';

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

export const customLogicItemSchema = namedObject('CustomLogicItem', fields);
/** The single record tells the rules that use it. */
export const customLogicSchema = namedObject('CustomLogic', {
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
export const customLogicUpdate = namedObject('CustomLogicUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  script: Type.Optional(Type.String()),
  ...draftFields,
});

export const customLogicListQuery = Type.Object({
  ...listParameters(),
  organizationId: Type.Optional(Type.String()),
});
