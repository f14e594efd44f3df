// Lines of CSV for spreadsheets: quoted cells, and no cell that runs as a formula.

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
