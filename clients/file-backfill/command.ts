// `npm run backfill -- FILE`: loads a CSV or NDJSON file of samples; resumes an interrupted run.
import { parseArgs } from 'node:util';
import {
  backfillFile,
  backfillTriesMax,
  type FileFormat,
  placePathOf,
  reportPathOf,
} from './file-backfill.ts';
import { createClient } from '../typescript/client.ts';
import { progressText } from './progress-text.ts';

const usage = `usage: npm run backfill -- FILE --key API_KEY [--url http://localhost:8080] [--device ID] [--format csv|ndjson]

Loads the samples of a CSV file (header row; timestamp, deviceId, topic, meta, and every other column a data key, nested by dots)
or an NDJSON file ({"timestamp", "deviceId", "topic", "data", "meta"} a line; what an export writes can be loaded as it is).
A device is named by its physical or its service id; --device is for lines without one. An interrupted run resumes when
the command is repeated; identical samples are stored once. What cannot be stored is listed in FILE.backfill-errors.ndjson.`;

const lineEveryMs = 5_000;

function formatOf(path: string, asked: string | undefined): FileFormat {
  const format = asked ?? (/\.csv$/i.test(path) ? 'csv' : 'ndjson');
  if (format === 'csv' || format === 'ndjson') return format;
  throw new Error(`Invalid --format ${format}: it must be csv or ndjson`);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://localhost:8080' },
      key: { type: 'string' },
      device: { type: 'string' },
      format: { type: 'string' },
    },
  });
  const [path] = positionals;
  if (path === undefined || values.key === undefined || positionals.length > 1) {
    console.error(usage);
    process.exitCode = 2;
    return;
  }
  const stopping = new AbortController();
  process.once('SIGINT', () => stopping.abort());
  process.once('SIGTERM', () => stopping.abort());
  const { signal } = stopping;
  const startedAt = performance.now();
  let shownAt = 0;
  try {
    const done = await backfillFile({
      path,
      format: formatOf(path, values.format),
      client: createClient({ url: values.url, apiKey: values.key, triesMax: backfillTriesMax }),
      device: values.device,
      signal,
      told: (progress) => {
        const now = performance.now();
        const text = progressText(progress, (now - startedAt) / 1_000, process.stdout.isTTY);
        if (process.stdout.isTTY) process.stdout.write(`\r${text}\u001b[K`);
        else if (now - shownAt >= lineEveryMs) console.log(text);
        else return;
        shownAt = now;
      },
    });
    if (process.stdout.isTTY) process.stdout.write('\n');
    console.log(progressText(done, (performance.now() - startedAt) / 1_000, false));
    if (done.errors > 0)
      console.log(`${done.errors} lines could not be stored: see ${reportPathOf(path)}`);
    process.exitCode = done.errors > 0 ? 1 : 0;
  } catch (error) {
    const reason = signal.aborted ? 'interrupted' : (error as Error).message;
    console.error(
      `\nbackfill: ${reason}. Run it again to resume (${placePathOf(path)} says where).`,
    );
    process.exitCode = signal.aborted ? 130 : 1;
  }
}

await main();
