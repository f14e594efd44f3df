// CSV as RFC 4180 and spreadsheets write it: quoted cells, any line end, an error for a malformed row.

export interface CsvRow {
  /** Line of the file where the row starts, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** The error of a malformed row, without its line. `cells` has the cells before the error. */
  readonly fault?: string;
}

interface Cell {
  readonly value: string;
  /** Where the separator, the line end or the end of the text should be. */
  readonly end: number;
  readonly fault?: string;
}

/**
 * Returns the most frequent candidate in the first row outside of quotes; the first candidate when
 * none occurs.
 */
export function separatorOf(
  text: string,
  candidates: readonly string[] = [',', ';', '\t'],
): string {
  let best = ',';
  let most = -1;
  for (const candidate of candidates) {
    const count = rowAt(text, 0, candidate).cells.length;
    if (count <= most) continue;
    best = candidate;
    most = count;
  }
  return best;
}

/** Yields the rows in order. Skips empty rows and a byte order mark. */
export function* csvRows(text: string, separator: string): Generator<CsvRow> {
  let at = Number(text.startsWith('\ufeff'));
  let line = 1;
  while (at < text.length) {
    const { cells, fault, end, lines } = rowAt(text, at, separator);
    const isEmpty = cells.length === 1 && cells[0] === '' && fault === undefined;
    if (!isEmpty) yield { line, cells, ...(fault !== undefined && { fault }) };
    line += lines;
    at = end;
  }
}

/** Returns the cells of one row. Throws an Error that describes a malformed row. */
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
    const cell = cellAt(text, at, separator);
    const { fault } = cell;
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

function cellAt(text: string, at: number, separator: string): Cell {
  if (text[at] !== '"') return plainCell(text, at, separator);
  const cell = quotedCell(text, at);
  if (cell.fault !== undefined || isCellEnd(text, cell.end, separator)) return cell;
  return { ...cell, fault: 'has text behind the closing quote of' };
}

function isCellEnd(text: string, at: number, separator: string): boolean {
  return at >= text.length || text[at] === separator || text[at] === '\n' || text[at] === '\r';
}

function plainCell(text: string, start: number, separator: string): Cell {
  let end = start;
  while (!isCellEnd(text, end, separator)) end += 1;
  return { value: text.slice(start, end), end };
}

/** A quote in the cell is written twice. */
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

/** Returns the offset after the next line end. */
function afterLine(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at += 1;
  if (text.startsWith('\r\n', at)) return at + 2;
  return Math.min(at + 1, text.length);
}

function linesIn(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = start; at < end; at++) {
    if (text[at] === '\n' || (text[at] === '\r' && text[at + 1] !== '\n')) lines += 1;
  }
  return lines;
}

const special = /[",\r\n]/;

/**
 * One line with its end. Cells with a character of `quoted` are quoted: it must match at least
 * quotes, the separator and line ends.
 */
export function csvLine(cells: readonly string[], quoted = special, separator = ','): string {
  const written = cells.map((cell) => {
    if (quoted.test(cell)) return `"${cell.replaceAll('"', '""')}"`;
    return cell;
  });
  return `${written.join(separator)}\r\n`;
}

const formulaStart = /^[=+\-@\t\r]/;

/**
 * Spreadsheets execute cells that start like a formula, also strings from a device. An apostrophe
 * prevents it.
 */
export function withoutFormula(text: string): string {
  if (formulaStart.test(text)) return `'${text}`;
  return text;
}

/** Removes the apostrophe of `withoutFormula`. */
export function originalText(cell: string): string {
  if (cell.startsWith("'") && formulaStart.test(cell.slice(1))) return cell.slice(1);
  return cell;
}
