// Annotated CSV of InfluxDB 2: each row becomes a line in line protocol.
import { csvCells } from '../../src/structures/csv.ts';

/** Columns of a table that name neither a tag nor a field. */
const ownColumns = new Set(['', 'result', 'table', '_start', '_stop', '_time', '_measurement']);

export interface CsvLines {
  /** The line of a row; undefined for annotations, headers and empty rows. Throws for a row that has no time. */
  readonly lineOf: (row: string) => string | undefined;
}

interface Table {
  readonly datatypes: readonly string[];
  readonly groups: readonly string[];
  readonly defaults: readonly string[];
  readonly names: readonly string[] | undefined;
}

const noTable: Table = { datatypes: [], groups: [], defaults: [], names: undefined };

/** Reads the rows of one file in order: tables with different columns follow each other. */
export function createCsvLines(): CsvLines {
  let table = noTable;
  let isHead = false;

  function annotate(cells: readonly string[]): void {
    if (!isHead) table = noTable;
    isHead = true;
    const [kind = ''] = cells;
    if (kind === '#datatype') table = { ...table, datatypes: cells };
    else if (kind === '#group') table = { ...table, groups: cells };
    else if (kind === '#default') table = { ...table, defaults: cells };
  }

  return {
    lineOf(row) {
      if (row.trim() === '') {
        // A header without annotations can follow.
        table = { ...table, names: undefined };
        return undefined;
      }
      const cells = csvCells(row, ',');
      if (row.startsWith('#')) {
        annotate(cells);
        return undefined;
      }
      if (isHead || table.names === undefined) {
        table = { ...table, names: cells };
        isHead = false;
        return undefined;
      }
      return pointLine(table, cells);
    },
  };
}

function pointLine(
  { names = [], datatypes, groups, defaults }: Table,
  cells: readonly string[],
): string | undefined {
  const valueOf = (i: number): string => cells[i] || (defaults[i] ?? '');
  const named = (name: string): string => valueOf(names.indexOf(name));
  const time = named('_time');
  if (time === '') throw new Error('no _time: export points, not aggregates without times');
  const isField = names.includes('_field');
  const fields: string[] = [];
  const tags: string[] = [];
  for (const [i, name] of names.entries()) {
    const value = valueOf(i);
    if (ownColumns.has(name) || name === '_field' || value === '') continue;
    if (name === '_value' && isField)
      fields.push(`${escaped(named('_field'))}=${fieldValue(datatypes[i], value)}`);
    else if (groups[i] === 'false' && !isField)
      fields.push(`${escaped(name)}=${fieldValue(datatypes[i], value)}`);
    else tags.push(`,${escaped(name)}=${escaped(value)}`);
  }
  if (fields.length === 0) return undefined;
  const measurement = named('_measurement').replaceAll(/[, ]/g, '\\$&');
  return `${measurement}${tags.join('')} ${fields.join(',')} ${nanoseconds(time)}`;
}

function escaped(name: string): string {
  return name.replaceAll(/[,= ]/g, '\\$&');
}

function fieldValue(datatype: string | undefined, value: string): string {
  if (datatype === 'long') return `${value}i`;
  if (datatype === 'unsignedLong') return `${value}u`;
  if (datatype === 'double' || datatype === 'boolean') return value;
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The digits of a time in RFC 3339, which has up to nine digits of a second. */
function nanoseconds(time: string): string {
  const [, seconds = '', fraction = '', zone = ''] =
    /^(.*?\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/.exec(time) ?? [];
  const ms = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(ms)) throw new Error(`_time ${time} is not a time in RFC 3339`);
  return String(BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0')));
}
