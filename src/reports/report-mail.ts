// Report mail: a dashboard as HTML with pictures in line, as text, and as attached files (contract 39.1).
import { chartPicturesMax, shownPicture } from '../dashboards/documents/picture.ts';
import {
  type DashboardDocument,
  type DocumentTile,
  type Figure,
  isDrawn,
} from '../dashboards/documents/document.ts';
import type { EpochMs } from '../model/instant.ts';
import type { MailFile } from '../model/mail.ts';
import { type Report, type ReportSchedule, reportLimits } from '../model/report.ts';
import { missing } from '../structures/missing.ts';

export interface ReportContent {
  readonly range: { readonly from: EpochMs; readonly to: EpochMs };
  readonly document: DashboardDocument;
  /** Of the first charts of the document. */
  readonly pictures: readonly Uint8Array[];
  /** Undefined if it is not wanted. */
  readonly pdf: Uint8Array | undefined;
  /** Lines of CSV for each tile with values over time. */
  readonly tables: readonly { readonly title: string; readonly lines: Iterable<string> }[];
  /** Devices of the dashboard, and those with a value in the range. */
  readonly devices: number;
  readonly reporting: number;
  /** Open alarms of the workspace; null for an owner who may not read them. */
  readonly openAlarms: number | null;
}

export interface ReportMail {
  readonly subject: string;
  readonly text: string;
  /** The body as HTML, then its pictures, then what is attached. */
  readonly files: readonly MailFile[];
}

/** Rows of one table in the mail; the rest is in the files and on the dashboard. */
const rowsMax = 20;
const figuresMax = 60;
const subjectCharactersMax = 200;
const tilesMax = 60;

/** `link` is the address of the dashboard in the console; `note` is said first. */
export function reportMail(
  report: Report,
  content: ReportContent,
  link: string,
  note: string | undefined,
): ReportMail {
  const { document } = content;
  const { attached, omitted } = attachedFiles(report, content);
  const said = [
    ...(note === undefined ? [] : [note]),
    sentence(content),
    ...(omitted.length === 0 ? [] : [`Not attached, because too large: ${omitted.join(', ')}.`]),
  ];
  const pictures = content.pictures.map(
    (picture, at): MailFile => ({
      name: `chart-${at + 1}.png`,
      contentType: 'image/png',
      cid: `chart-${at + 1}@report`,
      content: picture,
    }),
  );
  const html = htmlOf(report.name, document, said, pictures, link);
  const body: MailFile = {
    name: 'report.html',
    contentType: 'text/html',
    cid: null,
    content: Buffer.from(html),
  };
  return {
    subject: subjectOf(report, content.range),
    text: textOf(report.name, document, said, link),
    files: [body, ...pictures, ...attached],
  };
}

const everyWords = { DAILY: 'Daily', WEEKLY: 'Weekly', MONTHLY: 'Monthly' } as const;

/** `Weekly: Campus, 16 to 22 November 2026`; one line without control characters. */
function subjectOf(
  { name, schedule }: { readonly name: string; readonly schedule: ReportSchedule },
  range: ReportContent['range'],
): string {
  const days = daysText(range, schedule.timeZone);
  const begin = `${everyWords[schedule.every]}: `;
  const room = subjectCharactersMax - begin.length - days.length - 2;
  return `${begin}${cut(oneLine(name), room)}, ${days}`;
}

function daysText({ from, to }: ReportContent['range'], zone: string): string {
  const day = (ms: EpochMs, options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone }).format(ms);
  const last = day(to - 1, { day: 'numeric', month: 'long', year: 'numeric' });
  const first = day(from, { day: 'numeric', month: 'long', year: 'numeric' });
  if (first === last) return last;
  const [firstYear, lastYear] = [day(from, { year: 'numeric' }), day(to - 1, { year: 'numeric' })];
  if (firstYear !== lastYear) return `${first} to ${last}`;
  const [firstMonth, lastMonth] = [day(from, { month: 'long' }), day(to - 1, { month: 'long' })];
  if (firstMonth !== lastMonth) return `${day(from, { day: 'numeric', month: 'long' })} to ${last}`;
  return `${day(from, { day: 'numeric' })} to ${last}`;
}

