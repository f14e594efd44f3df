// CSV as RFC 4180 and spreadsheets write it: quoted cells, any line end, comma or semicolon, and no cell that runs as a formula.

export interface CsvRow {
  /** Of the file, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of a text; lines without any cell are left out. The separator is the one the first line holds more of. */
export function csvRows(text: string): CsvRow[] {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  const firstLine = /^[^\r\n]*/.exec(body)?.[0] ?? '';
  const separator = firstLine.split(';').length > firstLine.split(',').length ? ';' : ',';
  const rows: CsvRow[] = [];
  let at = 0;
  let line = 1;
  while (at < body.length) {
    const row = readRow(body, at, separator);
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push({ line, cells: row.cells });
    line += row.lines;
    at = row.end;
  }
  return rows;
}

function readRow(text: string, start: number, separator: string) {
  const cells: string[] = [];
  let at = start;
  for (;;) {
    const cell = text[at] === '"' ? quotedCell(text, at) : plainCell(text, at, separator);
    cells.push(cell.value);
    at = cell.end;
    if (text[at] !== separator) break;
    at += 1;
  }
  const end = text.startsWith('\r\n', at) ? at + 2 : Math.min(at + 1, text.length);
  const lines = text.slice(start, end).split(/\r\n|\r|\n/).length - 1;
  return { cells, end, lines };
}

function plainCell(text: string, start: number, separator: string) {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { value: text.slice(start, end), end };
}

/** A quote within is written twice; what follows the closing quote up to the separator is dropped by nobody: it is kept. */
function quotedCell(text: string, start: number) {
  let value = '';
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { value: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    if (text[quote + 1] !== '"') return { value, end: quote + 1 };
    value += '"';
    at = quote + 2;
  }
}

const formulaStart = /^[=+\-@\t\r]/;

/** One line with its end. Spreadsheets run cells that look like formulas, so those get an apostrophe in front. */
export function csvLine(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = formulaStart.test(cell) && !/^-?\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell;
    return /[",;\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(',')}\r\n`;
}

/** What `csvLine` put in front is taken away again. */
export function cellText(cell: string): string {
  return cell.startsWith("'") && formulaStart.test(cell.slice(1)) ? cell.slice(1) : cell;
}
