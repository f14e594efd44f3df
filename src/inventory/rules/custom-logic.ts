// Custom logic blocks: create, read, list, update, delete (contract 14).
import { isDeepStrictEqual } from 'node:util';
import type { CustomLogicDraft, CustomLogicUpdate } from '../../contract/rules.ts';
import type { Json } from '../../model/json.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  converted,
  type CustomLogicBlock,
  type CustomLogicDataSource,
  type CustomLogicProperty,
} from '../../model/rule.ts';
import type { Records } from '../../storage/records/records.ts';
import { customLogicRows, ruleRows } from '../../storage/records/rows/rules.ts';
import { ownOrganization } from '../list-scope.ts';
import { auditView, Crud, type Step, usersNamedMax } from '../record-crud.ts';

const limits = { scriptBytesMax: 1024 * 1024, variablesMax: 50, rulesListedMax: 1_000 } as const;
const crud = new Crud<CustomLogicBlock>(
  'customLogic',
  'custom logic block',
  () => customLogicRows,
  checkUsers,
);
const variablePattern = /^[A-Za-z_$][\w$]{0,99}$/;

function invalid(field: string, reason: string) {
  return problem('ruleInvalid', { field, reason });
}

/** Names of variables that scripts see: each once, as a JavaScript name. */
export function checkVariables(field: string, names: readonly string[]): void {
  if (names.length > limits.variablesMax)
    throw invalid(field, `must have at most ${limits.variablesMax} items`);
  const seen = new Set<string>();
  for (const [i, name] of names.entries()) {
    const place = `${field}.${i}.variableName`;
    if (!variablePattern.test(name))
      throw invalid(place, `${name} is not a valid variable name; use letters, digits, _ and $`);
    if (seen.has(name)) throw invalid(place, `${name} is duplicated`);
    seen.add(name);
  }
}

function sourcesFrom(sent: NonNullable<CustomLogicUpdate['dataSources']>): CustomLogicDataSource[] {
  checkVariables(
    'dataSources',
    sent.map(({ variableName }) => variableName),
  );
  return sent.map(({ variableName, ...source }) => ({
    name: source.name ?? variableName,
    description: source.description ?? null,
    variableName,
    defaultTopic: source.defaultTopic ?? null,
    defaultDataKey: source.defaultDataKey ?? null,
    lastSample: source.lastSample ?? false,
    triggerOnUplink: source.triggerOnUplink ?? false,
  }));
}

function propertiesFrom(sent: NonNullable<CustomLogicUpdate['properties']>): CustomLogicProperty[] {
  checkVariables(
    'properties',
    sent.map(({ variableName }) => variableName),
  );
  return sent.map(({ variableName, type, ...property }, i) => {
    const defaultValue: Json = property.defaultValue ?? null;
    if (
      defaultValue !== null &&
      defaultValue !== '' &&
      converted(defaultValue, type) === undefined
    ) {
      throw invalid(
        `properties.${i}.defaultValue`,
        `${JSON.stringify(defaultValue)} is not of type ${type}`,
      );
    }
    const { name, description } = property;
    return {
      name: name ?? variableName,
      description: description ?? null,
      variableName,
      defaultValue,
      type,
    };
  });
}

function scriptFrom(script: string): string {
  if (Buffer.byteLength(script) > limits.scriptBytesMax) {
    throw invalid('script', `must be at most ${limits.scriptBytesMax} bytes`);
  }
  return script;
}

function view(record: CustomLogicBlock) {
  return { ...record, ...auditView(record), customLogicId: record.id };
}

/**
 * With the rules that use it, as far as the principal reaches: a block is the organization's, its
 * rules are of workspaces.
 */
async function detail(records: Records, { workspaces }: Principal, record: CustomLogicBlock) {
  const rules = await ruleRows.using(records.db, 'customLogic', record.id, limits.rulesListedMax);
  return {
    ...view(record),
    rules: rules.filter(({ workspaceId }) => workspaces === 'all' || workspaces.has(workspaceId)),
  };
}

/** Custom logic blocks as callers make and read them. */
export class CustomLogicBlocks {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async create(principal: Principal, draft: CustomLogicDraft) {
    const record = await crud.create(this.#records, async (_step, fields) => ({
      ...fields,
      organizationId: draft.organizationId,
      name: draft.name,
      description: draft.description ?? null,
      dataSources: sourcesFrom(draft.dataSources ?? []),
      properties: propertiesFrom(draft.properties ?? []),
      script: scriptFrom(draft.script),
    }));
    return detail(this.#records, principal, record);
  }

  async read(principal: Principal, id: string) {
    return detail(this.#records, principal, await crud.read(this.#records, id));
  }

  async list(
    principal: Principal,
    filter: { readonly organizationId?: string | undefined; readonly search?: string | undefined },
    page: PageRequest,
  ): Promise<Page<ReturnType<typeof view>>> {
    const organizationId = ownOrganization(principal, filter.organizationId);
    const { rows, total } = await customLogicRows.list(
      this.#records.db,
      { organizationId, search: filter.search },
      page,
    );
    return pageOf(rows.map(view), total, page);
  }

  /** Throws 409 when data sources or properties change while an active rule uses the block. */
  async update(principal: Principal, id: string, sent: CustomLogicUpdate) {
    const saved = await crud.update(this.#records, id, sent, (current) => ({
      dataSources:
        sent.dataSources === undefined ? current.dataSources : sourcesFrom(sent.dataSources ?? []),
      properties:
        sent.properties === undefined ? current.properties : propertiesFrom(sent.properties ?? []),
      script: sent.script === undefined ? current.script : scriptFrom(sent.script),
    }));
    return detail(this.#records, principal, saved);
  }

  /** Throws 409 while any rule uses it. */
  async remove(id: string): Promise<void> {
    await crud.remove(this.#records, id, ({ db }) =>
      ruleRows.namesOfUsing(db, 'customLogic', id, usersNamedMax),
    );
  }
}

/** Data sources and properties cannot change while an active rule uses them. */
async function checkUsers(
  step: Step,
  record: CustomLogicBlock,
  current: CustomLogicBlock | undefined,
): Promise<void> {
  if (current === undefined) return;
  const used = ({ dataSources, properties }: CustomLogicBlock) => ({ dataSources, properties });
  if (isDeepStrictEqual(used(record), used(current))) return;
  const rules = await ruleRows.using(step.db, 'customLogic', record.id, limits.rulesListedMax);
  const users = rules
    .filter(({ active }) => active)
    .map((rule) => `rule ${rule.name} (${rule.id})`);
  if (users.length > 0) throw problem('customLogicInUse', { users: users.slice(0, usersNamedMax) });
}
