// Output connectors that name others in a workspace's document: by name, because ids differ between workspaces.
import { typesWithProperties } from '../../outputs/connectors/connector-table.ts';
import { isJsonObject } from '../../model/json.ts';

type Item = Readonly<Record<string, unknown>>;

const naming = typesWithProperties.filter(({ properties }) => properties.namesConnectors);

/** The item with other ids or names of the output connectors that its properties name. */
export function withConnectors<T extends Item>(item: T, rename: (of: string) => string): T {
  const changed: Record<string, unknown> = { ...item };
  for (const { properties: rules } of naming) {
    const properties = item[rules.key];
    if (isJsonObject(properties))
      changed[rules.key] = rules.connectorIds.renamed(properties, rename);
  }
  return changed as T;
}

/** The ids or names of the output connectors that the properties of the item name. */
export function connectorsNamedBy(item: Item): readonly string[] {
  return naming.flatMap(({ properties: rules }) => {
    const properties = item[rules.key];
    if (!isJsonObject(properties)) return [];
    return rules.connectorIds.named(properties).map(({ id }) => id);
  });
}

/** Items that name no others first, so that an import finds what is named. */
export function inOrderOfNaming<T extends Item>(items: readonly T[]): readonly T[] {
  const isNaming = (item: T) => connectorsNamedBy(item).length > 0;
  return [...items.filter((item) => !isNaming(item)), ...items.filter(isNaming)];
}
