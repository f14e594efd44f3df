// Names at a target that differ by message, such as topics and routing keys: a template in plain text.
import { isJsonObject, type Json } from '../model/json.ts';
import type { TemplateContext } from './connector.ts';

/** What a template makes of each message's context. */
export function targetName(text: string): (context: TemplateContext) => string {
  return (context) => text.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path: string) => textAt(context, path));
}

function textAt(context: TemplateContext, path: string): string {
  const value = valueAt(context, path);
  return value === undefined || value === null ? '' : String(value);
}

export function valueAt(context: TemplateContext, path: string): Json | undefined {
  let value: Json | undefined = context;
  for (const step of path.split('.')) value = isJsonObject(value) ? value[step] : undefined;
  return value;
}
