// Tags: create, read, list, update, delete (contract 6).
import type { TagDraft, TagUpdate } from '../../contract/tags.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Tag } from '../../model/device.ts';
import type { Records } from '../../storage/records/records.ts';
import { calculationRows } from '../../storage/records/rows/calculations.ts';
import { ruleRows } from '../../storage/records/rows/rules.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { auditView, Crud, orCurrent, placeIn, usersNamedMax } from '../record-crud.ts';
import { listReach, type ListScope } from '../list-scope.ts';

const colorPattern = /^#[0-9a-fA-F]{6}$/;

function view(record: Tag, counts: ReadonlyMap<string, number>) {
  const { organizationId: _, ...tag } = record;
  return { ...tag, taggedDevices: counts.get(record.id) ?? 0, ...auditView(record) };
}

function checkColor(color: string | null): string | null {
  if (color === null || colorPattern.test(color)) return color;
  throw problem('invalidRequest', {
    reason: `body color: must have the form #RRGGBB, got ${color}`,
  });
}

const crud = new Crud<Tag>('tag', 'tag', () => tagRows);

export async function createTag(records: Records, draft: TagDraft) {
  const record = await crud.create(records, async (step, fields) => ({
    ...fields,
    ...(await placeIn(step, draft.workspaceId)),
    name: draft.name,
    description: draft.description ?? null,
    color: checkColor(draft.color ?? null),
  }));
  return view(record, new Map());
}

export async function readTag(records: Records, id: string) {
  const record = await crud.read(records, id);
  return view(record, await tagRows.deviceCounts(records.db, [id]));
}

export async function listTags(
  records: Records,
  principal: Principal,
  filter: ListScope & { readonly search?: string | undefined },
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const reach = await listReach(records, principal, filter);
  const { rows, total } = await tagRows.list(records.db, { ...reach, search: filter.search }, page);
  const counts = await tagRows.deviceCounts(
    records.db,
    rows.map((row) => row.id),
  );
  return pageOf(
    rows.map((row) => view(row, counts)),
    total,
    page,
  );
}

export async function updateTag(records: Records, id: string, sent: TagUpdate) {
  await crud.update(records, id, sent, (current) => ({
    color: checkColor(orCurrent(sent.color, current.color)),
  }));
  return readTag(records, id);
}

/**
 * Devices with the tag lose it. A rule or a calculation with the tag as input would have no device,
 * so it blocks the deletion (409).
 */
export async function deleteTag(records: Records, id: string): Promise<void> {
  await crud.remove(records, id, async ({ db }) => [
    ...(await ruleRows.namesOfUsing(db, 'tag', id, usersNamedMax)),
    ...(await calculationRows.ofTag(db, id, usersNamedMax)),
  ]);
}
