// Rows with health: the member `health` of the rows of a list, read for the whole page (contract 37).
import type { Page } from '../../model/page.ts';

type WithHealth<Row, Health> = Row & { readonly health?: Health | null };

/** `healthOf` is asked once for all rows of the page, and only if the query wants it. */
export async function withHealth<Row extends { readonly id: string }, Health>(
  { details }: { readonly details?: boolean | 'health' | undefined },
  page: Page<Row>,
  healthOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, Health>>,
): Promise<Page<WithHealth<Row, Health>>> {
  if (details !== 'health') return page;
  const health = await healthOf(page.content.map(({ id }) => id));
  const content = page.content.map((row) => ({ ...row, health: health.get(row.id) ?? null }));
  return { ...page, content };
}
