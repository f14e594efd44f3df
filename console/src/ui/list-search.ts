// Address of a paged list: what is searched, and its page.

export interface ListSearch {
  readonly q?: string;
  /** From 0. */
  readonly page?: number;
}

export function readListSearch(search: Record<string, unknown>): ListSearch {
  const { q } = search;
  return { ...(typeof q === 'string' && q !== '' ? { q } : {}), ...readPage(search) };
}

export function readPage({ page }: Record<string, unknown>): Pick<ListSearch, 'page'> {
  return Number.isInteger(page) && Number(page) > 0 ? { page: Number(page) } : {};
}

/** The moment of the time machine; ISO-8601 in another form becomes that of UTC. */
export function readMoment({ at }: Record<string, unknown>): { readonly at?: string } {
  const instant = instantOf(at);
  return instant === undefined ? {} : { at: instant };
}

/** Undefined for anything but a date and time. */
export function instantOf(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
