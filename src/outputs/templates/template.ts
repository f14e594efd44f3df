// Templates: strings with `{{path}}` expressions, checked when it is parsed and when it is rendered (interface 2.11).
import { problem } from '../../model/problem.ts';
import { contextPrefixes, type TemplateContext } from '../../model/template-context.ts';
import { valueAt } from '../../model/sample.ts';
import type { Json } from '../../model/json.ts';

export const templateLimits = {
  charactersMax: 256 * 1024,
  expressionsMax: 1_000,
  pathCharactersMax: 500,
  /** What a template may become. */
  renderedCharactersMax: 1024 * 1024,
} as const;

/** Where the text ends up decides how values are written into it. */
export type TemplatePlace = 'json' | 'text' | 'html' | 'url' | 'slack' | 'markdown';

/**
 * How one value is written: as JSON, inside a JSON string, without encoding, within HTML, as a part
 * of a URL, or as plain text of a message in the notation of Slack or in Markdown.
 */
type Encoding = TemplatePlace | 'jsonString';

interface Expression {
  readonly path: string;
  readonly encoding: Encoding;
}

export interface Template {
  readonly place: TemplatePlace;
  readonly parts: readonly (string | Expression)[];
}

interface Found extends Expression {
  /** Of the expression with its braces, and with the quotes around it that old templates have. */
  readonly start: number;
  readonly end: number;
}

/**
 * Reads a template. Throws Problem `templateInvalid` (400) that names the expression and where it
 * stands; `where` is the field it came in. In JSON an expression between quotes of its own is read
 * as without them, as old templates were written (contract 29).
 */
export function parseTemplate(text: string, place: TemplatePlace, where = 'template'): Template {
  if (text.length > templateLimits.charactersMax) {
    throw problem('templateInvalid', {
      where,
      reason: `it must be at most ${templateLimits.charactersMax} characters`,
    });
  }
  const refuse = refusalIn(text, where);
  const found = [...expressionsOf(text, place, refuse)];
  if (found.length > templateLimits.expressionsMax) {
    throw problem('templateInvalid', {
      where,
      reason: `it must have at most ${templateLimits.expressionsMax} expressions`,
    });
  }
  const parts: (string | Expression)[] = [];
  let from = 0;
  for (const { path, encoding, start, end } of found) {
    if (start > from) parts.push(text.slice(from, start));
    parts.push({ path, encoding });
    from = end;
  }
  if (from < text.length) parts.push(text.slice(from));
  if (place === 'url') refuseMovableHost(found, text, refuse);
  return { place, parts };
}

type Refuse = (position: number, expression: string, reason: string) => never;

function refusalIn(text: string, where: string): Refuse {
  return (position, expression, reason) => {
    const before = text.slice(0, position);
    const line = before.split('\n').length;
    const column = position - before.lastIndexOf('\n');
    throw problem('templateInvalid', {
      where,
      reason: `${expression} at line ${line}, column ${column} ${reason}`,
      expression,
      position,
      line,
      column,
    });
  };
}

/**
 * Braces that open an expression; of three the last two do, for `{{{data}}}` is an object around
 * one.
 */
