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

/** Tags of workspaces as callers make and read them (contract 6). */
export class Tags {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(draft: TagDraft) {
    const record = await crud.create(this.#records, async (step, fields) => ({
      ...fields,
      ...(await placeIn(step, draft.workspaceId)),
      name: draft.name,
      description: draft.description ?? null,
      color: checkColor(draft.color ?? null),
    }));
    return view(record, new Map());
  }

  async read(id: string) {
    const record = await crud.read(this.#records, id);
    return view(record, await tagRows.deviceCounts(this.#records.db, [id]));
  }

  async list(
    principal: Principal,
    filter: ListScope & { readonly search?: string | undefined },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof view>>> {
    const reach = await listReach(this.#records, principal, filter);
    const { rows, total } = await tagRows.list(
      this.#records.db,
      { ...reach, search: filter.search },
      page,
    );
    const counts = await tagRows.deviceCounts(
      this.#records.db,
      rows.map((row) => row.id),
    );
    return pageOf(
      rows.map((row) => view(row, counts)),
      total,
      page,
    );
  }

  async update(id: string, sent: TagUpdate) {
    await crud.update(this.#records, id, sent, (current) => ({
      color: checkColor(orCurrent(sent.color, current.color)),
    }));
    return this.read(id);
  }

  /**
   * Devices with the tag lose it. A rule or a calculation with the tag as input would have no device,
   * so it blocks the deletion (409).
   */
  async remove(id: string): Promise<void> {
    await crud.remove(this.#records, id, async ({ db }) => [
      ...(await ruleRows.namesOfUsing(db, 'tag', id, usersNamedMax)),
      ...(await calculationRows.ofTag(db, id, usersNamedMax)),
    ]);
  }
}
