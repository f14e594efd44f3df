// Fonts of documents: those of the package, then those that the operator adds for further scripts.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, type Font } from 'fontkit';

interface DocumentFont {
  /** Unique among all. */
  readonly name: string;
  readonly file: Buffer;
  readonly font: Font;
}

/** A part of a text that one font can show; without a font, each character is a box. */
interface TextRun {
  readonly font: DocumentFont | undefined;
  readonly text: string;
}

/** Width and height of the box of a character without a glyph, by the size of the letters. */
export const boxShare = { advance: 0.66, width: 0.54, height: 0.7 } as const;

const parts = ['latin', 'latin-ext', 'cyrillic'] as const;
const weights = { regular: 400, bold: 600 } as const;
const ending = /\.(ttf|otf)$/i;
const filesMax = 20;
const fileBytesMax = 32 * 1024 * 1024;
/** Distinct characters without a glyph that are remembered. */
const missingMax = 50;

/** One for each document: it remembers the characters that no font has. */
export class DocumentFonts {
  /** `U+4E2D`, in the order of their first use. */
  readonly missing = new Set<string>();
  readonly #folder: string | undefined;
  #added: readonly DocumentFont[] | undefined;

  /** `folder` is where the operator puts fonts; it need not exist. */
  constructor(folder?: string) {
    this.#folder = folder;
  }

  runs(text: string, isBold = false): TextRun[] {
    const own = packaged(isBold ? 'bold' : 'regular');
    const runs: { font: DocumentFont | undefined; text: string }[] = [];
    for (const character of text.replaceAll(/[\s\p{Cc}]/gu, ' ')) {
      if (isInvisible(character.codePointAt(0) ?? 0)) continue;
      const font = this.#fontOf(character, own);
      const last = runs.at(-1);
      if (last !== undefined && last.font === font) last.text += character;
      else runs.push({ font, text: character });
    }
    return runs;
  }

  widthOf(text: string, size: number, isBold = false): number {
    return this.runs(text, isBold).reduce((sum, run) => sum + widthOfRun(run, size), 0);
  }

  #fontOf(character: string, own: readonly DocumentFont[]): DocumentFont | undefined {
    const code = character.codePointAt(0) ?? 0;
    const has = ({ font }: DocumentFont) => font.hasGlyphForCodePoint(code);
    const found = own.find(has) ?? (code < 0x80 ? undefined : this.#addedFonts().find(has));
    if (found === undefined && this.missing.size < missingMax)
      this.missing.add(`U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
    return found;
  }

  #addedFonts(): readonly DocumentFont[] {
    this.#added ??= this.#folder === undefined ? [] : fontsIn(this.#folder);
    return this.#added;
  }
}

/** Variation selectors, joiners and marks of direction. */
function isInvisible(code: number): boolean {
  return (
    (code >= 0x200b && code <= 0x200f) ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0xfe00 && code <= 0xfe0f) ||
    code === 0xfeff
  );
}

export function widthOfRun({ font, text }: TextRun, size: number): number {
  if (font === undefined) return Array.from(text).length * boxShare.advance * size;
  const { advanceWidth } = font.font.layout(text);
  return (advanceWidth / font.font.unitsPerEm) * size;
}

const known = new Map<keyof typeof weights, readonly DocumentFont[]>();

function packaged(weight: keyof typeof weights): readonly DocumentFont[] {
  const found =
    known.get(weight) ??
    parts.map((part) => {
      const name = `geist-${part}-${weights[weight]}`;
      return fontOf(name, fileURLToPath(new URL(`./fonts/${name}.ttf`, import.meta.url)));
    });
  known.set(weight, found);
  return found;
}

function fontOf(name: string, path: string): DocumentFont {
  const file = readFileSync(path);
  return { name, file, font: single(create(file)) };
}

function single(font: ReturnType<typeof create>): Font {
  if (!('layout' in font)) throw new Error('A collection of fonts is not supported');
  return font;
}

/** In the order of their names; what is no font is skipped. */
function fontsIn(folder: string): DocumentFont[] {
  const names = listed(folder)
    .filter((name) => ending.test(name))
    .toSorted();
  return names.slice(0, filesMax).flatMap((name) => {
    const path = join(folder, name);
    try {
      return statSync(path).size > fileBytesMax ? [] : [fontOf(`added-${name}`, path)];
    } catch {
      return [];
    }
  });
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
