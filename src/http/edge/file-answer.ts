// File answer: a file as a download, or the range of it that a request names (RFC 9110 section 14).
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import parseRange from 'range-parser';
import { problem } from '../../model/problem.ts';
import { Answer } from './route.ts';

/**
 * 200 with the file, 206 with the range of `Range`, or 416. Several ranges, a range in another unit
 * and one of another version (`If-Range`) are answered with the file. Throws Problem `notFound`
 * when the file is gone.
 */
export async function fileAnswer(
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
