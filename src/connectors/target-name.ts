// Names at a target that differ by message, such as topics and routing keys: a template in plain text.
import type { TemplateContext } from './connector.ts';

/** What a template makes of each message's context. */
export function targetName(text: string): (context: TemplateContext) => string {
  return (context) => text.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path: string) => textAt(context, path));
}

function textAt(context: TemplateContext, path: string): string {
  let value: unknown = context;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value === undefined || value === null ? '' : String(value);
}
