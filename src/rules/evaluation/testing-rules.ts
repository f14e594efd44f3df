// Rules for tests: short ways to write one down.
import { expect } from 'vitest';
import type {
  ComparisonOperator,
  Rule,
  RuleCondition,
  RuleDataSource,
  RuleOperand,
} from '../../model/rule.ts';
import type { Json } from '../../model/json.ts';
import { FormulaValues } from './operands.ts';
import { UsualDays } from './usual-days.ts';

export function sourceFor(
  id: string,
  deviceId: string,
  more: Partial<RuleDataSource> = {},
): RuleDataSource {
  return {
    id,
    inputIds: [deviceId],
    dataTopic: 'default',
    dataKey: 'a',
    variableName: null,
    valueType: 'NUMERICAL',
    lastSample: false,
    triggerOnUplink: false,
    ...more,
  };
}

const operand = { valueType: null, dataKey: null, dataSourceId: null, value: null };

export function constant(value: Json): RuleOperand {
  return { ...operand, type: 'CONSTANT', value };
}

/** For rules whose formulas read the sample alone. */
export const noFormulas = new FormulaValues(
  () => {
    throw new Error('No formula reads other samples');
  },
  async () => undefined,
  async () => () => 0,
  new UsualDays(
    async () => expect.fail('No formula asks what is usual'),
    () => 0,
    async () => undefined,
    () => undefined,
  ),
);

export function fromSource(dataSourceId: string, dataKey: string | null = null): RuleOperand {
  return { ...operand, type: 'DATA_SOURCE', dataSourceId, dataKey };
}

export function condition(
  operandFirst: RuleOperand,
  operator: ComparisonOperator,
  operandSecond: RuleOperand,
  order = 0,
  chainOperator: RuleCondition['chainOperator'] = null,
): RuleCondition {
  return { operandFirst, operator, operandSecond, order, chainOperator };
}

/** An active comparison of one device, `a > 20`, unless told otherwise. */
export function ruleFor(deviceId: string, more: Partial<Rule> = {}): Rule {
  return {
    id: '21a',
    organizationId: '28a',
    workspaceId: '29a',
    name: 'Rule',
    description: null,
    active: true,
    inputs: [{ id: deviceId, name: null, type: 'DEVICE', tagCombination: null, workspaceId: null }],
    timer: { enabled: false, schedule: null, type: null, startAt: null, timeZone: null },
    logic: {
      type: 'COMPARISON',
      dataSources: [sourceFor('s', deviceId)],
      logicBlocks: [
        { conditions: [condition(fromSource('s'), 'GT', constant(20))], actionIds: ['09a'] },
      ],
      geoFenceLogicBlock: null,
      customLogic: null,
    },
    actions: [{ id: '09a', configuration: {} }],
    activation: 0,
    activatedAt: 0,
    nextExecution: null,
    created: 0,
    updated: null,
    version: 0,
    ...more,
  };
}
