// Endpoint of the facts about the installation that need no credential (contract 37).
import { aboutSchema } from '../about.ts';
import { endpoint } from '../endpoint.ts';

export const about = {
  read: endpoint({
    method: 'GET',
    path: '/v3/about',
    summary: 'Name, version and features of the installation, and whether the caller is signed in',
    tag: 'Sign-in',
    access: { open: 'a console asks before a user has signed in' },
    response: aboutSchema,
  }),
} as const;
