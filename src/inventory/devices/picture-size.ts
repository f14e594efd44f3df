// Picture size: width and height of a PNG, JPEG, WebP or SVG file, read from its header.

interface PictureSize {
  readonly width: number;
  readonly height: number;
}

type Read = (bytes: Buffer) => PictureSize | undefined;

const readers: Readonly<Record<string, Read>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
  'image/svg+xml': svgSize,
};

export const pictureTypes = Object.keys(readers);

/**
 * Undefined for other types, for a damaged header, and for a picture without extent. Of an SVG the
 * view box counts, else its width and height in pixels.
 */
export function pictureSize(contentType: string, content: Uint8Array): PictureSize | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const size = readers[contentType]?.(bytes);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

function pngSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Segments are walked up to the frame header; each has its length behind its marker. */
function jpegSize(bytes: Buffer): PictureSize | undefined {
  let at = 2;
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // C4, C8 and CC are tables.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** The first chunk says whether the picture is lossy, lossless or extended. */
function webpSize(bytes: Buffer): PictureSize | undefined {
  if (bytes.length < 30) return undefined;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

/** Bytes in which the element must begin: enough for what programs write before it. */
const svgStartMax = 8 * 1024;

function svgSize(bytes: Buffer): PictureSize | undefined {
  const start = bytes.toString('utf8', 0, svgStartMax).replace(/<!--[^]*?-->/g, '');
  const from = start.search(/<svg[\s>]/);
  const end = start.indexOf('>', from);
  if (from === -1 || end === -1) return undefined;
  const element = start.slice(from, end);
  const attribute = (name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']{1,100})["']`).exec(element)?.[1]?.trim();
  const [, , width, height] = (attribute('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (width !== undefined && height !== undefined && Number.isFinite(width * height))
    return { width, height };
  const pixels = (text = '') => (/^\d{1,9}(\.\d{1,9})?(px)?$/.test(text) ? parseFloat(text) : 0);
  return { width: pixels(attribute('width')), height: pixels(attribute('height')) };
}
