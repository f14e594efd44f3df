// Address of a new output: its type and its use.
import { type OutputScope, outputScopes } from './output-search.ts';

/** What the address says: type and use, so that other pages can lead to the right form. */
export interface NewOutputSearch {
  readonly type?: string;
  readonly scope?: OutputScope;
}

export function readNewOutput(search: Record<string, unknown>): NewOutputSearch {
  const { type } = search;
  const scope = outputScopes.find((one) => one === search['scope']);
  const isKnown = typeof type === 'string' && /^[A-Z_]{1,40}$/.test(type);
  return { ...(isKnown ? { type } : {}), ...(scope === undefined ? {} : { scope }) };
}
