// Text fault: why a rendered text cannot be used in its place.
import type { TemplatePlace } from './template.ts';

/** Returns null for a text that can be used. */
export function textFault(text: string, place: Exclude<TemplatePlace, 'html'>): string | null {
  if (place === 'text') return null;
  if (place === 'url') return URL.canParse(text) ? null : 'it is no URL';
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `it is no valid JSON: ${(error as Error).message}`;
  }
}
