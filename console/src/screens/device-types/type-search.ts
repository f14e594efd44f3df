// Search of the device type list, as the address says it.

export const typeSources = ['manual', 'library'] as const;
type TypeSource = (typeof typeSources)[number];

/** What the address of the list says. */
export interface TypeSearch {
  readonly q?: string;
  readonly source?: TypeSource;
}

export function readTypeSearch(search: Record<string, unknown>): TypeSearch {
  const source = typeSources.find((one) => one === search['source']);
  return {
    ...(typeof search['q'] === 'string' && search['q'] !== '' ? { q: search['q'] } : {}),
    ...(source === undefined ? {} : { source }),
  };
}
