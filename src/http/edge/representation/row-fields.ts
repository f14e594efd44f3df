// Row fields: `fields=` narrows the rows of a page to the members that it names (contract 37).
import Type, { type TSchema } from 'typebox';
import { problem } from '../../../model/problem.ts';
import { listOf } from '../list-query.ts';
import type { Route } from '../route.ts';

/** A row, or several forms of one. */
interface RowShape {
  readonly properties?: object;
  readonly anyOf?: readonly RowShape[];
}

/** What is read of the schema of a page. */
interface PageShape {
  readonly properties: {
    readonly content: { readonly items: RowShape | undefined };
  };
}

interface Rows {
  readonly content: readonly object[];
}

/**
 * The page with narrowed rows; any other output, and one without `fields`, as it is. Throws 400 for
 * a member that no row has.
 */
export function withRowFields(route: Route, query: unknown, output: unknown): unknown {
  if (!takesFields(route) || !isPage(output)) return output;
  const names = listOf(query as object, 'fields');
  if (names === undefined) return output;
  const known = membersOf(route.response);
  const unknown = known && names.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const reason = `query fields: unknown field ${unknown.slice(0, 100)}`;
    throw problem('invalidRequest', { reason });
  }
  return { ...output, content: output.content.map((row) => narrowed(row, names)) };
}

function takesFields({ query }: Route): boolean {
  return query !== undefined && Type.IsObject(query) && 'fields' in query.properties;
}

function isPage(output: unknown): output is Rows {
  return typeof output === 'object' && output !== null && 'content' in output;
}

function narrowed(row: object, names: readonly string[]): object {
  const kept = names.filter((name) => Object.hasOwn(row, name));
  return Object.fromEntries(kept.map((name) => [name, row[name as keyof typeof row]]));
}

/** The members of a row by its schema; undefined where the schema does not name them. */
function membersOf(response: TSchema | undefined): ReadonlySet<string> | undefined {
  const row = (response as Partial<PageShape>)?.properties?.content?.items;
  const names = (row?.anyOf ?? [row]).flatMap((form) => Object.keys(form?.properties ?? {}));
  return names.length === 0 ? undefined : new Set(names);
}
