// Parts of schemas that many endpoints use: fields of records, names in the OpenAPI document, list parameters, and filter expressions (contract 0).
import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { alarmSeverities } from '../model/alarm.ts';
import { runOutcomes } from '../model/rule.ts';
import { type Page, pageSizeMax, type unpagedOf } from '../model/page.ts';
import { expressionLimits } from '../query/filters/expression.ts';
import { predicateNames } from '../query/filters/predicates.ts';

const nameMax = 500;
const textMax = 10_000;

/** A nullable field of an answer: always there. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A field of a request that may be omitted or null. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/** A list in an answer. */
export function list<T extends TSchema>(schema: T) {
  return Type.Unsafe<readonly Static<T>[]>(Type.Array(schema));
}

/** One of a list of strings. */
export function oneOf<const T extends readonly string[]>(values: T) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: values });
}

export const object = Type.Unsafe<JsonObject>({ type: 'object' });
export const name = Type.String({ minLength: 1, maxLength: nameMax, pattern: '\\S' });
export const text = Type.String({ maxLength: textMax });
export const id = Type.String({ maxLength: nameMax });
export const reference = Type.Object({ id });
export const time = Type.String({ format: 'date-time' });

export const idParams = Type.Object({ id: Type.String({ description: 'ID of the record.' }) });

/** Who changed something. */
export const author = namedObject('Author', {
  type: oneOf(['USER', 'API_KEY', 'OAUTH_CLIENT']),
  id,
  name: text,
});

export const auditFields = {
  created: time,
  updated: orNull(time),
  version: Type.Integer({ description: 'Starts at 0 and increases by one with every update.' }),
} as const;

/**
 * Fields that every update may carry: the id, which the path overrides, and the version the change
 * is based on.
 */
export const updateFields = {
  id: optional(id),
  version: optional(
    Type.Integer({ description: 'Current version of the record. A stale version returns 409.' }),
  ),
} as const;

// API schemas of the health of records: what `details=health` adds to rows of lists (contract 37).

const count = Type.Integer({ minimum: 0 });

export const ruleRunOutcome = oneOf(runOutcomes);

/** The query parameter of lists whose rows can have their health. */
export const healthParameter = {
  details: Type.Optional(
    Type.Literal('health', { description: '`health` adds `health` to each item.' }),
  ),
} as const;

const perHour = (what: string) =>
  Type.Unsafe<readonly number[]>(
    Type.Array(count, { description: `${what} per hour in the last 24 hours, oldest first.` }),
  );

export const ruleHealth = Type.Optional(
  orNull(
    namedObject('RuleHealth', {
      lastRun: orNull(Type.Object({ timestamp: time, outcome: ruleRunOutcome })),
      firedIn24h: count,
    }),
  ),
);

export const outputHealth = Type.Optional(
  orNull(
    namedObject('OutputHealth', {
      deliveries: Type.Object({
        ok: count,
        waiting: count,
        failed: count,
        nextTry: orNull(time),
        okPerHour: perHour('Deliveries'),
        failedPerHour: perHour('Permanent failures'),
      }),
    }),
  ),
);

export const placeHealth = Type.Optional(
  orNull(
    namedObject('PlaceHealth', {
      places: count,
      openAlarms: count,
      worstSeverity: orNull(oneOf(alarmSeverities)),
    }),
  ),
);

export const flowHealth = Type.Optional(
  orNull(namedObject('FlowHealth', { deviceCount: count, lastSampleAt: orNull(time) })),
);

/** A data key that samples are to get (interface 2.3): another one would be removed from each of them. */
export const writtenDataKey = (description: string) =>
  Type.String({ maxLength: 500, pattern: '^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$', description });

// Names of schemas: the OpenAPI document lists a named schema once and refers to it everywhere else.

/**
 * Gives a new schema its name in the OpenAPI document, as its `title`; two different schemas cannot
 * share one.
 */
export function named<T extends TSchema>(title: string, schema: T): T {
  return Object.assign(schema, { title });
}

/** An object schema with a name of its own in the OpenAPI document. */
export function namedObject<P extends TProperties>(title: string, properties: P) {
  return named(title, Type.Object(properties));
}

/** The same for a part of a body that no other product has, so that unknown members are refused. */
export function ownObject<P extends TProperties>(title: string, properties: P) {
  return named(title, Type.Object(properties, { additionalProperties: false }));
}

// Shown schemas: what the OpenAPI document says of a value whose handler checks it more closely than its schema.

/** Adds what the document shows in place of the schema. The server checks only the schema. */
export function shownAs<T extends TSchema>(shown: object, schema: T): T {
  return Object.assign(schema, { shownAs: shown });
}

// Query parameters of lists: page, size, order, search, and lists in the four forms that clients send (contract 0.1).

const listValue = Type.Union([Type.String(), Type.Array(Type.String())]);

/** `[a, b]`, `a,b` or repeated; the handler reads `name[]` as well. */
export const listParameter = Type.Optional(listValue);

/** The edge narrows the rows of every list that takes it. */
const fields = Type.Optional(
  Type.Union([Type.String(), Type.Array(Type.String())], {
    description:
      'Comma-separated properties of the items to return, such as `id,name`. Others are then absent, also those that the schema requires. Defaults to all.',
  }),
);

