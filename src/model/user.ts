// A user and the roles that make one a member of organizations and workspaces (contract 2).
import type { AuditFields } from './record.ts';

export const organizationRoles = ['OWNER', 'ADMIN', 'EDITOR', 'VIEWER', 'MEMBER'] as const;
export type OrganizationRole = (typeof organizationRoles)[number];

export interface User extends AuditFields {
  readonly id: string;
  readonly name: string;
  /** Lower case; unique. */
  readonly email: string;
  /** Argon2id with its parameters, as one text. */
  readonly passwordHash: string;
}
