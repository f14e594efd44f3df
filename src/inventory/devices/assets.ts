// Asset list: devices by access, filters, search and expression, page by page, and the options of its filters (interface 4.2, contract 4).
import {
  type CustomFieldMeta,
  type Device,
  type FilterType,
  filterTypes,
  type LoraField,
  type OnlineState,
} from '../../model/device.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { formatPath } from '../../model/place.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import {
  type AssetField,
  type AssetFieldName,
  assetFields,
} from '../../query/filters/asset-fields.ts';
import {
  type Condition,
  expressionLimits,
  type FilterableCustomField,
  readExpression,
} from '../../query/filters/expression.ts';
import {
  type PredicateName,
  predicateNames,
  predicates,
  predicatesOf,
} from '../../query/filters/predicates.ts';
import { isOneOf } from '../../storage/records/columns.ts';
import type { Rows, WorkspaceFilter } from '../../storage/records/list.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import type { DeviceFilter } from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { listDevices } from '../../storage/records/rows/device-lists.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { Devices } from './devices.ts';

export interface AssetFilter extends ListScope {
  readonly search?: string | undefined;
  readonly type?: string | undefined;
  readonly assetIds?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  readonly integrationId?: string | undefined;
  readonly tagIds?: readonly string[] | undefined;
  /** Devices at any of these places or below it. */
  readonly placeIds?: readonly string[] | undefined;
  readonly customFieldIds?: readonly string[] | undefined;
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly provider?: string | undefined;
  readonly packageName?: string | undefined;
  /** As the client sent it (interface 2.9). */
  readonly expression?: unknown;
}