export const pageParameters = {
  page: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Zero-based page number.' }),
  ),
  size: Type.Optional(
    Type.Integer({ minimum: 1, maximum: pageSizeMax, description: 'Number of items per page.' }),
  ),
} as const;

/** What most lists can be ordered by. */
export const commonSortFields = [
  'id',
  'name',
  'description',
  'created',
  'updated',
  'version',
] as const;

/**
 * `sortFields` are those that the list takes; a test compares them with what it refuses (contract
 * 36).
 */
export function listParameters(sortFields: readonly string[] = commonSortFields) {
  const description = `Sort field and direction, such as \`${sortFields[0]},asc\`. Repeatable. Fields: ${sortFields.join(', ')}.`;
  return {
    ...pageParameters,
    fields,
    sort: Type.Optional(Type.Unsafe<string | string[]>({ ...listValue, description })),
    search: Type.Optional(
      Type.String({
        maxLength: 500,
        description: 'Case-insensitive search in names, and in device IDs.',
      }),
    ),
  } as const;
}

/** What narrows a list of workspace records. */
export function workspaceListParameters(sortFields?: readonly string[]) {
  return {
    ...listParameters(sortFields),
    organizationId: Type.Optional(Type.String()),
    workspaceId: listParameter,
    workspaceIds: listParameter,
  } as const;
}

// API schemas of pages: the envelope around the items of a list (interface 2.2, contract 0.1).

/** The envelope around items of a schema. */
export function pageSchema<T extends TSchema>(item: T) {
  const page = { ...envelopeOf(item), pageable: pageableSchema };
  return Type.Unsafe<Page<Static<T>>>(namedObject(`${nameOf(item)}Page`, page));
}

/** The envelope of a list that is answered whole. */
export function unpagedSchema<T extends TSchema>(item: T) {
  const pageable = Type.Literal('INSTANCE');
  const unpaged = { ...envelopeOf(item), pageable };
  return Type.Unsafe<ReturnType<typeof unpagedOf<Static<T>>>>(
    namedObject(`${nameOf(item)}List`, unpaged),
  );
}

const sort = namedObject('Sort', {
  empty: Type.Boolean(),
  sorted: Type.Boolean(),
  unsorted: Type.Boolean(),
});
const pageableSchema = namedObject('Pageable', {
  sort,
  offset: Type.Integer(),
  pageNumber: Type.Integer(),
  pageSize: Type.Integer(),
  paged: Type.Boolean(),
  unpaged: Type.Boolean(),
});

function envelopeOf<T extends TSchema>(item: T) {
  return {
    content: Type.Array(item),
    sort,
    totalPages: Type.Integer(),
    totalElements: Type.Integer(),
    size: Type.Integer(),
    number: Type.Integer(),
    numberOfElements: Type.Integer(),
    first: Type.Boolean(),
    last: Type.Boolean(),
    empty: Type.Boolean(),
  };
}

function nameOf(item: TSchema): string {
  const { title } = item as { readonly title?: string };
  if (title === undefined) throw new Error('The items of a page need a named schema');
  return title;
}

// API schema of filter expressions (interface 2.9), for the OpenAPI document: the reader of expressions checks them.

const { depthMax, filtersMax, valuesMax } = expressionLimits;

export const shownPredicate = named('Predicate', oneOf(predicateNames));

const filter = namedObject('Filter', {
  operator: Type.Optional(Type.Literal('FILTER', { description: 'Always `FILTER`.' })),
  field: Type.String({
    description:
      'Field of the device, such as `name`, `tags.name`, or `uplinkMetrics.timestamp`, or `customFields`. The filter options list all fields.',
  }),
  predicate: Type.Unsafe<string>({
    ...shownAs(shownPredicate, Type.String()),
    description: 'Comparison. The filter options list the predicates that a field supports.',
  }),
  values: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      maxItems: valuesMax,
      description:
        'Values to compare with. Dates are epoch milliseconds or ISO-8601. `IS_NULL` and `IS_NOT_NULL` take none, `BETWEEN` two.',
    }),
  ),
  stringValues: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: valuesMax,
      description: 'Values as strings, instead of `values`. For custom fields.',
    }),
  ),
  customFieldName: Type.Optional(
    Type.String({ description: 'Name of the custom field. Required for field `customFields`.' }),
  ),
});

const filterList = namedObject('FilterList', {
  operator: Type.Unsafe<string>({
    ...oneOf(['AND', 'OR']),
    description: 'Whether all of the expressions must match, or any.',
  }),
  expressions: Type.Array(Type.Unsafe({ $ref: '#/components/schemas/FilterExpression' }), {
    minItems: 1,
    maxItems: filtersMax,
    description: `Filters or further lists, at most ${depthMax} lists deep.`,
  }),
});

const shown = named('FilterExpression', Type.Union([filter, filterList]));

/** An optional filter expression, described by what it selects. */
export function filterExpression(description: string): TSchema {
  return shownAs(shown, Type.Unknown({ description }));
}
