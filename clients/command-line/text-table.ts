// Text table: rows of strings in columns, for people.

/** Control characters of a device must not reach the terminal. */
export function shown(cell: string): string {
  return cell.replaceAll(/\p{Cc}/gu, '·');
}

/** With a line of titles; the last column is not padded. */
export function textTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows.map((row) => row.map(shown))];
  const widths = titles.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const padded = lines.map((line) =>
    line.map((cell, i) => (i === line.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '),
  );
  return `${padded.join('\n')}\n`;
}
