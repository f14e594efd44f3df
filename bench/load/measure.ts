// Measurement tools of the benches: percentiles, tables, machine description, cost of an fsync, the document.
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { cpus, release, tmpdir, totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export interface Summary {
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Percentiles of durations in milliseconds, by the nearest rank. */
export function summarize(durationsMs: readonly number[] | Float64Array): Summary {
  if (durationsMs.length === 0) throw new Error('nothing was measured');
  const sorted = Float64Array.from(durationsMs).sort();
  const rank = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;
  return {
    count: sorted.length,
    p50Ms: rank(0.5),
    p95Ms: rank(0.95),
    p99Ms: rank(0.99),
    maxMs: sorted.at(-1)!,
  };
}

/** The middle of some numbers; of an even count, the lower of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[(sorted.length - 1) >> 1]!;
}

/** Three significant digits, with a separator at thousands: 0.0412, 8.31, 152,000. */
export function figure(n: number): string {
  if (!Number.isFinite(n)) return 'n/a';
  if (Math.abs(n) < 1_000) return String(Number(n.toPrecision(3)));
  const magnitude = 10 ** (Math.floor(Math.log10(Math.abs(n))) - 2);
  return (Math.round(n / magnitude) * magnitude).toLocaleString('en-US');
}

export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const cells = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  return [cells(head), cells(head.map(() => '---')), ...rows.map(cells)].join('\n');
}

/** One line about the machine, for the head of every result. */
export function machineShape(): string {
  const processors = cpus();
  const memoryGiB = (totalmem() / 2 ** 30).toFixed(0);
  const model = processors[0]?.model.trim() ?? 'unknown processor';
  return `${processors.length} cores (${model}), ${memoryGiB} GiB, Linux ${release()}, Node ${process.versions.node}`;
}

/**
 * What one append of 4 KiB with fdatasync costs in a folder, milliseconds. Files are removed again.
 */
function fsyncCost(folder: string, rounds = 200): Summary {
  const path = join(folder, `fsync-${process.pid}.tmp`);
  const file = openSync(path, 'w');
  const block = Buffer.alloc(4_096, 1);
  const durationsMs: number[] = [];
  try {
    for (let i = 0; i < rounds; i++) {
      const startMs = performance.now();
      writeSync(file, block);
      fdatasyncSync(file);
      durationsMs.push(performance.now() - startMs);
    }
  } finally {
    closeSync(file);
    rmSync(path);
  }
  return summarize(durationsMs);
}

/** Description of machine and disk above every table. */
export function conditions(folder: string): string {
  const fsync = fsyncCost(folder);
  const at = new Date().toISOString().slice(0, 16);
  return `Measured ${at}Z on ${machineShape()}; fdatasync of 4 KiB in the same run: p50 ${figure(fsync.p50Ms)} ms, p99 ${figure(fsync.p99Ms)} ms.`;
}

export const repositoryRoot = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Puts the command and `text` under the heading `## title` of docs/measurements.md, replacing the text
 * of an earlier run. Other sections do not change.
 */
export function writeMeasurement(title: string, text: string): void {
  const path = join(repositoryRoot, 'docs', 'measurements.md');
  mkdirSync(dirname(path), { recursive: true });
  const heading = `## ${title}`;
  const sections = readDocument(path).split(/\n(?=## )/);
  const section = `${heading}\n\n\`${command()}\`\n\n${text.trim()}\n`;
  const at = sections.findIndex((each) => each.split('\n', 1)[0] === heading);
  if (at < 0) sections.push(section);
  else sections[at] = section;
  writeFileSync(path, `${sections.map((each) => each.trim()).join('\n\n')}\n`);
}

/**
 * Prints a result below machine and disk; with `--write`, it replaces the section of that title in
 * docs/measurements.md.
 */
export function publish(title: string, parts: readonly string[], folder = tmpdir()): void {
  const text = [conditions(folder), ...parts].join('\n\n');
  console.log(text);
  if (process.argv.includes('--write')) writeMeasurement(title, text);
}

/** The word of every result for a goal. */
export function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'MISSED';
}

/** What was run, without `--write`. */
function command(): string {
  const [, path = '', ...options] = process.argv;
  const bench = basename(path, '.ts');
  return ['npm run bench --', bench, ...options.filter((word) => word !== '--write')].join(' ');
}

function readDocument(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return '# Measurements\n\nThe last run of each bench. Ratios within one run count; absolute times drift with the machine.\n';
  }
}
