// Requests and answers of tests, recorded for the examples of the interface reference (`npm run examples`).
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly status: number;
  readonly answer: unknown;
}

const charactersMax = 12_000;

/** Appends the request to the folder named by `RECORD_EXAMPLES`; does nothing without it. */
export function recordExample(request: RecordedRequest): void {
  const folder = process.env['RECORD_EXAMPLES'];
  if (folder === undefined) return;
  const line = JSON.stringify(request);
  if (line.length < charactersMax)
    appendFileSync(join(folder, `${process.pid}.ndjson`), `${line}\n`);
}