/** Lists of devices by filters (contract 4). */
export class Assets {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  /** The filter names an organization or workspaces (contract 4). */
  async list(principal: Principal, filter: AssetFilter, page: PageRequest) {
    const { rows, total } = await this.devicePage(principal, filter, page);
    return pageOf(await new Devices(this.#records).views(principal, rows), total, page);
  }

  /** The devices of one page. Throws 400, 403 or 404. */
  async devicePage(
    principal: Principal,
    filter: AssetFilter,
    page: PageRequest,
  ): Promise<Rows<Device>> {
    const wanted = await this.filterOf(principal, filter);
    return listDevices(this.#records, wanted, page, this.#records.now());
  }

  /** The filter for the store. Throws 400, 403 or 404. */
  async filterOf(principal: Principal, filter: AssetFilter): Promise<DeviceFilter> {
    if (filter.organizationId === undefined && (filter.workspaceIds ?? []).length === 0) {
      throw problem('invalidRequest', {
        reason: 'Set organizationId, workspaceId, or workspaceIds',
      });
    }
    const reach = await listReach(this.#records, principal, filter);
    const { type, assetIds, expression, workspaceIds: _, organizationId: __, ...rest } = filter;
    const wanted: DeviceFilter = { ...rest, ...reach, ids: assetIds };
    // Every asset is a device.
    if (type !== undefined && type !== 'DEVICE') return { ...wanted, ids: [] };
    if (expression === undefined || expression === null) return wanted;
    return { ...wanted, condition: await conditionOf(this.#records, reach, expression) };
  }

  async options(principal: Principal, scope: ListScope) {
    const reach = await listReach(this.#records, principal, scope);
    const choices: Partial<Record<AssetFieldName, FilterOption['values']>> = await filterChoices(
      this.#records.db,
      reach,
      choicesMax,
    );
    const fields = (Object.keys(assetFields) as AssetFieldName[]).map((name): FilterOption => {
      const field: AssetField = assetFields[name];
      const values = field.values?.map((value) => ({ value, label: value })) ?? choices[name];
      return {
        field: name,
        label: field.label,
        filterTypes: field.types,
        ...(values && { values }),
      };
    });
    const customFields = await customFieldRows.ofWorkspaces(this.#records.db, reach);
    return { filterOptions: [...fields, ...customFieldOptions(customFields)], definitions };
  }
}

async function conditionOf(
  records: Records,
  reach: Awaited<ReturnType<typeof listReach>>,
  expression: unknown,
): Promise<Condition> {
  const byName = new Map<string, FilterableCustomField[]>();
  for (const field of await customFieldRows.ofWorkspaces(records.db, reach)) {
    const known = byName.get(field.name) ?? [];
    known.push({ metaId: field.id, name: field.name, type: valueTypeOf(field) });
    byName.set(field.name, known);
  }
  return readExpression(expression, (name) => byName.get(name) ?? []);
}

// Filter options of assets: all that a client needs to build a filter form (interface 4.2, contract 4).

interface FilterOption {
  readonly field: string;
  readonly label: string;
  readonly filterTypes: readonly FilterType[];
  readonly customFieldName?: string;
  readonly values?: readonly { readonly value: string; readonly label: string }[];
}

/** A field with more choices is shown without them; a form then takes a text. */
const choicesMax = 1_000;

/** The filter type of a custom field's values; undefined for values that can only be set or not. */
function valueTypeOf({ type }: CustomFieldMeta): 'STRING' | 'NUMBER' | 'DATE' | undefined {
  if (type === 'JSON' || type === 'GPS_COORDINATES') return undefined;
  return type;
}

/** One option per name: workspaces can have fields of the same name. */
function customFieldOptions(fields: readonly CustomFieldMeta[]): FilterOption[] {
  const options = new Map<string, FilterOption>();
  for (const field of fields) {
    const known = options.get(field.name);
    const type = valueTypeOf(field);
    const types = new Set<FilterType>([
      ...(known?.filterTypes ?? ['CUSTOM_FIELD']),
      type ?? 'CUSTOM_FIELD',
    ]);
    const values = [
      ...(known?.values ?? []),
      ...(field.selectOptions ?? []).map((value) => ({ value, label: value })),
    ];
    const unique = [...new Map(values.map((choice) => [choice.value, choice])).values()];
    options.set(field.name, {
      field: 'customFields',
      customFieldName: field.name,
      label: field.name,
      filterTypes: [...types],
      ...(unique.length > 0 && { values: unique }),
    });
  }
  return [...options.values()];
}

const definitions = {
  predicates: Object.fromEntries(
    filterTypes.map((type) => [type, predicatesOf([type])]),
  ) as Readonly<Record<string, readonly PredicateName[]>>,
  values: Object.fromEntries(
    predicateNames.map((name) => [
      name,
      { ...predicates[name].values, meaning: predicates[name].meaning },
    ]),
  ),
  operators: ['AND', 'OR'],
  maxDepth: expressionLimits.depthMax,
  maxFilters: expressionLimits.filtersMax,
  maxValues: expressionLimits.valuesMax,
} as const;

// Filter choices: the values of asset fields in the workspaces of a list: data flows, types, tags (contract 4).

interface Choice {
  readonly value: string;
  readonly label: string;
}

/** A field with more than `max` values is absent. */
async function filterChoices(db: RecordsDb, place: WorkspaceFilter, max: number) {
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
  const places = await choicesOfPlaces(db, place, max);
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
    placeId: places,
    'places.id': places,
  };
  return Object.fromEntries(Object.entries(all).filter(([, choices]) => choices.length <= max));
}

/** By path: rooms of many buildings have the same name. */
async function choicesOfPlaces(
  db: RecordsDb,
  place: WorkspaceFilter,
  max: number,
): Promise<Choice[]> {
  const first = { page: 0, size: max + 1, sort: [] };
  const { rows } = await placeRows.list(db, place, first);
  if (rows.length > max) return choicesOf(rows);
  const paths = await placeRows.pathsOf(
    db,
    rows.map(({ id }) => id),
  );
  const choices = rows.map(({ id }) => ({
    value: id,
    label: formatPath((paths.get(id) ?? []).map(({ name }) => name)),
  }));
  return choices.toSorted((a, b) => (a.label < b.label ? -1 : 1));
}

function choicesOf(rows: readonly { readonly id: string; readonly name: string }[]): Choice[] {
  return rows.map(({ id, name }) => ({ value: id, label: name }));
}
