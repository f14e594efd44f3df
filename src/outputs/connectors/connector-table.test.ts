// Connector table: rules that hold for every type, so that a new row cannot break them unnoticed.
import { expect, test } from 'vitest';
import { findConnectorType, typeNamed, typesWithProperties } from './connector-table.ts';

interface Described {
  readonly description?: string;
  readonly anyOf?: readonly Described[];
  readonly properties?: Readonly<Record<string, Described>>;
}

/** Paths of the members whose description says that they are secret. */
function secretPaths({ properties = {} }: Described, above = ''): string[] {
  return Object.entries(properties).flatMap(([name, member]) => {
    const schemas = [member, ...(member.anyOf ?? [])];
    const isSecret = schemas.some(({ description = '' }) => /(^|\. )Secret\.$/.test(description));
    const inner = schemas.flatMap((schema) => secretPaths(schema, `${above}${name}.`));
    return [...(isSecret ? [above + name] : []), ...inner];
  });
}

test.each([...typesWithProperties])(
  'contract 35: $type masks the members that its schema describes as secret, and no others',
  ({ properties: { schema, secrets } }) => {
    expect(secretPaths(schema as Described).sort()).toEqual([...secrets].sort());
  },
);

test.each([...typesWithProperties])(
  '$type: maps with secret values and members with device ids are in its schema',
  ({ properties: { schema, secretsByName, deviceIds } }) => {
    const { properties = {} } = schema as Described;
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining([...secretsByName, ...deviceIds]),
    );
  },
);

test('no two types share a property object or a name', () => {
  const members = typesWithProperties.flatMap(({ properties: { key, alias } }) => [
    key,
    ...(alias === undefined ? [] : [alias]),
  ]);
  expect(new Set(members).size).toBe(members.length);
  for (const { type } of typesWithProperties) {
    const { vendorName } = findConnectorType(type) ?? {};
    expect(typeNamed(vendorName ?? type)).toBe(type);
  }
});
