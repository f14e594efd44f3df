// PDF of a dashboard: A4 pages with charts as vectors, drawn by pdfkit.
import PDFDocument from 'pdfkit';
import { type Box, inks, type Shape } from './chart-shapes.ts';
import { shapesOf } from './tile-shapes.ts';
import type { DashboardDocument, DocumentTile, Figure } from './document.ts';
import { boxShare, DocumentFonts, widthOfRun } from './fonts.ts';

const page = { width: 595.28, height: 841.89, margin: 36 } as const;
const content = { width: page.width - 2 * page.margin, bottom: page.height - 48 } as const;
const columns = 12;
const rowHeight = 28;
const gap = 10;
const titleHeight = 14;
const sizes = { title: 18, lead: 9, tile: 9, text: 8, small: 7, figure: 17 } as const;
const tableRow = 13;

export interface WrittenPdf {
  readonly bytes: Uint8Array;
  /** Characters that no font has, such as `U+4E2D`. */
  readonly missing: readonly string[];
}

/** `folder` has further fonts. */
export async function writePdf(
  document: DashboardDocument,
  folder: string | undefined,
): Promise<WrittenPdf> {
  const writer = new PdfWriter(document, new DocumentFonts(folder));
  return writer.write();
}

/** Lists and texts take the room that they need; other tiles have a place beside each other. */
type FlowTile = Extract<DocumentTile, { readonly kind: 'table' | 'text' }>;
type ChartTile = Exclude<DocumentTile, FlowTile>;

class PdfWriter {
  readonly #document: DashboardDocument;
  readonly #fonts: DocumentFonts;
  readonly #registered = new Set<string>();
  readonly #pdf: PDFKit.PDFDocument;
  #y: number = page.margin;

