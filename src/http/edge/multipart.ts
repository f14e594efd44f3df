// Multipart bodies: the first file of a multipart/form-data body (RFC 7578), the only part that uploads use.
import { problem } from '../../model/problem.ts';

interface UploadedFile {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly content: Buffer;
}

// Not @fastify/multipart: it takes the body over, with other limits and error answers than those of
// the uploads without multipart.
const headersLengthMax = 8 * 1024;

/**
 * The whole body as a file of the query's name, or the first file of a multipart body. Throws 400
 * when there is none.
 */
export function uploadedFile(
  contentType: string | undefined,
  body: Buffer,
  name: string | undefined,
): UploadedFile {
  if (!contentType?.toLowerCase().startsWith('multipart/form-data')) {
    return { name: name ?? 'blob', contentType, content: body };
  }
  const boundary = /boundary=(?:"([^"]{1,70})"|([^\s;,]{1,70}))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw refused('the content type has no boundary');
  const file = firstFile(body, mark);
  return { ...file, name: name ?? file.name };
}

function refused(reason: string) {
  return problem('invalidRequest', { reason: `Invalid multipart body: ${reason}` });
}

function firstFile(body: Buffer, mark: string): UploadedFile {
  const opening = Buffer.from(`--${mark}`);
  const next = Buffer.from(`\r\n--${mark}`);
  let at = body.indexOf(opening);
  while (at !== -1) {
    const start = at + opening.length;
    if (body.subarray(start, start + 2).toString('latin1') === '--') break;
    const headersEnd = body.indexOf('\r\n\r\n', start);
    if (headersEnd === -1 || headersEnd - start > headersLengthMax)
      throw refused('the headers of a part are not terminated');
    const end = body.indexOf(next, headersEnd);
    if (end === -1) throw refused('a part is not terminated');
    const headers = body.subarray(start, headersEnd).toString('utf8');
    const fileName = /filename="((?:[^"\\]|\\.)*)"/i.exec(headers)?.[1];
    if (fileName !== undefined) {
      const type = /^content-type:\s*(\S[^\r\n]*)$/im.exec(headers)?.[1];
      const content = body.subarray(headersEnd + 4, end);
      return { name: fileName.replaceAll('\\"', '"') || 'blob', contentType: type, content };
    }
    at = end + 2;
  }
  throw refused('it contains no file');
}
