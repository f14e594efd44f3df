// Dashboards in a workspace's document: names and physical ids in place of ids, in configurations that declare the schema of the platform (contract 32, 39).
import { dashboardSchemaName } from '../../contract/dashboard-configuration.ts';
import { renamedFormula } from '../../query/expressions/parse.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';

/** Members that name a record, and its kind. */
const kindOfMember = {
  deviceId: 'device',
  tagId: 'tag',
  placeId: 'place',
  fieldMetaId: 'customFieldMeta',
  deviceTypeId: 'deviceType',
  dashboardId: 'dashboard',
  ruleId: 'rule',
} as const;
export type NamedKind = (typeof kindOfMember)[keyof typeof kindOfMember];

/** Kinds of variables whose values are ids. */
const kindOfVariable = { DEVICE: 'device', TAG: 'tag', PLACE: 'place' } as const;

/** What is sent to a device, whose members have names of their own. */
const freeMembers: ReadonlySet<string> = new Set(['downlink']);

interface Renaming {
  /** The other name of a record that has the id or name `of`. */
  readonly rename: (kind: NamedKind, of: string) => string;
  /** The configuration of the dashboard that has the id or name, of which the variables count. */
  readonly configurationOf: (dashboard: string) => Json | undefined;
}

/** The configuration with other names of the records that it refers to; one of another client as it is. */
export function renamedConfiguration(configuration: JsonObject, renaming: Renaming): JsonObject {
  if (configuration['schema'] !== dashboardSchemaName) return configuration;
  return renamedObject(configuration, renaming);
}

/** The records of the kind that the configuration names, by ID or name. */
export function recordsNamed(configuration: JsonObject, kind: NamedKind): readonly string[] {
  const named = new Set<string>();
  renamedConfiguration(configuration, {
    rename(of, name) {
      if (of === kind) named.add(name);
      return name;
    },
    configurationOf: () => undefined,
  });
  return [...named];
}

function renamed(value: Json, renaming: Renaming): Json {
  if (Array.isArray(value)) return value.map((one) => renamed(one, renaming));
  return isJsonObject(value) ? renamedObject(value, renaming) : value;
}

function renamedObject(object: JsonObject, renaming: Renaming): JsonObject {
  const { rename, configurationOf } = renaming;
  const members = Object.entries(object).map(([member, value]): [string, Json] => {
    if (freeMembers.has(member)) return [member, value];
    if (typeof value === 'string') {
      if (member === 'expression')
        return [member, renamedFormula(value, (id) => rename('device', id))];
      if (Object.hasOwn(kindOfMember, member))
        return [member, rename(kindOfMember[member as keyof typeof kindOfMember], value)];
    }
    return [member, renamed(value, renaming)];
  });
  const result: Record<string, Json> = Object.fromEntries(members);
  const { kind, default: chosen, dashboardId, variables } = object;
  // Of a variable.
  if (chosen !== undefined) result['default'] = renamedValues(chosen, kind, rename);
  // Of a link: values for the variables of the other dashboard.
  if (typeof dashboardId === 'string' && isJsonObject(variables)) {
    const kinds = kindsOfVariables(configurationOf(dashboardId));
    result['variables'] = Object.fromEntries(
      Object.entries(variables).map(([name, of]) => [
        name,
        renamedValues(of, kinds.get(name), rename),
      ]),
    );
  }
  return result;
}

function renamedValues(values: Json, kind: Json | undefined, rename: Renaming['rename']): Json {
  if (typeof kind !== 'string' || !Object.hasOwn(kindOfVariable, kind)) return values;
  const of = kindOfVariable[kind as keyof typeof kindOfVariable];
  if (Array.isArray(values)) return values.map((value) => renamedValues(value, kind, rename));
  return typeof values === 'string' ? rename(of, values) : values;
}

function kindsOfVariables(configuration: Json | undefined): ReadonlyMap<Json, Json> {
  const variables = isJsonObject(configuration) ? configuration['variables'] : undefined;
  const known = Array.isArray(variables) ? variables.filter(isJsonObject) : [];
  return new Map(known.map(({ name, kind }) => [name ?? null, kind ?? null]));
}
