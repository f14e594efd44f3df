// What content a blob may have: a type from the list whose bytes are what the type says (contract 31).
import { problem } from '../../model/problem.ts';

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
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
};

/** Nothing that a browser would run: no HTML, no SVG, no script. */
const contentTypes: Readonly<Record<string, Looks>> = {
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
};

/** Shown by browsers without danger; everything else is only downloaded. */
const shownInline: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** The content type without parameters. Throws 415 for a type that is not taken, 400 for bytes that are something else. */
export function checkedContentType(sent: string | undefined, content: Uint8Array): string {
  const type = (sent ?? 'application/octet-stream').split(';', 1)[0]!.trim().toLowerCase();
  const looks = Object.hasOwn(contentTypes, type) ? contentTypes[type] : undefined;
  if (looks === undefined)
    throw problem('blobTypeNotTaken', { contentType: type, taken: Object.keys(contentTypes) });
  if (!looks(content))
    throw problem('invalidRequest', { reason: `The content is not of type ${type}` });
  return type;
}

/** Headers under which content of strangers can be handed out. */
export function downloadHeaders(
  contentType: string,
  name: string,
): Readonly<Record<string, string>> {
  const kind = shownInline.has(contentType) ? 'inline' : 'attachment';
  const plain = name.replace(/[^\w. -]/g, '_');
  return {
    'content-type': contentType.startsWith('text/') ? `${contentType}; charset=utf-8` : contentType,
    'content-disposition': `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}
