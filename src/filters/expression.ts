// Reads a filter expression as clients send it, and refuses what makes no sense with where and why (interface 2.9, contract 35).
import { isJsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import {
  assetFieldNamed,
  type AssetField,
  type AssetFieldName,
  assetFields,
} from './asset-fields.ts';
import type { Condition, CustomFieldQuestion } from './condition.ts';
import { valueFor } from './filter-values.ts';
import type { FilterType } from '../model/filter-type.ts';
import type { FilterValue, Question } from './predicate.ts';
import { type PredicateName, predicateNames, predicates, predicatesOf } from './predicate-table.ts';

export const expressionLimits = { depthMax: 3, filtersMax: 200, valuesMax: 5_000 } as const;

/** A custom field that a filter may name. */
export interface FilterableCustomField {
  readonly metaId: string;
  readonly name: string;
  /** What its values can be asked besides being set; undefined for those that have no order and no text. */
  readonly type: FilterType | undefined;
}

interface Reading {
  /** The fields of that name in the workspaces of the list. */
  readonly customFieldsNamed: (name: string) => readonly FilterableCustomField[];
  filters: number;
  values: number;
}

interface SentFilter {
  readonly where: string;
  readonly predicate: PredicateName;
  readonly values: readonly unknown[];
}

/** Throws Problem `expressionInvalid` (400) naming the place and the reason. */
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
  if (!isJsonObject(sent)) refuse(where, 'must be a filter or a list of expressions');
  const operator = sent['operator'] ?? (sent['expressions'] === undefined ? 'FILTER' : undefined);
  if (operator === 'FILTER') return filterOf(sent, where, reading);
  if (operator !== 'AND' && operator !== 'OR')
    refuse(`${where}.operator`, 'must be AND, OR or FILTER');
  const { depthMax } = expressionLimits;
  if (depth >= depthMax) refuse(where, `nests deeper than ${depthMax} lists of expressions`);
  const { expressions } = sent;
  if (!Array.isArray(expressions))
    refuse(`${where}.expressions`, 'must be a list of filters or expressions');
  if (expressions.length > expressionLimits.filtersMax) {
    refuse(`${where}.expressions`, `holds more than ${expressionLimits.filtersMax} expressions`);
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
  if (++reading.filters > expressionLimits.filtersMax) {
    refuse(
      where,
      `is one filter more than the ${expressionLimits.filtersMax} an expression may have`,
    );
  }
  const { field } = sent;
  if (typeof field !== 'string') refuse(`${where}.field`, 'must be the name of a field');
  const filter = { where, predicate: predicateOf(sent, where), values: valuesOf(sent, where) };
  reading.values += filter.values.length;
  if (reading.values > expressionLimits.valuesMax) {
    refuse(where, `brings the values of the expression above ${expressionLimits.valuesMax}`);
  }
  if (field === 'customFields') return customFieldsOf(sent['customFieldName'], filter, reading);
  const name = assetFieldNamed(field);
  if (name === undefined) {
    const known = [...Object.keys(assetFields), 'customFields'].join(', ');
    refuse(`${where}.field`, `there is no field ${field.slice(0, 100)}; fields are ${known}`);
  }
  return { field: name, question: fieldQuestion(name, filter) };
}

function predicateOf(sent: Readonly<Record<string, unknown>>, where: string): PredicateName {
  const { predicate } = sent;
  const known = predicateNames.find((name) => name === predicate);
  if (known === undefined) {
    refuse(
      `${where}.predicate`,
      `there is no predicate ${String(predicate).slice(0, 100)}; predicates are ${predicateNames.join(', ')}`,
    );
  }
  return known;
}

/** Clients send `values` or `stringValues`, and an empty list under the other name. */
function valuesOf(sent: Readonly<Record<string, unknown>>, where: string): readonly unknown[] {
  const lists = ['values', 'stringValues'].map((name) => {
    const list = sent[name] ?? [];
    if (!Array.isArray(list)) refuse(`${where}.${name}`, 'must be a list');
    return list as readonly unknown[];
  });
  const [values = [], stringValues = []] = lists;
  if (values.length > 0 && stringValues.length > 0)
    refuse(where, 'has both values and stringValues; send one of them');
  return values.length > 0 ? values : stringValues;
}

function checkCount({ where, predicate, values }: SentFilter): void {
  const { min, max } = predicates[predicate].values;
  if (values.length >= min && values.length <= max) return;
  const wanted = min === max ? `${min}` : `${min} to ${max}`;
  refuse(
    `${where}.values`,
    `${predicate} takes ${wanted} value${max === 1 ? '' : 's'}, and there are ${values.length}`,
  );
}

function fieldQuestion(name: AssetFieldName, filter: SentFilter): Question {
  const field: AssetField = assetFields[name];
  const { where, predicate } = filter;
  if (!predicatesOf(field.types).includes(predicate)) {
    refuse(
      `${where}.predicate`,
      `${name} does not take ${predicate}; it takes ${predicatesOf(field.types).join(', ')}`,
    );
  }
  checkCount(filter);
  const values = filter.values.map((sent, at) => {
    const converted = valueFor(elementType(field), sent);
    if ('reason' in converted) refuse(`${where}.values[${at}]`, converted.reason);
    const { value } = converted;
    if (
      field.values !== undefined &&
      !field.values.some((known) => known.toLowerCase() === value)
    ) {
      refuse(`${where}.values[${at}]`, `${name} is one of ${field.values.join(', ')}`);
    }
    return value;
  });
  return predicates[predicate].question(values);
}

/** What the values of a list field are. */
function elementType(field: AssetField): FilterType {
  return field.types.find((type) => type !== 'LIST') ?? 'STRING';
}

function customFieldsOf(name: unknown, filter: SentFilter, reading: Reading): Condition {
  const { where } = filter;
  if (typeof name !== 'string' || name === '')
    refuse(`${where}.customFieldName`, 'must be the name of a custom field');
  const fields = reading.customFieldsNamed(name);
  if (fields.length === 0)
    refuse(`${where}.customFieldName`, `there is no custom field ${name.slice(0, 100)} here`);
  checkCount(filter);
  const refusals: [string, string][] = [];
  const questions: CustomFieldQuestion[] = [];
  for (const field of fields) {
    const question = customFieldQuestion(field, filter);
    if ('reason' in question) refusals.push([question.at, question.reason]);
    else questions.push({ metaId: field.metaId, question: question.question });
  }
  // Workspaces may have fields of that name and different types; it is enough that one of them can be asked.
  const [asked] = questions;
  if (asked === undefined) refuse(`${where}.${refusals[0]?.[0]}`, refusals[0]?.[1] ?? '');
  const { ask } = asked.question;
  return { customFields: questions, inverse: ask === 'none' || ask === 'absent' };
}

function customFieldQuestion(
  field: FilterableCustomField,
  { predicate, values }: SentFilter,
): { readonly question: Question } | { readonly at: string; readonly reason: string } {
  const types: readonly FilterType[] = [
    'CUSTOM_FIELD',
    ...(field.type === undefined ? [] : [field.type]),
  ];
  if (!predicatesOf(types).includes(predicate)) {
    const reason = `the custom field ${field.name} does not take ${predicate}; it takes ${predicatesOf(types).join(', ')}`;
    return { at: 'predicate', reason };
  }
  const converted: FilterValue[] = [];
  for (const [at, sent] of values.entries()) {
    const result = valueFor(field.type ?? 'STRING', sent);
    if ('reason' in result) return { at: `values[${at}]`, reason: result.reason };
    converted.push(result.value);
  }
  return { question: predicates[predicate].question(converted) };
}
