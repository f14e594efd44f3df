// Blob content: the types that are accepted, and the check of the bytes against the type (contract 31).
import { problem } from '../../model/problem.ts';
import { parsedJson } from '../../model/json-keys.ts';

type Looks = (bytes: Uint8Array) => boolean;

const startsWith =
  (...magic: readonly number[]): Looks =>
  (bytes) =>
    magic.every((byte, at) => bytes[at] === byte);
const ascii =
  (text: string, from = 0): Looks =>
  (bytes) =>
    Buffer.from(bytes.subarray(from, from + text.length)).toString('latin1') === text;

const isText: Looks = (bytes) => {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(bytes).includes('\0');
  } catch {
    return false;
  }
};

const isJson: Looks = (bytes) => {
  try {
    parsedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
};

/** Nothing that a browser would run: no HTML, no SVG, no script. */
const contentTypes: ReadonlyMap<string, Looks> = new Map(
  Object.entries({
    'image/png': startsWith(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a),
    'image/jpeg': startsWith(0xff, 0xd8, 0xff),
    'image/gif': ascii('GIF8'),
    'image/webp': (bytes) => ascii('RIFF')(bytes) && ascii('WEBP', 8)(bytes),
    'application/pdf': ascii('%PDF-'),
    'application/zip': ascii('PK'),
    'application/json': isJson,
    'text/plain': isText,
    'text/csv': isText,
    'application/octet-stream': () => true,
  }),
);

/** Safe to show in a browser; everything else is only downloaded. */
const shownInline: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/**
 * The content type without parameters. Throws 415 for a type that is not accepted, 400 for bytes of
 * another type.
 */
export function checkedContentType(sent: string | undefined, content: Uint8Array): string {
  const [named = ''] = (sent ?? 'application/octet-stream').split(';', 1);
  const type = named.trim().toLowerCase();
  const looks = contentTypes.get(type);
  if (looks === undefined)
    throw problem('blobTypeNotTaken', { contentType: type, taken: [...contentTypes.keys()] });
  if (!looks(content))
    throw problem('invalidRequest', { reason: `The content does not match the type ${type}` });
  return type;
}

/** Headers of a download, which make untrusted content harmless. */
export function downloadHeaders(
  contentType: string,
  name: string,
): Readonly<Record<string, string>> {
  const kind = shownInline.has(contentType) ? 'inline' : 'attachment';
  const charset = contentType.startsWith('text/') ? '; charset=utf-8' : '';
  const plain = name.replace(/[^\w. -]/g, '_');
  return {
    'content-type': contentType + charset,
    'content-disposition': `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}
