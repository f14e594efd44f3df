// Unknown members of bodies: found at any depth, with the name that was probably meant.
import Type from 'typebox';
import { expect, test } from 'vitest';
import { ignoredHeader, nearestOf, unknownMembers, unknownReason } from './request-validation.ts';

const schema = Type.Object({
  uplinkScript: Type.Optional(Type.String()),
  settings: Type.Optional(
    Type.Union([Type.Object({ retentionDays: Type.Integer() }), Type.Null()]),
  ),
  rows: Type.Optional(
    Type.Array(
      Type.Union([Type.Object({ kind: Type.String() }), Type.Object({ type: Type.String() })]),
    ),
  ),
  free: Type.Optional(Type.Unsafe({ type: 'object' })),
  texts: Type.Optional(Type.Record(Type.String(), Type.String())),
});

test('behaviour 25: members that no schema names are found', () => {
  const body = {
    script: 'x',
    settings: { retentionDays: 1, retention: 2 },
    rows: [{ kind: 'a', type: 'b' }, { colour: 1 }],
    free: { any: { thing: 1 } },
    texts: { any: 'text' },
    'ü,': 1,
  };
  const found = unknownMembers(schema, body);
  expect(found).toEqual([
    { path: 'script', nearest: 'uplinkScript' },
    { path: 'settings.retention', nearest: 'retentionDays' },
    { path: 'rows.1.colour', nearest: undefined },
    { path: 'ü,', nearest: undefined },
  ]);
  expect(unknownReason(found)).toContain(
    'body script: there is no such member; did you mean uplinkScript?',
  );
  expect(ignoredHeader(found)).toBe('script, settings.retention, rows.1.colour, %C3%BC%2C');
  expect(unknownMembers(schema, { settings: null, rows: [] })).toEqual([]);
  expect(unknownMembers(undefined, body)).toEqual([]);
});

test.each([
  ['timeZone', ['timezone', 'format'], 'timezone'],
  ['devices', ['device', 'asset'], 'device'],
  ['uplinkSecret', ['name', 'version'], undefined],
])('the valid name for %s', (name, valid, nearest) => {
  expect(nearestOf(name, valid)).toBe(nearest);
});
