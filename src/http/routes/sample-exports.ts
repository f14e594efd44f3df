// Routes of sample exports (contract 19).
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import parseRange from 'range-parser';
import { sampleExports } from '../../contract/operations.ts';
import {
  createSampleExport,
  deleteSampleExport,
  findExport,
  listSampleExports,
  readSampleExport,
} from '../../inventory/operations/sample-exports.ts';
import type { Principal, Scope, Verb } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Place } from '../../model/record.ts';
import {
  exportFileName,
  type SampleExport,
  type SampleExportFormat,
} from '../../model/operation.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

interface SampleExportFiles {
  readonly node: string;
  /** Begins the work of an accepted export. */
  readonly start: (id: string) => void;
  /** The path of the complete file. */
  readonly fileOf: (record: SampleExport) => string;
  readonly removeFile: (id: string) => Promise<void>;
}

const contentTypes: Readonly<Record<SampleExportFormat, string>> = {
  parquet: 'application/vnd.apache.parquet',
  ndjson: 'application/gzip',
  csv: 'application/gzip',
};

export function sampleExportRoutes(
  common: RecordRoutes,
  /** Undefined when exports are switched off. */
  exports: SampleExportFiles | undefined,
  /** Throws Problem 403. */
  authorize: (principal: Principal, scope: Scope, verb: Verb, place: Place) => void,
): Route[] {
  const { records } = common;
  const place = common.byId('sampleExport');
  const files = (): SampleExportFiles => {
    if (exports === undefined) throw problem('exportsOff');
    return exports;
  };
  return [
    resourceRoute(sampleExports.create, common.byWorkspace, async (input, principal) => {
      const { node, start } = files();
      const created = await common.createdOnce(
        input,
        principal,
        (step) => createSampleExport(step, principal, input.body, node),
        (id) => readSampleExport(records, id),
      );
      start(created.id);
      return created;
    }),
    route(sampleExports.list, ({ query }, principal) =>
      listSampleExports(records, principal, listScopeOf(query), pageRequestOf(query)),
    ),
    resourceRoute(sampleExports.read, place, ({ params }) => readSampleExport(records, params.id)),
    resourceRoute(sampleExports.content, place, async ({ params, headers }) => {
      const record = await findExport(records, params.id);
      const { format } = record.plan;
      const file = {
        path: files().fileOf(record),
        name: `samples-${record.id}${exportFileName(format).slice('samples'.length)}`,
        contentType: contentTypes[format],
        tag: record.id,
      };
      return fileAnswer(file, headers);
    }),
    resourceRoute(sampleExports.remove, place, async ({ params }, principal) => {
      const { creator } = await readSampleExport(records, params.id);
      if (creator !== principal.id) authorize(principal, 'asset', 'delete', await place(params));
      await deleteSampleExport(records, params.id);
      await exports?.removeFile(params.id);
    }),
  ];
}

// File answer: a file as a download, or the range of it that a request names (RFC 9110 section 14).

/**
 * 200 with the file, 206 with the range of `Range`, or 416. Several ranges, a range in another unit
 * and one of another version (`If-Range`) are answered with the file. Throws Problem `notFound`
 * when the file is gone.
 */
async function fileAnswer(
  file: {
    readonly path: string;
    readonly name: string;
    readonly contentType: string;
    /** Identifies the content, which never changes; without quotes. */
    readonly tag: string;
  },
  requested: IncomingHttpHeaders,
): Promise<Answer<never>> {
  const size = await stat(file.path).then(
    (found) => found.size,
    () => undefined,
  );
  if (size === undefined) throw problem('notFound', { what: 'file', id: file.name });
  const etag = `"${file.tag}"`;
  const headers = {
    'content-type': file.contentType,
    'content-disposition': `attachment; filename="${file.name}"`,
    'accept-ranges': 'bytes',
    etag,
  };
  const wanted = rangeOf(requested, size, etag);
  if (wanted === 'none') {
    const unsatisfied = { ...headers, 'content-range': `bytes */${size}`, 'content-length': '0' };
    return new Answer<never>(416, Readable.from([]), unsatisfied);
  }
  const { start, end } = wanted ?? { start: 0, end: size - 1 };
  const length = { 'content-length': String(end - start + 1) };
  const body = createReadStream(file.path, { start, end: Math.max(start, end) });
  if (wanted === undefined) return new Answer<never>(200, body, { ...headers, ...length });
  const range = { 'content-range': `bytes ${start}-${end}/${size}` };
  return new Answer<never>(206, body, { ...headers, ...length, ...range });
}

/** Undefined: all of it. `none`: the file has none of the range. */
function rangeOf(
  { range, 'if-range': ifRange }: IncomingHttpHeaders,
  size: number,
  etag: string,
): { readonly start: number; readonly end: number } | 'none' | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return undefined;
  const ranges = parseRange(size, range, { combine: true });
  if (ranges === -1) return 'none';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}
