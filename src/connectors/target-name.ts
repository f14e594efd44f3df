// Names at a target that differ by message, such as topics and routing keys: a template in plain text.
import type { TemplateContext } from '../model/template-context.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';

/** What a stored template makes of each message's context. */
export function targetName(text: string): (context: TemplateContext) => string {
  const template = parseTemplate(text, 'text');
  return (context) => renderTemplate(template, context);
}
