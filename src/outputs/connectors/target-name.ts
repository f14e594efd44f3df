// Target name: a topic or routing key that is a template, so that it differs by message.
import type { TemplateContext } from '../../model/template-context.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { parseTemplate } from '../templates/template.ts';

/** Returns a function that renders the template with the context of a message. */
export function createTargetName(text: string): (context: TemplateContext) => string {
  const template = parseTemplate(text, 'text');
  return (context) => renderTemplate(template, context);
}