/** `2 open alarms. All 37 devices sent data.` */
function sentence({ devices, reporting, openAlarms }: ReportContent): string {
  const said: string[] = [];
  if (openAlarms !== null)
    said.push(
      openAlarms === 0
        ? 'No open alarms.'
        : `${openAlarms} open ${openAlarms === 1 ? 'alarm' : 'alarms'}.`,
    );
  if (devices === 1) said.push(`The device ${reporting === 1 ? 'sent' : 'did not send'} data.`);
  else if (devices > 0)
    said.push(
      reporting === devices
        ? `All ${devices} devices sent data.`
        : `${reporting} of ${devices} devices sent data.`,
    );
  return said.join(' ');
}

// Attached files.

function attachedFiles(
  report: { readonly name: string },
  { pdf, tables, pictures }: ReportContent,
): { readonly attached: readonly MailFile[]; readonly omitted: readonly string[] } {
  const attached: MailFile[] = [];
  const omitted: string[] = [];
  let left = reportLimits.attachedBytesMax;
  for (const picture of pictures) left -= picture.byteLength;
  const names = new Set<string>();
  const add = (title: string, ending: string, contentType: string, content: Uint8Array | null) => {
    const name = fileName(title, ending, names);
    if (content === null || content.byteLength > left) return void omitted.push(name);
    left -= content.byteLength;
    attached.push({ name, contentType, cid: null, content });
  };
  if (pdf !== undefined) add(report.name, 'pdf', 'application/pdf', pdf);
  for (const { title, lines } of tables)
    add(title === '' ? report.name : title, 'csv', 'text/csv', textWithin(lines, left));
  return { attached, omitted };
}

/** Null for a text that is longer. */
function textWithin(lines: Iterable<string>, bytesMax: number): Uint8Array | null {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (const line of lines) {
    const chunk = Buffer.from(line);
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Letters, digits, and a few marks, which every mail reader and folder takes. */
function fileName(title: string, ending: string, taken: Set<string>): string {
  const plain =
    title
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^\w.-]+/g, '_')
      .replaceAll(/^[_.]+|[_.]+$/g, '')
      .slice(0, 80) || 'report';
  let name = `${plain}.${ending}`;
  for (let copy = 2; taken.has(name); copy++) name = `${plain}-${copy}.${ending}`;
  taken.add(name);
  return name;
}

// Text.

function textOf(
  name: string,
  { lead, variables, tiles, footer }: DashboardDocument,
  said: readonly string[],
  link: string,
): string {
  const figures = tiles
    .flatMap((tile) => (tile.kind === 'figures' ? tile.figures : []))
    .slice(0, figuresMax)
    .map(({ label, value, unit }) => `${oneLine(label)}: ${`${oneLine(value)} ${unit}`.trim()}`);
  return [
    oneLine(name),
    lead,
    ...variables.map(({ label, value }) => `${oneLine(label)}: ${oneLine(value)}`),
    '',
    ...said,
    ...(figures.length === 0 ? [] : ['', ...figures]),
    '',
    link,
    '',
    footer,
  ].join('\n');
}

// HTML: styles stand at each element and tables make columns, because mail readers know little else.

const font = 'font-family:Helvetica,Arial,sans-serif';
const cell = `${font};font-size:13px;padding:4px 12px 4px 0;border-bottom:1px solid #e7e3da;text-align:left`;
const tones = { OK: '#12703a', WARNING: '#8a5c00', BAD: '#b91c1c' } as const;

