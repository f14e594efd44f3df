// Filter choices: the values of asset fields in the workspaces of a list: data flows, types, tags (contract 4).
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { WorkspaceFilter } from '../list.ts';

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A field with more than `max` values is absent. */
export async function filterChoices(
  db: RecordsDb,
  place: Omit<WorkspaceFilter, 'search'>,
  max: number,
) {
  const { organizationId, workspaceIds } = place;
  const named = async (table: 'dataFlows' | 'tags'): Promise<Choice[]> => {
    let query = db
      .selectFrom(table as 'tags')
      .select(['id', 'name'])
      .where('organizationId', '=', organizationId);
    if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
    return choicesOf(
      await query
        .orderBy('searchText')
        .orderBy('id')
        .limit(max + 1)
        .execute(),
    );
  };
  let workspaces = db
    .selectFrom('workspaces')
    .select(['id', 'name'])
    .where('organizationId', '=', organizationId);
  if (workspaceIds !== undefined) workspaces = workspaces.where(isOneOf('id', workspaceIds));
  let types = db
    .selectFrom('deviceTypes')
    .select(['id', 'name'])
    .where('id', 'in', (eb) => {
      const used = eb
        .selectFrom('dataFlows')
        .select('deviceTypeId')
        .where('organizationId', '=', organizationId);
      return workspaceIds === undefined ? used : used.where(isOneOf('workspaceId', workspaceIds));
    });
  types = types
    .orderBy('searchText')
    .orderBy('id')
    .limit(max + 1);
  const tags = await named('tags');
  const names = [...new Set(tags.map((tag) => tag.label))].map((name) => ({
    value: name,
    label: name,
  }));
  const all = {
    workspaceId: choicesOf(
      await workspaces
        .orderBy('searchText')
        .orderBy('id')
        .limit(max + 1)
        .execute(),
    ),
    dataFlow: await named('dataFlows'),
    deviceType: choicesOf(await types.execute()),
    'tags.id': tags,
    'tags.name': names,
  };
  return Object.fromEntries(Object.entries(all).filter(([, choices]) => choices.length <= max));
}

function choicesOf(rows: readonly { readonly id: string; readonly name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}
