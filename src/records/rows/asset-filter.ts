// Conditions in SQL: names come from tables in the code, values are always parameters (interface 2.9).
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Condition, CustomFieldQuestion } from '../../filters/condition.ts';
import type { Question, ValueTest } from '../../filters/predicate.ts';
import type { EpochMs } from '../../model/instant.ts';
import { type AssetSource, assetSources } from './asset-sources.ts';
import type { RecordsDb } from '../records.ts';
import { type EngineSql, engineSql } from '../engine-sql.ts';

type Value = RawBuilder<unknown>;
type Truth = RawBuilder<SqlBool>;

const comparisons = { less: '<', lessOrEqual: '<=', greater: '>', greaterOrEqual: '>=' } as const;

/** True for the rows of `devices` that meet the condition; `now` decides who is online. */
export function meets(db: RecordsDb, condition: Condition, now: EpochMs): Expression<SqlBool> {
  const words = engineSql(db);
  const sources = assetSources(words, now);
  const truthOf = (part: Condition): Truth => {
    if ('join' in part) return joined(part.join, part.parts.map(truthOf));
    if ('customFields' in part) return customFieldTruth(words, part.customFields, part.inverse);
    return questionTruth(words, sources[part.field], part.question);
  };
  return truthOf(condition);
}

/** An empty group restricts nothing. */
function joined(join: 'AND' | 'OR', parts: readonly Truth[]): Truth {
  if (parts.length === 0) return sql<SqlBool>`1 = 1`;
  return sql<SqlBool>`(${sql.join([...parts], join === 'AND' ? sql` and ` : sql` or `)})`;
}

function questionTruth(words: EngineSql, source: AssetSource, question: Question): Truth {
  switch (question.ask) {
    case 'any':
      return passes(words, source, question.test);
    case 'none':
      // A field without a value fails every test; an unknown result counts as false.
      return sql<SqlBool>`not coalesce(${passes(words, source, question.test)}, false)`;
    case 'each':
      return joined(
        'AND',
        question.tests.map((test) => passes(words, source, test)),
      );
    case 'present':
      return isSet(source);
    case 'absent':
      return sql<SqlBool>`not (${isSet(source)})`;
  }
}

function passes(words: EngineSql, source: AssetSource, test: ValueTest): Truth {
  if ('value' in source) return testTruth(words, source.value, test);
  return sql<SqlBool>`${source.key} in (${source.rows((value) => testTruth(words, value, test))})`;
}

function isSet(source: AssetSource): Truth {
  if ('value' in source) return sql<SqlBool>`${source.value} is not null`;
  return sql<SqlBool>`${source.key} in (${source.rows((value) => sql`${value} is not null`)})`;
}

function testTruth({ comparable }: EngineSql, value: Value, test: ValueTest): Truth {
  const parameter = (given: string | number): Value =>
    typeof given === 'number' ? comparable(given) : sql`${given}`;
  switch (test.test) {
    case 'oneOf': {
      const [first, ...others] = test.values.map(parameter);
      // One value is compared by `=`, so that an index on it also gives the order.
      if (others.length === 0) return sql<SqlBool>`${value} = ${first}`;
      return sql<SqlBool>`${value} in (${sql.join([first, ...others])})`;
    }
    case 'between':
      return sql<SqlBool>`${value} between ${parameter(test.least)} and ${parameter(test.greatest)}`;
    case 'contains':
      return like(value, `%${escaped(test.text)}%`);
    case 'startsWith':
      return like(value, `${escaped(test.text)}%`);
    case 'endsWith':
      return like(value, `%${escaped(test.text)}`);
    default:
      return sql<SqlBool>`${value} ${sql.raw(comparisons[test.test])} ${parameter(test.value)}`;
  }
}

function like(value: Value, pattern: string): Truth {
  return sql<SqlBool>`${value} like ${pattern} escape '!'`;
}

function escaped(text: string): string {
  return text.replace(/[!%_]/g, '!$&');
}

function customFieldTruth(
  words: EngineSql,
  fields: readonly CustomFieldQuestion[],
  inverse: boolean,
): Truth {
  const rows = fields.map(
    ({ metaId, question }) =>
      sql`select ${sql.ref('deviceId')} from ${sql.table('deviceCustomFields')} where ${sql.ref('metaId')} = ${metaId} and ${ownTruth(words, question)}`,
  );
  const membership = rows.map((each) => sql<SqlBool>`${sql.ref('devices.id')} in (${each})`);
  if (!inverse) return joined('OR', membership);
  const absences = membership.map((each) => sql<SqlBool>`not (${each})`);
  return joined('AND', absences);
}

/**
 * What a row of the field must be like to count, for the inverse predicates what it must not be
 * like.
 */
function ownTruth(words: EngineSql, question: Question): Value {
  if (question.ask === 'present' || question.ask === 'absent') return sql`1 = 1`;
  const [test] = 'tests' in question ? question.tests : [question.test];
  if (test === undefined) return sql`1 = 1`;
  return testTruth(words, sql.ref(isNumeric(test) ? 'numberKey' : 'textKey'), test);
}

function isNumeric(test: ValueTest): boolean {
  if ('text' in test) return false;
  if ('values' in test) return typeof test.values[0] === 'number';
  if ('least' in test) return typeof test.least === 'number';
  return typeof test.value === 'number';
}
