// API schemas of the last runs of a rule, and of a dry run over stored samples.
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { runOutcomes } from '../model/run-outcome.ts';
import { id, list, object, oneOf, orNull, text, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const anything = Type.Unsafe<Json>({});

export const ruleRunOutcome = oneOf(runOutcomes);

const runFields = {
  timestamp: time,
  trigger: oneOf(['UPLINK', 'TIMER', 'SCRIPT_TIMER'] as const),
  deviceId: orNull(id),
  correlationId: orNull(text),
  inputs: list(
    Type.Object({
      dataSourceId: id,
      variableName: orNull(text),
      trigger: Type.Boolean(),
      deviceId: orNull(id),
      topic: orNull(text),
      timestamp: orNull(time),
      dataKey: text,
      value: anything,
    }),
  ),
  outcome: ruleRunOutcome,
  reason: Type.String(),
  actionIds: list(id),
};

export const ruleRunSchema = namedObject('RuleRun', runFields);

export const simulationRequest = namedObject('SimulationRequest', {
  from: Type.String({ description: 'ISO-8601 date-time, inclusive.' }),
  to: Type.String({ description: 'ISO-8601 date-time, exclusive.' }),
});

export const simulationSchema = namedObject('Simulation', {
  samples: Type.Integer({ description: 'Number of samples evaluated.' }),
  runs: Type.Integer(),
  fired: Type.Integer(),
  truncated: Type.Boolean({ description: 'Whether the range was only partly evaluated.' }),
  content: list(Type.Object({ ...runFields, actions: list(object) })),
});
