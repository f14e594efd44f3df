// Template preview: renders a template with the context of a device, partly replaced by the caller (interface 2.11).
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { TemplateContext } from '../model/template-context.ts';
import { renderTemplate } from '../outputs/templates/render-template.ts';
import { parseTemplate, textFault } from '../outputs/templates/template.ts';
import { type ContextChoice, type ContextSources, previewContext } from './template-context.ts';

interface PreviewRequest extends ContextChoice {
  readonly template: string;
  readonly place: 'json' | 'text' | 'url';
  /** Members that replace those of the device's context. */
  readonly context: JsonObject | undefined;
}

interface Preview {
  readonly text: string;
  readonly valid: boolean;
  /** Why the text cannot be used; null when it is valid. */
  readonly reason: string | null;
  readonly context: JsonObject;
}

/** Throws `templateInvalid` for a broken template, and the errors of `previewContext`. */
export async function previewTemplate(
  request: PreviewRequest,
  principal: Principal,
  sources: ContextSources,
): Promise<Preview> {
  const { template, place } = request;
  const parsed = parseTemplate(template, place, 'body template');
  const known = await previewContext(request, principal, sources);
  const context = { ...known, ...request.context } as TemplateContext;
  const text = renderTemplate(parsed, context);
  const reason = textFault(text, place);
  return { text, valid: reason === null, reason, context };
}
