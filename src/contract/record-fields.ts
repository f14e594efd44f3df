// Fields that many records share, and the small schemas they are made of (contract 0, 37).
import Type, { type Static, type TSchema } from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { namedObject } from './named.ts';
import { alarmSeverities } from '../model/alarm.ts';
import { runOutcomes } from '../model/rule.ts';

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
