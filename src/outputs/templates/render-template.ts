// Template rendering: replaces each expression with its value, encoded for its place (interface 2.11, contract 29).
import { valueAt } from '../../model/sample.ts';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { TemplateContext } from '../../model/template-context.ts';
import { type Encoding, type Template, templateLimits } from './template.ts';

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