function htmlOf(
  name: string,
  { lead, variables, tiles, footer }: DashboardDocument,
  said: readonly string[],
  pictures: readonly MailFile[],
  link: string,
): string {
  let charts = 0;
  const shown = tiles.slice(0, tilesMax).map((tile) => {
    const picture = isDrawn(tile) ? pictures[charts++] : undefined;
    return tileHtml(tile, picture);
  });
  const rest = tiles.length - shown.length + Math.max(0, charts - chartPicturesMax);
  const chosen = variables.map(({ label, value }) => `${label}: ${value}`);
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<title>${escaped(oneLine(name))}</title></head>`,
    '<body style="margin:0;padding:16px;background:#ffffff;color:#1c1917">',
    `<div style="${font};max-width:${shownPicture.width}px">`,
    `<h1 style="${font};font-size:22px;margin:0 0 4px">${escaped(oneLine(name))}</h1>`,
    paragraph([lead, ...chosen].join(' · '), '#57524b'),
    ...said.map((line) => paragraph(line, '#1c1917')),
    ...shown,
    ...(rest > 0 ? [paragraph(`${rest} more on the dashboard.`, '#57524b')] : []),
    `<p style="${font};font-size:14px"><a href="${escaped(link)}" style="color:#3456bf">Open the dashboard</a></p>`,
    paragraph(footer, '#736d63'),
    '</div></body></html>',
  ].join('\n');
}

function paragraph(text: string, color: string): string {
  return `<p style="${font};font-size:14px;color:${color};margin:4px 0 12px">${escaped(text)}</p>`;
}

function tileHtml(tile: DocumentTile, picture: MailFile | undefined): string {
  const title =
    tile.title === ''
      ? ''
      : `<h2 style="${font};font-size:15px;margin:20px 0 6px">${escaped(oneLine(tile.title))}</h2>`;
  if (isDrawn(tile)) return picture === undefined ? '' : title + pictureHtml(tile, picture);
  if (tile.kind === 'figures') return title + figuresHtml(tile.figures);
  if (tile.kind === 'table') return title + tableHtml(tile);
  return title + paragraph(cut(tile.text, 2_000), '#1c1917');
}

function pictureHtml({ title }: DocumentTile, { cid }: MailFile): string {
  const { width, height } = shownPicture;
  const alt = escaped(title === '' ? 'Chart' : oneLine(title));
  return `<img src="cid:${cid ?? missing('name of the picture')}" alt="${alt}" width="${width}" height="${height}" style="max-width:100%;height:auto;border:0">`;
}

function figuresHtml(figures: readonly Figure[]): string {
  const rows = figures.slice(0, figuresMax).map(({ label, value, unit, tone }) => {
    const color = tone === undefined ? '#1c1917' : tones[tone];
    const strong = `${cell};font-size:18px;font-weight:bold;color:${color}`;
    const figure = `${escaped(oneLine(value))} <span style="font-size:12px;font-weight:normal;color:#57524b">${escaped(unit)}</span>`;
    return `<tr><td style="${cell};color:#57524b">${escaped(oneLine(label))}</td><td style="${strong}">${figure}</td></tr>`;
  });
  return `<table role="presentation" cellspacing="0" cellpadding="0">${rows.join('')}</table>`;
}

function tableHtml({
  head,
  rows,
  rest,
}: {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly rest: number;
}): string {
  const cells = (tag: string, texts: readonly string[]) =>
    `<tr>${texts.map((text) => `<${tag} style="${cell}">${escaped(cut(oneLine(text), 200))}</${tag}>`).join('')}</tr>`;
  const omitted = rest + Math.max(0, rows.length - rowsMax);
  const more = omitted > 0 ? paragraph(`and ${omitted} more`, '#57524b') : '';
  const lines = rows.slice(0, rowsMax).map((row) => cells('td', row));
  return `<table cellspacing="0" cellpadding="0">${cells('th', head)}${lines.join('')}</table>${more}`;
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

function cut(text: string, max: number): string {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