const opening = /\{\{(?!\{)/g;

function* expressionsOf(text: string, place: TemplatePlace, refuse: Refuse): Generator<Found> {
  const inString = stringFinder(text);
  opening.lastIndex = 0;
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const start = match.index;
    const end = text.indexOf('}}', start);
    const nested = text.indexOf('{{', start + 2);
    const [shown = ''] = text.slice(start, start + 40).split('\n');
    if (end < 0 || (nested >= 0 && nested < end)) refuse(start, shown, 'is not closed with }}');
    const expression = text.slice(start, end + 2);
    const path = readPath(expression, start, refuse);
    opening.lastIndex = end + 2;
    if (place !== 'json') yield { path, encoding: place, start, end: end + 2 };
    else if (!inString(start)) yield { path, encoding: 'json', start, end: end + 2 };
    else yield quoted(text, path, start, end + 2);
  }
}

/**
 * An expression within a JSON string: alone in it, it is a value and the quotes go; a key stays a
 * string.
 */
function quoted(text: string, path: string, start: number, end: number): Found {
  const alone = text[start - 1] === '"' && text[start - 2] !== '\\' && text[end] === '"';
  const isKey = alone && /^\s*:/.test(text.slice(end + 1, end + 50));
  if (!alone || isKey) return { path, encoding: 'jsonString', start, end };
  return { path, encoding: 'json', start: start - 1, end: end + 1 };
}

/** Tells of ascending positions whether they stand within a JSON string. */
function stringFinder(text: string): (position: number) => boolean {
  let at = 0;
  let inside = false;
  return (position) => {
    for (; at < position; at++) {
      if (text[at] === '"') inside = !inside;
      else if (text[at] === '\\' && inside) at += 1;
    }
    return inside;
  };
}

function shortened(expression: string): string {
  if (expression.length <= 80) return expression;
  return `${expression.slice(0, 77)}...`;
}

function readPath(expression: string, start: number, refuse: Refuse): string {
  const path = expression.slice(2, -2).trim();
  const shown = shortened(expression);
  if (path === '') refuse(start, shown, 'is empty');
  if (path.length > templateLimits.pathCharactersMax) refuse(start, shown, 'is too long');
  if (/[{}\n]/.test(path)) refuse(start, shown, 'contains a brace or a line break');
  const steps = path.split('.');
  if (steps.some((step) => step === '')) refuse(start, shown, 'has an empty path segment');
  const [prefix = ''] = steps;
  if (!contextPrefixes.includes(prefix)) {
    refuse(
      start,
      shown,
      `starts with the unknown property ${prefix}; valid properties: ${contextPrefixes.join(', ')}`,
    );
  }
  return path;
}

/** What a device sends must not choose the server that credentials are sent to. */
function refuseMovableHost(found: readonly Found[], text: string, refuse: Refuse): void {
  const authority =
    /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(text)?.[0].length ?? Number.POSITIVE_INFINITY;
  const movable = found.find(({ start }) => start < authority);
  if (movable === undefined) return;
  refuse(
    movable.start,
    text.slice(movable.start, movable.end),
    'is not allowed in the scheme or host',
  );
}

/**
 * Whether the filled-in text can be JSON at all: values may be texts or numbers. For templates of
 * place `json`.
 */
export function canBeJson({ parts }: Template): boolean {
  const values: Readonly<Record<Encoding, readonly string[]>> = {
    json: ['"x"', '1'],
    jsonString: ['x', '1'],
    text: ['x', '1'],
    html: ['x', '1'],
    url: ['x', '1'],
    slack: ['x', '1'],
    markdown: ['x', '1'],
  };
  return [0, 1].some((which) => {
    const text = parts
      .map((part) => {
        if (typeof part === 'string') return part;
        return values[part.encoding][which];
      })
      .join('');
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  });
}

// Text fault: the reason why a rendered template is not valid in its place.

/** Returns null for a valid string. */
export function textFault(text: string, place: Exclude<TemplatePlace, 'html'>): string | null {
  if (place === 'json') return jsonFault(text);
  if (place === 'url' && !URL.canParse(text)) return 'it is not a valid URL';
  return null;
}

function jsonFault(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `it is not valid JSON: ${(error as Error).message}`;
  }
}

// Template rendering: replaces each expression with its value, encoded for its place (interface 2.11, contract 29).

/**
 * Replaces every expression. A missing value is `null` in JSON and nothing elsewhere. Throws
 * Problem `templateTooLarge` when the text becomes longer than may be sent.
 */
export function renderTemplate(template: Template, context: TemplateContext): string {
  let text = '';
  for (const part of template.parts) {
    text += renderPart(part, context);
    if (text.length > templateLimits.renderedCharactersMax) {
      throw problem('templateTooLarge', { charactersMax: templateLimits.renderedCharactersMax });
    }
  }
  return text;
}

function renderPart(part: Template['parts'][number], context: TemplateContext): string {
  if (typeof part === 'string') return part;
  return encoders[part.encoding](valueAt(context, part.path));
}

const encoders: Readonly<Record<Encoding, (value: Json | undefined) => string>> = {
  json: (value) => JSON.stringify(value ?? null),
  jsonString: (value) => JSON.stringify(plain(value)).slice(1, -1),
  text: plain,
  html: (value) => plain(value).replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  url: (value) => encodeURIComponent(plain(value).toWellFormed()),
  // Without these signs a device cannot call a channel or a person, or show a link as another one.
  slack: (value) => plain(value).replace(/[&<>]/g, entityOf),
  markdown: (value) =>
    plain(value)
      .replace(/[&<>]/g, entityOf)
      .replace(/[\\`*_~[\]()#|!]/g, '\\$&'),
};

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function entityOf(sign: string): string {
  return entities[sign] ?? sign;
}

function plain(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}
