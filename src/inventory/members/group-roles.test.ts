// Group roles: the highest role counts, in any order of groups and entries.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GroupRole, organizationRoles } from '../../model/user.ts';
import { wantedRoles } from './members.ts';

const inOrganization = (group: string, role: (typeof organizationRoles)[number]): GroupRole => ({
  group,
  role,
  organizationId: '28',
});

test.each([
  ['no group', [], undefined],
  ['an unknown group', ['other'], undefined],
  ['one', ['viewers'], 'VIEWER'],
  ['two', ['viewers', 'admins'], 'ADMIN'],
  ['two, the other way around', ['admins', 'viewers'], 'ADMIN'],
])('%s gives the role', (_, groups, role) => {
  const roles = [inOrganization('viewers', 'VIEWER'), inOrganization('admins', 'ADMIN')];
  expect(wantedRoles(roles, groups).organizations.get('28')).toBe(role);
});

test('a star is the group of all, and workspaces have their roles', () => {
  const roles: GroupRole[] = [
    inOrganization('*', 'MEMBER'),
    { group: 'basel', role: 'EDITOR', workspaceId: '29' },
  ];
  expect(wantedRoles(roles, []).organizations.get('28')).toBe('MEMBER');
  expect(wantedRoles(roles, []).workspaces.size).toBe(0);
  expect(wantedRoles(roles, ['basel']).workspaces.get('29')).toBe('EDITOR');
});

test('more groups never give less', () => {
  const group = fc.constantFrom('a', 'b', 'c', 'd');
  const row = fc.tuple(group, fc.constantFrom(...organizationRoles));
  fc.assert(
    fc.property(fc.array(row), fc.array(group), fc.array(group), (rows, some, more) => {
      const roles = rows.map(([name, role]) => inOrganization(name, role));
      const heightOf = (groups: readonly string[]) => {
        const role = wantedRoles(roles, groups).organizations.get('28');
        return role === undefined ? 0 : organizationRoles.length - organizationRoles.indexOf(role);
      };
      expect(heightOf([...some, ...more])).toBeGreaterThanOrEqual(heightOf(some));
    }),
  );
});
