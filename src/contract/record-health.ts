// API schemas of the health of records: what `details=health` adds to rows of lists (contract 37).
import Type from 'typebox';
import { namedObject } from './named.ts';
import { alarmSeverities } from '../model/alarm.ts';
import { runOutcomes } from '../model/rule.ts';
import { oneOf, orNull, time } from './record-fields.ts';

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
