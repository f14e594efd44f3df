// Sorted runs: more lines than memory holds, sorted in parts on disk and merged in order.
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Characters that are sorted in memory. */
const runCharsDefault = 16 * 1024 * 1024;
/** Files that are read together. */
const runsAtOnce = 64;
const batchLines = 1_000;

export interface SortedRuns {
  /** Takes a line without a newline. */
  readonly add: (line: string) => void;
  /** All lines in the order of their characters, in batches; each call reads from the start. */
  readonly read: () => AsyncGenerator<readonly string[]>;
  readonly close: () => void;
}

/** `folder` is where a folder for the runs is created. */
export function createSortedRuns(folder: string, runChars = runCharsDefault): SortedRuns {
  const place = mkdtempSync(join(folder, 'heliograph-import-'));
  let runs: string[] = [];
  let count = 0;
  let lines: string[] = [];
  let chars = 0;

  function newPath(): string {
    return join(place, String(count++));
  }

  function writeRun(): void {
    if (lines.length === 0) return;
    const path = newPath();
    writeFileSync(path, '');
    lines.sort();
    for (let at = 0; at < lines.length; at += batchLines)
      writeFileSync(path, `${lines.slice(at, at + batchLines).join('\n')}\n`, { flag: 'a' });
    runs.push(path);
    lines = [];
    chars = 0;
  }

  /** Fewer files, so that the last merge reads them together. */
  async function mergeSome(): Promise<void> {
    const path = newPath();
    const some = runs.slice(0, runsAtOnce);
    writeFileSync(path, '');
    for await (const batch of merged(some))
      writeFileSync(path, `${batch.join('\n')}\n`, { flag: 'a' });
    for (const old of some) rmSync(old);
    runs = [...runs.slice(runsAtOnce), path];
  }

  return {
    add(line) {
      lines.push(line);
      chars += line.length;
      if (chars >= runChars) writeRun();
    },
    async *read() {
      writeRun();
      while (runs.length > runsAtOnce) await mergeSome();
      yield* merged(runs);
    },
    close: () => rmSync(place, { recursive: true, force: true }),
  };
}

/** Lines of a file that wait to be merged. */
interface Run {
  readonly batches: AsyncGenerator<readonly string[]>;
  lines: readonly string[];
  at: number;
}

async function* merged(paths: readonly string[]): AsyncGenerator<readonly string[]> {
  const all = paths.map<Run>((path) => ({ batches: linesOf(path), lines: [], at: 0 }));
  const open: Run[] = [];
  for (const run of all) if (await refill(run)) open.push(run);
  let batch: string[] = [];
  while (open.length > 0) {
    const first = smallest(open);
    batch.push(first.lines[first.at] ?? '');
    first.at++;
    if (first.at === first.lines.length && !(await refill(first)))
      open.splice(open.indexOf(first), 1);
    if (batch.length < batchLines) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function smallest(runs: readonly Run[]): Run {
  return runs.reduce((one, other) =>
    (other.lines[other.at] ?? '') < (one.lines[one.at] ?? '') ? other : one,
  );
}

/** Returns whether there are more lines. */
async function refill(run: Run): Promise<boolean> {
  const { value, done } = await run.batches.next();
  if (done === true) return false;
  run.lines = value;
  run.at = 0;
  return true;
}

/** Lines of a file as they are read, which ends with a newline. */
async function* linesOf(path: string): AsyncGenerator<readonly string[]> {
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8' })) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
}
