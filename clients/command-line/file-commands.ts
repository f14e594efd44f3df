// File commands: samples from files and to standard output, and the configuration of a workspace.
import {
  backfillFile,
  backfillTriesMax,
  type FileProgress,
  placePathOf,
  reportPathOf,
} from '../file-backfill/file-backfill.ts';
import { createClient } from '../typescript/client.ts';
import type { Command } from './command-form.ts';
import { deviceOf, deviceOrWorkspace } from './device-commands.ts';
import { exportSamples, exportSamplesOptions } from './export-samples.ts';
import { UsageError } from './usage-error.ts';

const ignore = (): void => undefined;

export const backfill: Command = {
  summary: 'load samples from a CSV or NDJSON file; run again to resume',
  words: ['FILE'],
  options: {
    device: { type: 'string', value: 'DEVICE', help: 'device for rows without one' },
    format: { type: 'string', value: 'csv|ndjson', help: 'else by the end of the name' },
  },
  async run({ url, key, words, options, isJson, signal, write, report }) {
    const [path = ''] = words;
    const { device, format = /\.csv$/i.test(path) ? 'csv' : 'ndjson' } = options;
    if (format !== 'csv' && format !== 'ndjson')
      throw new UsageError(`--format ${format} is neither csv nor ndjson`);
    const done = await backfillFile({
      path,
      format,
      signal,
      client: createClient({ url, apiKey: key, triesMax: backfillTriesMax }),
      device: device === undefined ? undefined : String(device),
      told: ignore,
    });
    if (isJson) await write(`${JSON.stringify(done)}\n`);
    else await write(`${summaryOf(done)}\n`);
    if (signal.aborted)
      report(`stopped; run the same command again to resume from ${placePathOf(path)}`);
    else if (done.errors > 0)
      throw new Error(`some samples were rejected; see ${reportPathOf(path)}`);
  },
};

function summaryOf({ accepted, duplicates, errors }: FileProgress): string {
  return `${accepted} stored, ${duplicates} were stored already, ${errors} rejected`;
}

export const exportDocument: Command = {
  summary:
    'write the samples of a device, or the configuration of a workspace, to standard output; `export samples` writes those of many devices to a file',
  words: ['[DEVICE|samples]'],
  options: {
    from: {
      type: 'string',
      value: 'TIME',
      help: 'start time, ISO 8601, inclusive; all by default',
    },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601, exclusive' },
    format: { type: 'string', value: 'ndjson|csv|parquet', help: 'of samples; ndjson by default' },
    workspace: { type: 'string', value: 'ID', help: 'its configuration, for import, or samples' },
    ...exportSamplesOptions,
  },
  async run(run) {
    const { client, words, options, write, signal } = run;
    if (words[0] === 'samples') return exportSamples(run);
    const { from = '1970-01-01T00:00:00Z', to, format = 'ndjson' } = options;
    const about = deviceOrWorkspace(run);
    if ('workspace' in about) {
      const path = { id: about.workspace };
      const document = await client.get('/v3/workspaces/{id}/configuration', { path, signal });
      await write(`${JSON.stringify(document, undefined, 2)}\n`);
      return;
    }
    const { id: deviceId } = await deviceOf(run, about.device);
    const query = { format, from, to };
    const call = { path: { deviceId }, query, signal };
    const answer = await client.send('get', '/v3/devices/{deviceId}/export', call);
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? [])
      await write(decoder.decode(chunk, { stream: true }));
  },
};
