// Fills a template in: finds the value of each expression and writes it as its place asks (interface 2.11, contract 29).
import { isJsonObject, type Json } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import type { TemplateContext } from '../model/template-context.ts';
import { type Encoding, type Template, templateLimits } from './template.ts';

/**
 * The text with every expression replaced. A missing value is `null` in JSON and nothing elsewhere. Throws Problem
 * `templateTooLarge` when the text becomes longer than may be sent.
 */
export function renderTemplate(template: Template, context: TemplateContext): string {
  let text = '';
  for (const part of template.parts) {
    text += typeof part === 'string' ? part : encoders[part.encoding](valueAt(context, part.path));
    if (text.length > templateLimits.renderedCharactersMax) {
      throw problem('templateTooLarge', { charactersMax: templateLimits.renderedCharactersMax });
    }
  }
  return text;
}

const encoders: Readonly<Record<Encoding, (value: Json | undefined) => string>> = {
  json: (value) => JSON.stringify(value ?? null),
  jsonString: (value) => JSON.stringify(plain(value)).slice(1, -1),
  text: plain,
  html: (value) => plain(value).replace(/[&<>"'`]/g, (sign) => `&#${sign.charCodeAt(0)};`),
  url: (value) => encodeURIComponent(plain(value).toWellFormed()),
};

function plain(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The value at a dotted path, undefined when there is none. A key may hold dots itself: at each level the key as it stands wins,
 * then the shortest first step (contract 35). Elements of arrays are numbered from 0.
 */
export function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (Array.isArray(value)) return elementAt(value, path);
  if (!isJsonObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return value[path];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    if (!Object.hasOwn(value, head)) continue;
    const found = valueAt(value[head], path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function elementAt(list: readonly Json[], path: string): Json | undefined {
  const [head = '', ...rest] = path.split('.');
  const element = /^\d{1,9}$/.test(head) ? list[Number(head)] : undefined;
  return rest.length === 0 ? element : valueAt(element, rest.join('.'));
}