  constructor(document: DashboardDocument, fonts: DocumentFonts) {
    this.#document = document;
    this.#fonts = fonts;
    this.#pdf = new PDFDocument({
      size: [page.width, page.height],
      margin: 0,
      bufferPages: true,
      info: { Title: document.title, Producer: 'Heliograph', Creator: 'Heliograph' },
      displayTitle: true,
      lang: 'en',
      // Else the standard fonts would be read from files of the package.
      font: null as never,
    });
  }

  async write(): Promise<WrittenPdf> {
    const chunks: Buffer[] = [];
    this.#pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise((resolve, reject) => {
      this.#pdf.on('end', resolve);
      this.#pdf.on('error', reject);
    });
    this.#head();
    for (const block of blocksOf(this.#document.tiles)) {
      if (Array.isArray(block)) this.#band(block);
      else if (block.kind === 'table') this.#table(block);
      else this.#paragraphs(block);
    }
    this.#footers();
    this.#pdf.end();
    await ended;
    return { bytes: Buffer.concat(chunks), missing: [...this.#fonts.missing] };
  }

  #head(): void {
    const { title, lead, variables } = this.#document;
    for (const line of this.#wrapped(title, sizes.title, content.width, true).slice(0, 3)) {
      this.#y += sizes.title + 4;
      this.#text(line, page.margin, this.#y, { size: sizes.title, isBold: true });
    }
    const said = variables.map(({ label, value }) => `${label}: ${value}`);
    for (const line of this.#wrapped([lead, ...said].join('  ·  '), sizes.lead, content.width)) {
      this.#y += sizes.lead + 4;
      this.#text(line, page.margin, this.#y, { size: sizes.lead, color: inks.soft });
    }
    this.#y += gap * 1.5;
  }

  /** Tiles beside each other, which stay on one page. */
  #band(tiles: readonly ChartTile[]): void {
    const top = Math.min(...tiles.map(({ y }) => y));
    const rows = Math.max(...tiles.map(({ y, height }) => y + height)) - top;
    const wanted = rows * rowHeight;
    const most = content.bottom - page.margin - gap;
    const scale = Math.min(1, most / wanted);
    const height = wanted * scale;
    this.#room(height);
    const column = (content.width + gap) / columns;
    for (const tile of tiles) {
      this.#tile(tile, {
        x: page.margin + tile.x * column,
        y: this.#y + (tile.y - top) * rowHeight * scale,
        width: tile.width * column - gap,
        height: tile.height * rowHeight * scale - gap,
      });
    }
    this.#y += height;
  }

  #tile(tile: ChartTile, box: Box): void {
    this.#tileTitle(tile.title, box);
    const inner = { ...box, y: box.y + titleHeight, height: box.height - titleHeight };
    if (tile.kind === 'figures') return this.#figures(tile.figures, inner);
    for (const shape of shapesOf(tile, inner, this.#document.zone)) this.#shape(shape);
  }

  #tileTitle(
    title: string,
    { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
  ): void {
    const text = this.#fitted(title, sizes.tile, width, true);
    this.#text(text, x, y + sizes.tile, { size: sizes.tile, isBold: true });
  }

  #figures(figures: readonly Figure[], box: Box): void {
    const least = 80;
    const across = Math.max(1, Math.min(figures.length, Math.floor(box.width / least)));
    const lineHeight = sizes.figure + sizes.small + 8;
    const down = Math.max(1, Math.floor(box.height / lineHeight));
    const shown = figures.slice(0, across * down);
    const width = box.width / across;
    for (const [at, { label, value, unit, tone }] of shown.entries()) {
      const x = box.x + (at % across) * width;
      const y = box.y + Math.floor(at / across) * lineHeight + sizes.figure;
      const color = tone === undefined ? inks.text : inks[tone];
      const unitWidth = unit === '' ? 0 : this.#fonts.widthOf(` ${unit}`, sizes.text);
      const text = this.#fitted(value, sizes.figure, Math.max(20, width - unitWidth - 6), true);
      this.#text(text, x, y, { size: sizes.figure, isBold: true, color });
      const after = x + this.#fonts.widthOf(text, sizes.figure, true) + 3;
      if (unit !== '') this.#text(unit, after, y, { size: sizes.text, color: inks.soft });
      const below = this.#fitted(label, sizes.small, width - 6);
      this.#text(below, x, y + sizes.small + 4, { size: sizes.small, color: inks.faint });
    }
  }

  /** Rows continue on further pages, under the same head. */
  #table({ title, head, rows, rest }: Extract<DocumentTile, { readonly kind: 'table' }>): void {
    this.#room(titleHeight + 3 * tableRow);
    this.#tileTitle(title, { x: page.margin, y: this.#y, width: content.width });
    this.#y += titleHeight + 4;
    const widths = columnWidths([head, ...rows]);
    const headRow = () => {
      this.#row(head, widths, inks.faint);
      this.#line(this.#y - 3, inks.line);
    };
    headRow();
    for (const row of rows) {
      if (this.#y + tableRow > content.bottom) {
        this.#newPage();
        headRow();
      }
      this.#row(row, widths, inks.text);
    }
    if (rest > 0) this.#row([`and ${rest} more`], [content.width], inks.faint);
    this.#y += gap;
  }

  #row(cells: readonly string[], widths: readonly number[], color: string): void {
    this.#y += tableRow;
    let x: number = page.margin;
    for (const [at, width] of widths.entries()) {
      const text = this.#fitted(cells[at] ?? '', sizes.text, width - 6);
      this.#text(text, x, this.#y - 4, { size: sizes.text, color });
      x += width;
    }
  }

  #paragraphs({ title, text }: Extract<DocumentTile, { readonly kind: 'text' }>): void {
    if (title !== '') {
      this.#room(titleHeight + 2 * tableRow);
      this.#tileTitle(title, { x: page.margin, y: this.#y, width: content.width });
      this.#y += titleHeight;
    }
    for (const { line, isBold } of plainLines(text))
      for (const part of this.#wrapped(line, sizes.text, content.width, isBold)) {
        this.#room(tableRow);
        this.#y += tableRow;
        this.#text(part, page.margin, this.#y - 3, { size: sizes.text, isBold });
      }
    this.#y += gap;
  }

  #footers(): void {
    const { start, count } = this.#pdf.bufferedPageRange();
    for (let at = 0; at < count; at++) {
      this.#pdf.switchToPage(start + at);
      const y = page.height - 24;
      const style = { size: sizes.small, color: inks.faint };
      const number = `${at + 1} / ${count}`;
      const width = this.#fonts.widthOf(number, sizes.small);
      this.#text(number, page.width - page.margin - width, y, style);
      const { title, footer } = this.#document;
      const said = at === 0 ? footer : `${title}  ·  ${footer}`;
      const fitted = this.#fitted(said, sizes.small, content.width - width - gap);
      this.#text(fitted, page.margin, y, style);
    }
  }

  #room(height: number): void {
    if (this.#y + height > content.bottom && this.#y > page.margin + gap) this.#newPage();
  }

  #newPage(): void {
    this.#pdf.addPage();
    this.#y = page.margin;
  }

  #line(y: number, color: string): void {
    const [from, to] = [page.margin, page.width - page.margin];
    this.#pdf.moveTo(from, y).lineTo(to, y).lineWidth(0.5).undash().stroke(color);
  }

  #shape(shape: Shape): void {
    const pdf = this.#pdf;
    if (shape.kind === 'text') {
      const { text, at, align, size, color, bold: isBold = false } = shape;
      const width = align === 'left' ? 0 : this.#fonts.widthOf(text, size, isBold);
      const x = align === 'right' ? at[0] - width : at[0] - width / 2;
      this.#text(text, align === 'left' ? at[0] : x, at[1], { size, color, isBold });
    } else if (shape.kind === 'clip') {
      const { x, y, width, height } = shape.box;
      pdf.save().rect(x, y, width, height).clip();
    } else if (shape.kind === 'clipEnd') {
      pdf.restore();
    } else if (shape.kind === 'dot') {
      pdf.circle(...shape.at, shape.radius).fill(shape.color);
    } else {
      for (const [at, [x, y]] of shape.points.entries())
        if (at === 0) pdf.moveTo(rounded(x), rounded(y));
        else pdf.lineTo(rounded(x), rounded(y));
      if (shape.kind === 'area') {
        pdf.fillOpacity(shape.opacity).fill(shape.color).fillOpacity(1);
        return;
      }
      if (shape.dash === undefined) pdf.undash();
      else pdf.dash(shape.dash[0], { space: shape.dash[1] });
      pdf.lineWidth(shape.width).lineJoin('round').stroke(shape.color);
    }
  }

  /** `y` is the baseline. */
  #text(
    text: string,
    x: number,
    y: number,
    {
      size,
      color = inks.text,
      isBold = false,
    }: { readonly size: number; readonly color?: string; readonly isBold?: boolean },
  ): void {
    let left = x;
    for (const run of this.#fonts.runs(text, isBold)) {
      if (run.font === undefined) {
        this.#boxes(Array.from(run.text).length, left, y, size, color);
        left += widthOfRun(run, size);
        continue;
      }
      const { name, file } = run.font;
      if (!this.#registered.has(name)) {
        this.#pdf.registerFont(name, file);
        this.#registered.add(name);
      }
      this.#pdf.font(name).fontSize(size).fillColor(color);
      this.#pdf.text(run.text, left, y, { lineBreak: false, baseline: 'alphabetic' });
      left += widthOfRun(run, size);
    }
  }

  /** In place of characters that no font has. */
  #boxes(count: number, x: number, y: number, size: number, color: string): void {
    const [width, height] = [boxShare.width * size, boxShare.height * size];
    for (let at = 0; at < count; at++)
      this.#pdf.rect(x + at * boxShare.advance * size, y - height, width, height);
    this.#pdf.undash().lineWidth(0.5).stroke(color);
  }

  #fitted(text: string, size: number, width: number, isBold = false): string {
    // No text of a page needs more; measuring longer ones would take time.
    const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, 400);
    if (this.#fonts.widthOf(line, size, isBold) <= width) return line;
    const characters = Array.from(line);
    let [least, most] = [0, characters.length];
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      const tried = `${characters.slice(0, middle).join('')}…`;
      if (this.#fonts.widthOf(tried, size, isBold) <= width) least = middle;
      else most = middle - 1;
    }
    return `${characters.slice(0, least).join('')}…`;
  }

  #wrapped(text: string, size: number, width: number, isBold = false): string[] {
    const lines: string[] = [];
    let line = '';
    for (const word of text.split(/\s+/).filter((one) => one !== '')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (this.#fonts.widthOf(longer, size, isBold) <= width) line = longer;
      else {
        if (line !== '') lines.push(line);
        line = this.#fitted(word, size, width, isBold);
      }
    }
    return line === '' ? lines : [...lines, line];
  }
}

