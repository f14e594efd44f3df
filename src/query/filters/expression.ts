// Filter expressions: read as clients send them into conditions that the records store turns into SQL (interface 2.9).
import type { FilterType } from '../../model/device.ts';
import { isJsonObject } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import {
  type AssetField,
  type AssetFieldName,
  assetFieldNamed,
  assetFields,
} from './asset-fields.ts';
import {
  type FilterValue,
  type PredicateName,
  predicateNames,
  predicates,
  predicatesOf,
  type Question,
  valueFor,
} from './predicates.ts';

export const expressionLimits = { depthMax: 3, filtersMax: 200, valuesMax: 5_000 } as const;

/** A custom field that filters can name. */
export interface FilterableCustomField {
  readonly metaId: string;
  readonly name: string;
  /**
   * The filter type of its values; undefined for values without order and text, which filters only
   * test for presence.
   */
  readonly type: FilterType | undefined;
}

interface Reading {
  /** The fields with the name in the workspaces of the list. */
  readonly customFieldsNamed: (name: string) => readonly FilterableCustomField[];
  filters: number;
  values: number;
}

interface SentFilter {
  readonly where: string;
  readonly predicate: PredicateName;
  readonly values: readonly unknown[];
}

/** Throws Problem `expressionInvalid` (400) with the place and the reason. */
export function readExpression(
  sent: unknown,
  customFieldsNamed: (name: string) => readonly FilterableCustomField[],
): Condition {
  return conditionOf(sent, 'expression', 0, { customFieldsNamed, filters: 0, values: 0 });
}

function refuse(where: string, reason: string): never {
  throw problem('expressionInvalid', { where, reason });
}

function conditionOf(sent: unknown, where: string, depth: number, reading: Reading): Condition {
  if (!isJsonObject(sent)) refuse(where, 'must be a filter or an expression list');
  const operator = sent['operator'] ?? (sent['expressions'] === undefined ? 'FILTER' : undefined);
  if (operator === 'FILTER') return filterOf(sent, where, reading);
  if (operator !== 'AND' && operator !== 'OR')
    refuse(`${where}.operator`, 'must be AND, OR or FILTER');
  const { depthMax } = expressionLimits;
  if (depth >= depthMax) refuse(where, `exceeds the maximum nesting depth of ${depthMax}`);
  const { expressions } = sent;
  if (!Array.isArray(expressions))
    refuse(`${where}.expressions`, 'must be an array of filters or expression lists');
  // What it means is not the same for everybody: nothing, or everything.
  if (expressions.length === 0)
    refuse(`${where}.expressions`, 'is empty; leave the expression out to find all');
  if (expressions.length > expressionLimits.filtersMax) {
    refuse(`${where}.expressions`, `must have at most ${expressionLimits.filtersMax} expressions`);
  }
  const parts = expressions.map((part, at) =>
    conditionOf(part, `${where}.expressions[${at}]`, depth + 1, reading),
  );
  return { join: operator, parts };
}

function filterOf(
  sent: Readonly<Record<string, unknown>>,
  where: string,
  reading: Reading,
): Condition {
  const { filtersMax, valuesMax } = expressionLimits;
  if (++reading.filters > filtersMax)
    refuse(where, `exceeds the limit of ${filtersMax} filters per expression`);
  const { field } = sent;
  if (typeof field !== 'string') refuse(`${where}.field`, 'must be a field name');
  const filter = { where, predicate: predicateOf(sent, where), values: valuesOf(sent, where) };
  reading.values += filter.values.length;
  if (reading.values > valuesMax)
    refuse(where, `exceeds the limit of ${valuesMax} values per expression`);
  if (field === 'customFields') return customFieldsOf(sent['customFieldName'], filter, reading);
  const name = assetFieldNamed(field);
  if (name === undefined) {
    const known = [...Object.keys(assetFields), 'customFields'].join(', ');
    refuse(`${where}.field`, `unknown field ${field.slice(0, 100)}; valid fields: ${known}`);
  }
  return { field: name, question: fieldQuestion(name, filter) };
}

function predicateOf(sent: Readonly<Record<string, unknown>>, where: string): PredicateName {
  const { predicate } = sent;
  const known = predicateNames.find((name) => name === predicate);
  if (known !== undefined) return known;
  const sentName = String(predicate).slice(0, 100);
  refuse(
    `${where}.predicate`,
    `unknown predicate ${sentName}; valid predicates: ${predicateNames.join(', ')}`,
  );
}

