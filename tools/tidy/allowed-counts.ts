// Allowed counts of the ratchets: one row per count, in a file that merges line by line.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const allowedDocument = 'tools/tidy/allowed.txt';

/** Returns count by name. After a merge a name can have two rows: the lower one is valid. */
export function readAllowed(root: string): Map<string, number> {
  const allowed = new Map<string, number>();
  for (const row of rowsOf(root)) {
    const [count, ...words] = row.split(' ');
    const name = words.join(' ');
    const value = Number(count);
    if (name === '' || !Number.isSafeInteger(value))
      throw new Error(`${allowedDocument}: "${row}" is not a count and a name`);
    allowed.set(name, Math.min(value, allowed.get(name) ?? value));
  }
  return allowed;
}

/** Writes the rows in the order of names; returns whether the file changed. */
export function writeAllowed(root: string, allowed: ReadonlyMap<string, number>): boolean {
  const rows = [...allowed].map(([name, count]) => `${count} ${name}`);
  const sorted = rows.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  if (rowsOf(root).join('\n') === sorted.join('\n')) return false;
  writeFileSync(join(root, allowedDocument), sorted.map((row) => `${row}\n`).join(''));
  return true;
}

function rowsOf(root: string): string[] {
  const path = join(root, allowedDocument);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((row) => row !== '');
}

function nameOf(row: string): string {
  return row.slice(row.indexOf(' ') + 1);
}
