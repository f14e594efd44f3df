// CSV as RFC 4180 and spreadsheets write it: quoted cells, any line end, and a clear error where a row is torn.

export interface CsvRow {
  /** Of the text, counted from 1: where the row begins. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Why the row cannot be trusted, as a sentence without its line; the cells are those before the place. */
  readonly fault?: string;
}

interface Cell {
  readonly value: string;
  /** Where the separator, the line end or the end of the text should be. */
  readonly end: number;
  readonly fault?: string;
}

/** The candidate that the first row of the text holds most of, outside of quotes; the first one when none occurs. */
export function separatorOf(
  text: string,
  candidates: readonly string[] = [',', ';', '\t'],
): string {
  const counted = candidates.map((each) => ({ each, count: rowAt(text, 0, each).cells.length }));
  return counted.reduce((best, other) => (other.count > best.count ? other : best)).each;
}

/** Every row of the text, in order; a row of one empty cell is left out. A byte order mark is passed over. */
export function* csvRows(text: string, separator: string): Generator<CsvRow> {
  let at = text.startsWith('\ufeff') ? 1 : 0;
  let line = 1;
  while (at < text.length) {
    const { cells, fault, end, lines } = rowAt(text, at, separator);
    const isEmpty = cells.length === 1 && cells[0] === '' && fault === undefined;
    if (!isEmpty) yield fault === undefined ? { line, cells } : { line, cells, fault };
    line += lines;
    at = end;
  }
}

/** The cells of a text that is one row. Throws an Error that says what is wrong with it. */
export function csvCells(row: string, separator: string): readonly string[] {
  const { cells, fault, end } = rowAt(row, 0, separator);
  if (fault !== undefined) throw new Error(fault);
  if (end < row.length) throw new Error('is more than one row');
  return cells;
}

function rowAt(text: string, start: number, separator: string) {
  const cells: string[] = [];
  let at = start;
  for (;;) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, separator);
    const isTorn = cell.fault === undefined && !isCellEnd(text, cell.end, separator);
    const fault = isTorn ? 'has text behind the closing quote of' : cell.fault;
    if (fault !== undefined) {
      const end = afterLine(text, cell.end);
      return {
        cells,
        fault: `${fault} cell ${cells.length + 1}`,
        end,
        lines: linesIn(text, start, end),
      };
    }
    cells.push(cell.value);
    at = cell.end;
    if (text[at] !== separator) break;
    at += 1;
  }
  const end = afterLine(text, at);
  return { cells, fault: undefined, end, lines: linesIn(text, start, end) };
}

function isCellEnd(text: string, at: number, separator: string): boolean {
  return at >= text.length || text[at] === separator || text[at] === '\n' || text[at] === '\r';
}

function plainCell(text: string, start: number, separator: string): Cell {
  let end = start;
  while (!isCellEnd(text, end, separator)) end += 1;
  return { value: text.slice(start, end), end };
}

/** A quote within is written twice. */
function quotedCell(text: string, start: number): Cell {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { value, end: text.length, fault: 'does not close the quote of' };
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}

/** Behind the line end at or after a place. */
function afterLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at += 1;
  return text.startsWith('\r\n', at) ? at + 2 : Math.min(at + 1, text.length);
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = start; at < end; at++) {
    if (text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n')) lines += 1;
  }
  return lines;
}

const special = /[",\r\n]/;

/** One line with its end. Cells with a character of `quoted` are quoted: it must match at least quotes, commas and line ends. */
export function csvLine(cells: readonly string[], quoted = special): string {
  const written = cells.map((cell) =>
    quoted.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return `${written.join(',')}\r\n`;
}

const formulaStart = /^[=+\-@\t\r]/;

/** Spreadsheets run cells that start like a formula, also texts that a device sent. An apostrophe makes them text. */
export function withoutFormula(text: string): string {
  return formulaStart.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe of `withoutFormula`. */
export function originalText(cell: string): string {
  return cell.startsWith("'") && formulaStart.test(cell.slice(1)) ? cell.slice(1) : cell;
}