/** Clients send `values` or `stringValues`, and an empty list under the other name. */
function valuesOf(sent: Readonly<Record<string, unknown>>, where: string): readonly unknown[] {
  const values = listOf(sent, 'values', where);
  const stringValues = listOf(sent, 'stringValues', where);
  if (values.length === 0) return stringValues;
  if (stringValues.length > 0) refuse(where, 'set either values or stringValues, not both');
  return values;
}

function listOf(
  sent: Readonly<Record<string, unknown>>,
  name: string,
  where: string,
): readonly unknown[] {
  const list = sent[name] ?? [];
  if (!Array.isArray(list)) refuse(`${where}.${name}`, 'must be an array');
  return list;
}

function checkCount({ where, predicate, values }: SentFilter): void {
  const { min, max } = predicates[predicate].values;
  const count = values.length;
  if (count >= min && count <= max) return;
  refuse(`${where}.values`, `${predicate} requires ${valuesBetween(min, max)}, got ${count}`);
}

function valuesBetween(min: number, max: number): string {
  if (min !== max) return `${min} to ${max} values`;
  return max === 1 ? '1 value' : `${max} values`;
}

function fieldQuestion(name: AssetFieldName, filter: SentFilter): Question {
  const field: AssetField = assetFields[name];
  const { where, predicate } = filter;
  const takes = predicatesOf(field.types);
  if (!takes.includes(predicate))
    refuse(
      `${where}.predicate`,
      `${name} does not support ${predicate}; valid predicates: ${takes.join(', ')}`,
    );
  checkCount(filter);
  const values = filter.values.map((sent, at) => {
    const converted = valueFor(elementType(field), sent);
    if ('reason' in converted) refuse(`${where}.values[${at}]`, converted.reason);
    const { value } = converted;
    if (field.values && !field.values.some((known) => known.toLowerCase() === value))
      refuse(`${where}.values[${at}]`, `${name} must be one of ${field.values.join(', ')}`);
    return value;
  });
  return predicates[predicate].question(values);
}

/** The type of the values of a field, for a list that of its elements. */
function elementType(field: AssetField): FilterType {
  return field.types.find((type) => type !== 'LIST') ?? 'STRING';
}

function customFieldsOf(name: unknown, filter: SentFilter, reading: Reading): Condition {
  const { where } = filter;
  if (typeof name !== 'string' || name === '')
    refuse(`${where}.customFieldName`, 'must be a custom field name');
  const fields = reading.customFieldsNamed(name);
  if (fields.length === 0)
    refuse(`${where}.customFieldName`, `unknown custom field ${name.slice(0, 100)}`);
  checkCount(filter);
  const outcomes = fields.map((field) => customFieldQuestion(field, filter));
  const questions = outcomes.filter((outcome) => 'metaId' in outcome);
  // Workspaces can have fields of one name and different types; one that takes the filter is
  // enough.
  const [asked] = questions;
  if (asked === undefined) refuseFirst(where, outcomes);
  const { ask } = asked.question;
  return { customFields: questions, inverse: ask === 'none' || ask === 'absent' };
}

interface Refusal {
  readonly part: string;
  readonly reason: string;
}

function refuseFirst(where: string, outcomes: readonly (CustomFieldQuestion | Refusal)[]): never {
  const refusal = outcomes.find((outcome) => 'reason' in outcome);
  if (refusal === undefined) throw new Error('No custom field and no reason');
  refuse(`${where}.${refusal.part}`, refusal.reason);
}

function customFieldQuestion(
  field: FilterableCustomField,
  { predicate, values }: SentFilter,
): CustomFieldQuestion | Refusal {
  const takes = predicatesOf(['CUSTOM_FIELD', field.type ?? 'CUSTOM_FIELD']);
  if (!takes.includes(predicate)) {
    const reason = `custom field ${field.name} does not support ${predicate}; valid predicates: ${takes.join(', ')}`;
    return { part: 'predicate', reason };
  }
  const converted: FilterValue[] = [];
  for (const [at, sent] of values.entries()) {
    const result = valueFor(field.type ?? 'STRING', sent);
    if ('reason' in result) return { part: `values[${at}]`, reason: result.reason };
    converted.push(result.value);
  }
  return { metaId: field.metaId, question: predicates[predicate].question(converted) };
}

// Condition: a checked filter expression, which the records store turns into SQL (interface 2.9).

/** A question about a custom field of one workspace, in the terms of its own type. */
export interface CustomFieldQuestion {
  readonly metaId: string;
  readonly question: Question;
}

export type Condition =
  | { readonly join: 'AND' | 'OR'; readonly parts: readonly Condition[] }
  | { readonly field: AssetFieldName; readonly question: Question }
  /** Fields of one name: a device has at most one of them, that of its workspace. All questions have the same `ask`. */
  | { readonly customFields: readonly CustomFieldQuestion[]; readonly inverse: boolean };
