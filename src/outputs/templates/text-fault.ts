// Text fault: the reason why a rendered template is not valid in its place.
import type { TemplatePlace } from './template.ts';

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
