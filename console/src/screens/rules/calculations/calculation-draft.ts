// Draft of a calculation: the form of a group calculation, from what the platform has to what it takes, and its requests.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import type { ListSearch } from '../../../ui/list-search.ts';

export type Calculation = components['schemas']['Calculation'];
type CalculationBody = components['schemas']['CalculationDraft'];
type Output = components['schemas']['CalculationOutput'];
type OutputBody = components['schemas']['CalculationOutputDraft'];
export type Preview = components['schemas']['CalculationPreview'];

export const periods = ['PT1M', 'PT5M', 'PT15M', 'PT30M', 'PT1H', 'PT6H', 'PT12H', 'P1D'] as const;
export const acrossNames = ['SUM', 'AVG', 'MIN', 'MAX', 'MEDIAN', 'COUNT'] as const;
export const countNames = ['TOTAL', 'REPORTING', 'ONLINE'] as const;
/** What a key of the target is made of. */
export const outputKinds = ['key', 'formula', 'count', 'over'] as const;
export type OutputKind = (typeof outputKinds)[number];

export interface OutputFields {
  readonly key: string;
  readonly kind: OutputKind;
  readonly accumulator: string;
  /** The data key, the formula of each device, or the formula over other keys. */
  readonly text: string;
  readonly across: (typeof acrossNames)[number];
  readonly count: (typeof countNames)[number];
  /** Members that this form does not show. */
  readonly more: Partial<components['schemas']['CalculationEachDraft']>;
}

export interface CalculationFields {
  readonly name: string;
  readonly description: string;
  readonly active: boolean;
  readonly tagId: string;
  /** Named devices, instead of a tag. */
  readonly deviceIds: readonly string[] | null;
  readonly topic: string;
  readonly period: string;
  readonly timeZone: string;
  readonly target: string;
  readonly targetTopic: string;
  readonly outputs: readonly OutputFields[];
}

export const newOutput: OutputFields = {
  key: '',
  kind: 'key',
  accumulator: 'AVG',
  text: '',
  across: 'AVG',
  count: 'REPORTING',
  more: {},
};

export const newCalculation: CalculationFields = {
  name: '',
  description: '',
  active: true,
  tagId: '',
  deviceIds: null,
  topic: 'default',
  period: 'PT1H',
  timeZone: '',
  target: '',
  targetTopic: 'group',
  outputs: [newOutput],
};

export function fieldsOf(calculation: Calculation): CalculationFields {
  const { name, description, active, tagId, deviceIds, topic, period, timeZone } = calculation;
  return {
    name,
    active,
    topic,
    period,
    deviceIds,
    description: description ?? '',
    tagId: tagId ?? '',
    timeZone: timeZone ?? '',
    target: calculation.target.deviceId,
    targetTopic: calculation.target.topic,
    outputs: calculation.outputs.map(outputFields),
  };
}

function outputFields({ key, each, across, count, expression }: Output): OutputFields {
  if (each !== undefined) {
    const { accumulator, dataKey, expression: formula, ...more } = each;
    const kind = dataKey === null ? 'formula' : 'key';
    const text = dataKey ?? formula ?? '';
    return { ...newOutput, key, kind, accumulator, text, across: across ?? 'SUM', more };
  }
  if (count !== undefined) return { ...newOutput, key, kind: 'count', count };
  return { ...newOutput, key, kind: 'over', text: expression ?? '' };
}

export function bodyOf(fields: CalculationFields): Omit<CalculationBody, 'workspaceId'> {
  const { name, description, active, tagId, deviceIds, topic, period, timeZone } = fields;
  return {
    name: name.trim(),
    active,
    topic,
    period,
    description: description === '' ? null : description,
    tagId: tagId === '' ? null : tagId,
    deviceIds: deviceIds === null ? null : [...deviceIds],
    timeZone: timeZone === '' ? null : timeZone,
    target: { deviceId: fields.target, topic: fields.targetTopic },
    outputs: fields.outputs.map(outputBody),
  };
}

function outputBody({
  key,
  kind,
  accumulator,
  text,
  across,
  count,
  more,
}: OutputFields): OutputBody {
  if (kind === 'count') return { key, count };
  if (kind === 'over') return { key, expression: text };
  const read = kind === 'key' ? { dataKey: text } : { expression: text };
  return { key, each: { ...more, accumulator, ...read }, across };
}

const rows = 25;
/** How far a calculation is changes with its periods. */
const progressMs = 10_000;

export function calculationsOf(workspaceId: string, { q, page = 0 }: ListSearch) {
  const search = q === undefined ? {} : { search: q };
  const query = { workspaceId, page, size: rows, sort: 'name,asc', ...search };
  return queryOptions({
    queryKey: ['calculations', workspaceId, query],
    refetchInterval: progressMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/calculations', { signal, params: { query } })),
  });
}

export const calculationOf = (id: string) =>
  queryOptions({
    queryKey: ['calculation', id],
    refetchInterval: progressMs,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/calculations/{id}', { signal, params: { path: { id } } })),
  });
