// Alarm draft: a limit of one value of a device, and the rule and alarm that it becomes in one request (contract 39.4).
import type { components } from '../../../../generated/interface-types.ts';
import type { AlarmSeverity } from '../../../api/alarms.ts';
import { bodyOf, newDraft } from '../../outputs/output-draft.ts';
import { newRule, type RuleDraft } from '../rule-model.ts';
import type { PlotValue } from '../../../../../src/dashboards/plot.ts';

export type RuleBody = components['schemas']['RuleDraft'];

/** A value that a chart shows. */
export interface AlarmSource {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly title: string;
  readonly unit: string;
}

/** Who is mailed when the alarm opens: addresses, or whoever is on call. */
interface Recipients {
  readonly emails: readonly string[];
  readonly onCallIds: readonly string[];
}

interface Limit {
  readonly limit: number;
  readonly isAbove: boolean;
  /** ISO 8601 duration; empty for an alarm at the first sample. */
  readonly holdsFor: string;
}

interface Alarm {
  readonly severity: AlarmSeverity;
  readonly recipients: Recipients;
}

const newOutput = 'new:0';

/** The rule, before it does anything. */
export function watchedRule(
  { deviceId, topic, dataKey }: AlarmSource,
  { limit, isAbove, holdsFor }: Limit,
  name: string,
  workspaceId: string,
): RuleBody {
  const source = { id: 'value', inputIds: [deviceId], valueType: 'NUMERICAL' as const };
  return {
    name,
    workspaceId,
    inputs: [{ id: deviceId, type: 'DEVICE' }],
    logic: {
      type: 'COMPARISON',
      dataSources: [{ ...source, dataTopic: topic, dataKey }],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: { type: 'DATA_SOURCE', dataSourceId: source.id },
              operator: isAbove ? 'GT' : 'LT',
              operandSecond: { type: 'CONSTANT', value: limit, valueType: 'NUMERICAL' },
            },
          ],
          ...(holdsFor !== '' && { holdsFor }),
        },
      ],
    },
  };
}

/** The rule with its alarm, which is created with it. */
export function alarmRule(rule: RuleBody, { severity, recipients }: Alarm): RuleBody {
  const { emails, onCallIds } = recipients;
  const on = 'OPENED' as const;
  const notify = [
    ...(emails.length > 0 ? [{ on, emails: [...emails] }] : []),
    ...onCallIds.map((onCallId) => ({ on, onCallId })),
  ];
  const { logic, name, workspaceId } = rule;
  const draft = newDraft('ALARM', name, 'RULE_ACTION');
  const properties = { ...draft.properties, severity, ...(notify.length > 0 && { notify }) };
  // Both are those of the rule.
  const { workspaceId: _, scope: __, ...output } = bodyOf({ ...draft, properties }, workspaceId);
  return {
    ...rule,
    logic: {
      ...logic,
      logicBlocks: (logic.logicBlocks ?? []).map((block) => ({ ...block, actionIds: [newOutput] })),
    },
    actions: [{ outputConnector: output }],
  };
}

/** The rule with its alarm as the rule editor has it, which creates both. */
export function editedRule(
  { deviceId, topic, dataKey }: AlarmSource,
  body: RuleBody,
  deviceName: string,
): RuleDraft {
  const { name, workspaceId, logic, actions } = body;
  const draft = newRule(name);
  const input = { id: deviceId, name: deviceName, type: 'DEVICE' as const };
  const [output] = (actions ?? []).flatMap(({ outputConnector }) => outputConnector ?? []);
  const [source] = logic.dataSources ?? [];
  const [block] = logic.logicBlocks ?? [];
  const [condition] = block?.conditions ?? [];
  if (source === undefined || block === undefined || condition === undefined) return draft;
  const none = { value: null, valueType: null, dataKey: null, dataSourceId: null };
  return {
    ...draft,
    inputs: [{ ...input, tagCombination: null, workspaceId }],
    logic: {
      ...draft.logic,
      dataSources: [
        {
          id: source.id,
          inputIds: [deviceId],
          dataTopic: topic,
          dataKey,
          valueType: 'NUMERICAL',
          variableName: null,
          lastSample: false,
          triggerOnUplink: true,
        },
      ],
      logicBlocks: [
        {
          conditions: [
            {
              operandFirst: { ...none, type: 'DATA_SOURCE', dataSourceId: source.id },
              operator: condition.operator,
              order: 0,
              chainOperator: null,
              operandSecond: {
                ...none,
                type: 'CONSTANT',
                value: condition.operandSecond.value,
                valueType: 'NUMERICAL',
              },
            },
          ],
          actionIds: [newOutput],
          ...(block.holdsFor && { holdsFor: block.holdsFor }),
        },
      ],
    },
    actions: output === undefined ? [] : [{ id: newOutput, name, type: 'ALARM', output }],
  };
}

/** Fires once for each alarm, which itself counts every sample beyond the limit. Tells nobody. */
export function simulatedRule(rule: RuleBody): RuleBody {
  const recipients = { emails: [], onCallIds: [] };
  const { actions, ...whole } = alarmRule(rule, { severity: 'INFO', recipients });
  const once = { sendConsecutiveAlerts: false };
  return {
    ...whole,
    actions: (actions ?? []).flatMap(({ outputConnector }) =>
      outputConnector ? { outputConnector: { ...outputConnector, ...once } } : [],
    ),
  };
}

/** Least, greatest and mean of the values; undefined without any. */
export function reachOf(
  lists: readonly (readonly PlotValue[])[],
): { readonly least: number; readonly greatest: number; readonly mean: number } | undefined {
  let [least, greatest, sum, count] = [Infinity, -Infinity, 0, 0];
  for (const list of lists)
    for (const value of list) {
      if (typeof value !== 'number') continue;
      least = Math.min(least, value);
      greatest = Math.max(greatest, value);
      sum += value;
      count += 1;
    }
  return count === 0 ? undefined : { least, greatest, mean: sum / count };
}

/** To a hundredth of the range or more exactly, without more digits than that. */
export function roundedIn(value: number, range: number): number {
  const digits = 2 - Math.floor(Math.log10(range > 0 ? range : Math.abs(value) || 1));
  const factor = 10 ** Math.min(Math.max(digits, 0), 12);
  return Math.round(value * factor) / factor;
}
