// Verify report: what a check of a data folder has read, and each damaged place, as one block.
import type { FolderFindings } from './verify.ts';

export function verifyText(findings: FolderFindings): string {
  const { store, rawUplinks, deliveries, records, directory, seconds } = findings;
  const lines: [string, string][] = [
    ['Segments', count(store.segments)],
    ['Chunks', count(store.chunks)],
    ['Samples in chunks', count(store.sealedSamples)],
    ['Hours', count(store.hours)],
    [
      'Journal frames',
      `${count(store.journalEntries)} with ${count(store.journalSamples)} samples, also of chunks`,
    ],
    ['Raw uplinks', count(rawUplinks.uplinks)],
    ['Delivery records', count(deliveries.records)],
    ['Records', records.damage.length === 0 ? 'sound' : 'damaged'],
  ];
  if (store.tornBytes > 0) {
    lines.push([
      'Torn end',
      `${count(store.tornBytes)} bytes, never acknowledged; truncated at the next start`,
    ]);
  }
  const width = Math.max(...lines.map(([name]) => name.length)) + 2;
  const body = lines.map(([name, value]) => `  ${name.padEnd(width)}${value}`).join('\n');
  return `\nChecked ${directory} in ${seconds.toFixed(1)} s\n\n${body}\n\n${verdict(findings)}\n`;
}

function verdict({ store, rawUplinks, deliveries, records }: FolderFindings): string {
  const damage = [
    ...store.damage.map(({ kind, path, reason }) => ({ kind, path, reason })),
    ...rawUplinks.damage.map(({ path, offset, bytes }) => ({
      kind: 'raw uplinks',
      path,
      reason: `${count(bytes)} bytes from ${count(offset)} on cannot be read`,
    })),
    ...deliveries.damage.map((place) => ({ kind: 'deliveries', ...place })),
    ...records.damage.map((reason) => ({ kind: 'records', path: records.path, reason })),
  ];
  if (damage.length === 0) return 'No corruption found.';
  const places = damage
    .map(({ kind, path, reason }) => `  ${kind} in ${path}\n    ${reason}\n`)
    .join('');
  const head =
    damage.length === 1 ? '1 corrupted region:' : `${count(damage.length)} corrupted regions:`;
  return `${head}\n\n${places}\nNothing was changed. Corrupted samples are skipped; everything else is available. Restore a backup to recover them.`;
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
