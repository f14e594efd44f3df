// Search text: parameters of an address; those of variables, `var.NAME`, are texts and can be repeated.
import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';

const variablePrefix = 'var.';
type Search = Record<string, unknown>;

/** Values of variables are in `var`, by name. */
export function parseSearch(text: string): Search {
  const search: Search = defaultParseSearch(text);
  const parameters = new URLSearchParams(text);
  const values: Record<string, readonly string[]> = {};
  for (const parameter of Object.keys(search)) {
    if (!parameter.startsWith(variablePrefix)) continue;
    delete search[parameter];
    // The router would read an id of digits only as a number.
    values[parameter.slice(variablePrefix.length)] = parameters.getAll(parameter);
  }
  return Object.keys(values).length === 0 ? search : { ...search, var: values };
}

export function stringifySearch({ var: values, ...others }: Search): string {
  const text = defaultStringifySearch(others);
  const repeated = new URLSearchParams();
  for (const [name, list] of Object.entries(values ?? {}))
    if (Array.isArray(list))
      for (const one of list) repeated.append(`${variablePrefix}${name}`, String(one));
  if (repeated.size === 0) return text;
  return `${text === '' ? '?' : `${text}&`}${repeated.toString()}`;
}
