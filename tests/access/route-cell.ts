// Route cell: the expectation of the authorization matrix for one route.
import type { Scope, Verb } from '../../src/model/principal.ts';
import type { Fixtures } from './access-world.ts';

export type PlaceName = 'own' | 'otherWorkspace' | 'otherOrganization';

export interface Cell {
  /** Absent for routes that every caller, or every credential, can use. */
  readonly needs?: readonly [Scope, Verb];
  /** Asked in the same place besides. */
  readonly also?: readonly (readonly [Scope, Verb])[];
  /** Credentials that are limited to workspaces need no permission. */
  readonly orLimited?: true;
  readonly who: 'anybody' | 'anyCredential' | 'anyUser' | 'permitted' | 'permittedUser';
  /**
   * Whether the record lives in a workspace or in the organization; lists are narrowed by their
   * handlers.
   */
  readonly level: 'workspace' | 'organization' | 'workspaceList' | 'organizationList' | 'none';
  readonly path: (of: Fixtures) => string;
  readonly body?: (of: Fixtures) => unknown;
}