/** To hundredths of a point: further digits cost bytes, and no printer shows them. */
function rounded(length: number): number {
  return Math.round(length * 100) / 100;
}

/** Charts and figures that overlap in height are a band; lists and texts are between bands. */
function blocksOf(tiles: readonly DocumentTile[]): (ChartTile[] | FlowTile)[] {
  const blocks: (ChartTile[] | FlowTile)[] = [];
  let band: ChartTile[] = [];
  let waiting: FlowTile[] = [];
  let bottom = 0;
  const end = () => {
    if (band.length > 0) blocks.push(band);
    blocks.push(...waiting);
    band = [];
    waiting = [];
  };
  for (const tile of tiles.toSorted((a, b) => a.y - b.y || a.x - b.x)) {
    if (tile.y >= bottom) end();
    bottom = Math.max(bottom, tile.y + tile.height);
    if (tile.kind === 'table' || tile.kind === 'text') waiting.push(tile);
    else band.push(tile);
  }
  end();
  return blocks;
}

const measuredRows = 50;

/** In proportion to the longest texts of the first rows, none below a third of an even share. */
function columnWidths(rows: readonly (readonly string[])[]): number[] {
  const count = Math.max(1, rows[0]?.length ?? 1);
  const longest = Array.from({ length: count }, (_, at) =>
    Math.min(60, Math.max(4, ...rows.slice(0, measuredRows).map((row) => row[at]?.length ?? 0))),
  );
  const even = longest.reduce((sum, one) => sum + one, 0) / count;
  const shares = longest.map((one) => Math.max(one, even / 3));
  const total = shares.reduce((sum, one) => sum + one, 0);
  return shares.map((share) => (share / total) * content.width);
}

const linesMax = 2_000;

/** Markdown without its marks; headings are bold. */
function plainLines(
  markdown: string,
): readonly { readonly line: string; readonly isBold: boolean }[] {
  return markdown
    .split(/\r?\n/)
    .slice(0, linesMax)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const isBold = /^\s{0,3}#{1,6}\s/.test(line);
      const bare = line
        .replace(/^\s{0,3}#{1,6}\s+/, '')
        .replace(/^\s*[-*+]\s+/, '• ')
        .replaceAll(/!?\[([^\]]*)\]\(([^)\s]*)[^)]*\)/g, '$1 ($2)')
        .replaceAll(/(\*\*|__|`)(.+?)\1/g, '$2');
      return { line: bare, isBold };
    });
}
