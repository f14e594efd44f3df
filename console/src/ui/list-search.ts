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
