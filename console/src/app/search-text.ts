// Search text: parameters of an address; those of variables, `var.NAME`, are texts and can be repeated.
import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';

const prefix = 'var.';
type Search = Record<string, unknown>;

/** Values of variables are in `var`, by name. The router would read an id of digits only as a number. */
export function parseSearch(text: string): Search {
  const search: Search = defaultParseSearch(text);
  const values: Record<string, string[]> = {};
  for (const [parameter, value] of new URLSearchParams(text))
    if (parameter.startsWith(prefix)) {
      delete search[parameter];
      (values[parameter.slice(prefix.length)] ??= []).push(value);
      search['var'] = values;
    }
  return search;
}

export function stringifySearch({ var: values, ...others }: Search): string {
  let text = defaultStringifySearch(others);
  for (const [name, list] of Object.entries(values ?? {}))
    for (const value of [list].flat())
      text += `${text === '' ? '?' : '&'}${prefix}${name}=${encodeURIComponent(String(value))}`;
  return text;
}
